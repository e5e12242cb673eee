"""Importing a checkout that is not built, instead of the installed package, says what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import dali_core

FOLDER = Path(dali_core.__file__).parent


def run(program: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    return done.stderr


def test_error_suggests_building(tmp_path: Path) -> None:
    shutil.copytree(
        FOLDER,
        tmp_path / "dali_core",
        ignore=lambda folder, names: [
            name for name in names if not (Path(folder) / name).is_dir() and name[-3:] != ".py"
        ],
    )
    message = run("import dali_core", tmp_path)
    assert f"must be built (found none in {tmp_path / 'dali_core'})" in message
    assert "Start Python in another folder" in message


def test_other_modules_that_are_missing_are_named(tmp_path: Path) -> None:
    program = "import sys; sys.modules['numpy'] = None; import dali_core"
    message = run(program, tmp_path)
    assert "must be built" not in message
    assert "numpy" in message
