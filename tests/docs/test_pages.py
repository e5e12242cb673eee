"""Programs in the documentation run unmodified, and its commands exist."""

from __future__ import annotations

import importlib.util
import linecache
import re
from pathlib import Path

import pytest

from dali_core._graph.registry import all_specs
from docs.generator import operators
from docs.generator.gallery import GALLERY, PROGRAMS
from docs.generator.pictures import make_photos, make_videos
from docs.generator.programs import program_of

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
# Pages whose programs need packages beyond the environment of the documentation.
NEEDED = {"audio": "soundfile", "jax": "jax", "video": "av"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return [text for name, text in BLOCK.findall(page.read_text("utf-8")) if name == language]


def ids(page: Path) -> str:
    return page.stem


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with photos."""
    make_photos(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=ids)
def test_programs(page: Path, photos: Path) -> None:
    if page.stem in NEEDED:
        pytest.importorskip(NEEDED[page.stem], reason=f"not available: {NEEDED[page.stem]}")
    if page.stem == "video":
        make_videos(photos)
    names: dict[str, object] = {"__name__": page.stem}
    for number, program in enumerate(blocks(page, "python")):
        name = f"{page.name}, program {number}"
        # As in a notebook, where Python finds the source of functions in cells.
        linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
        exec(compile(program, name, "exec"), names)
    assert len(names) > 2


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_blocks_are_of_languages_that_are_checked(page: Path) -> None:
    languages = {name for name, _ in BLOCK.findall(page.read_text("utf-8"))}
    assert languages <= {"cpp", "python", "sh", "toml"}


def test_commands() -> None:
    commands = [
        command for page in PAGES for block in blocks(page, "sh") for command in block.splitlines()
    ]
    modules = [words[2] for words in map(str.split, commands) if words[:2] == ["python", "-m"]]
    assert {"benchmarks", "dali_core.scaffold"} <= set(modules)
    for module in modules:
        assert importlib.util.find_spec(module) is not None
    assert len(modules) + sum(command.startswith("pip install") for command in commands) == len(
        commands
    )


@pytest.mark.parametrize("operator", all_specs())
def test_page_of_operator(operator: str, photos: Path, tmp_path: Path) -> None:
    spec = all_specs()[operator]
    program = program_of(spec)
    if program is not None and "videos/" in program.text:
        pytest.importorskip("av", reason="not available: PyAV")
        make_videos(photos)
    text = operators.page(spec, tmp_path)
    assert text.startswith(f"# fn.{operator}\n")
    if spec.deprecated:
        assert spec.deprecated in text
        return
    for arg in spec.args:
        assert f"\n| `{arg.name}` | " in text
    for picture in re.findall(r"\(pictures/(.*?)\)", text):
        assert (tmp_path / picture).stat().st_size > 100
    assert ("pictures/" in text) == (operator in GALLERY)
    assert ("\n## Example\n" in text) == (program is not None)


def test_index_lists_all_operators() -> None:
    text = operators.index()
    for operator in all_specs():
        assert f"](operators/{operator}.md)" in text or f"]({operator}.md)" in text


def test_no_operator_is_described_twice() -> None:
    assert not set(GALLERY) & set(PROGRAMS)
