"""Every example is a folder with a program and a page of the same shape."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/__main__.py"))


def test_there_are_no_loose_programs() -> None:
    assert len(FOLDERS) >= 8
    others = {path.name for path in EXAMPLES.iterdir() if not path.name.startswith("__py")}
    assert others == {folder.name for folder in FOLDERS} | {"__init__.py", "README.md", "shared"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_page(folder: Path) -> None:
    page = (folder / "README.md").read_text("utf-8")
    assert 12 <= len(page.splitlines()) <= 30
    ((_, command),) = re.findall(r"```sh\n(pip install .*)\n(.*)\n```", page)
    assert command.startswith(f"python -m examples.{folder.name}")
    picture = f"{folder.name}.png"
    assert f"`work/{picture}`" in page
    program = (folder / "__main__.py").read_text("utf-8")
    assert picture in program
    for file in re.findall(r"`(\w+\.py)`", page):
        assert (folder / file).exists()
    index = (EXAMPLES / "README.md").read_text("utf-8")
    assert f"[`{folder.name}`]({folder.name}/README.md)" in index
