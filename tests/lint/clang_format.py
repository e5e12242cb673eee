"""Checks the format of all C++ sources: ``python -m tests.lint.clang_format``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def sources() -> list[Path]:
    """List the C++ and CUDA sources."""
    return sorted(
        path
        for folder in ("dali_core", "tests")
        for pattern in ("*.cpp", "*.hpp", "*.cu")
        for path in (ROOT / folder).rglob(pattern)
    )


def main() -> int:
    """Run clang-format on all sources and report those that it would change."""
    formatter = shutil.which("clang-format", path=str(Path(sys.executable).parent))
    if formatter is None:
        raise SystemExit("clang-format must be installed next to this Python. pip install it.")
    command = [formatter, "--dry-run", "--Werror", *map(str, sources())]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
