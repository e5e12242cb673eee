"""A copy of the checkout in a folder whose path has dots, spaces and letters beyond ASCII."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Longer than names of Unix sockets may be, and than the first lines of scripts in old kernels.
NAMES = (
    "with.dot and späces",
    "フォルダ.d",
    "a rather long name.of a folder " + "x" * 90,
    "a copy",
)
# Environments and what is built elsewhere.
LEFT_OUT = (".git", ".tox", ".venv", "build", "work", "dist", "__pycache__", ".*_cache")


def copy_of_checkout(folder: Path) -> Path:
    """Copy the checkout, with what is built in place."""
    copy = folder.joinpath(*NAMES)
    ignored = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(ROOT, copy, symlinks=True, ignore=ignored)
    assert len(os.fsencode(copy)) > 180
    return copy


def run_tests(copy: Path, *tests: str) -> str:
    """Run tests of a copy, with its modules; return what pytest has printed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (copy, copy / "adapters")))}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    program = "import dali_core; print(dali_core.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=copy, env=environment, check=True, capture_output=True
    )
    assert os.fsdecode(found.stdout).strip() == str(copy / "dali_core" / "__init__.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=copy, env=environment, check=False, capture_output=True)
    printed = os.fsdecode(done.stdout) + os.fsdecode(done.stderr)
    assert done.returncode == 0, printed[-8000:]
    return printed
