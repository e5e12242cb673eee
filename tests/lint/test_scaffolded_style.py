"""The files of the scaffold follow the style of the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dali_core.scaffold import create_operator, create_reader

ROOT = Path(__file__).parents[2]


@pytest.fixture
def written(tmp_path: Path) -> list[Path]:
    for folder in ("dali_core/operators", "tests/operators"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".clang-format").write_bytes((ROOT / ".clang-format").read_bytes())
    return create_operator("colour.brighten", tmp_path)


STYLE = pytest.mark.parametrize(
    "command", [["check", "--no-cache"], ["format", "--check", "--no-cache"]]
)


@STYLE
def test_scaffolded_python_passes_ruff(written: list[Path], command: list[str]) -> None:
    check(written, ROOT, command)


@STYLE
def test_scaffolded_reader_passes_ruff(tmp_path: Path, command: list[str]) -> None:
    check(create_reader("my_format", tmp_path), tmp_path / "my_format", command)


def check(written: list[Path], folder: Path, command: list[str]) -> None:
    """Run Ruff in a folder over three files."""
    files = [str(path) for path in written if path.suffix == ".py"]
    assert len(files) == 3
    settings = ["--config", str(ROOT / "pyproject.toml")]
    # Docstrings of tests are not required, in any folder.
    ignored = ["--extend-ignore", "D"] if command[0] == "check" else []
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, *settings, *ignored, *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_scaffolded_cpp_passes_clang_format(written: list[Path]) -> None:
    files = [str(path) for path in written if path.suffix in (".cpp", ".hpp", ".cu")]
    assert len(files) == 3
    program = Path(sys.executable).with_name("clang-format")
    done = subprocess.run(
        [str(program), "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
