"""Programs in the documentation run unmodified, and its commands exist."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import re
import warnings
from pathlib import Path

import pytest

from dali_core._call.arguments import all_args
from dali_core._registry.specs import all_specs
from docs.generator import operators
from docs.generator.files import make_files, make_sounds
from docs.generator.gallery import GALLERY, PROGRAMS
from docs.generator.pictures import make_photos, make_videos, size_of
from docs.generator.programs import program_of
from tests.torchvision_import import import_torchvision

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for folder in ("docs", "docs/cookbook") for path in (ROOT / folder).glob("*.md")
)
# Pages whose programs need packages beyond the environment of the documentation.
NEEDED = {
    "accelerate": "accelerate",
    "audio": "soundfile",
    "columns": "pyarrow",
    "from_torchvision": "torchvision",
    "hdf5": "h5py",
    "heic": "pillow_heif",
    "hugging_face": "transformers",
    "jax": "jax",
    "keras": "keras",
    "lance": "lance",
    "lerobot": "av",
    "lightning": "lightning",
    "paddle": "paddle",
    "ray": "ray",
    "storage": "fsspec",
    "tensor_and_token_files": "safetensors",
    "tensorflow": "tensorflow",
    "text": "tokenizers",
    "timm": "timm",
    "video": "av",
    "volumes": "nibabel",
    "wandb_and_tensorboard": "tensorboard",
    "zarr": "zarr",
}
# Operators that pages tell how to write.
INVENTED = {"a.b", "my.solarize", "readers.my_format"}
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


@pytest.fixture(scope="module")
def all_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all that programs of operators read; they change nothing in it."""
    folder = tmp_path_factory.mktemp("data")
    for make in (make_photos, make_videos, make_sounds, make_files):
        make(folder)
    return folder


@pytest.mark.filterwarnings("ignore:os.fork")  # warnings of frameworks that earlier pages import
@pytest.mark.filterwarnings("ignore::FutureWarning:lightning")
@pytest.mark.filterwarnings("ignore:.*pin_memory")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=ids)
def test_programs(page: Path, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.stem == "from_torchvision":
        import_torchvision()
    if page.stem in NEEDED:
        pytest.importorskip(NEEDED[page.stem], reason=f"not available: {NEEDED[page.stem]}")
    if page.stem in ("storage", "video"):
        make_videos(photos)
    if page.stem == "ray":
        pytest.importorskip("torch", reason="not available: torch")
        warnings.simplefilter("ignore")  # of Ray's own settings and files
        # Ray would join a cluster that somebody else has started on this machine.
        monkeypatch.setenv("RAY_ADDRESS", "local")
    names: dict[str, object] = {"__name__": page.stem}
    for number, program in enumerate(blocks(page, "python")):
        name = f"{page.name}, program {number}"
        # As in a notebook, where Python finds the source of functions in cells.
        linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
        exec(compile(program, name, "exec"), names)
    assert len(names) > 2


def test_loop_with_jax_of_the_first_page(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax", reason="not available: JAX")
    page = ROOT / "docs/getting_started.md"
    definition, _, _ = blocks(page, "python")[0].partition("\n\nloader = ")
    definition = re.sub(r"(?m)^from dali_core\.pytorch .*$", "", definition)
    _, _, section = page.read_text("utf-8").partition("## A loop with JAX")
    loop = "\n".join(re.findall(r"(?m)^    (.*)$|^$", section.partition("\n## ")[0]))
    exec(compile(f"{definition}\n\n{loop}", str(page), "exec"), {"__name__": page.stem})
    assert capsys.readouterr().out.count("(4, 3, 224, 224)") == 2


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem in NEEDED], ids=ids)
def test_programs_that_need_more_packages_are_valid(page: Path) -> None:
    for program in blocks(page, "python"):
        assert ast.parse(program).body


def test_cookbook_lists_its_pages() -> None:
    index = ROOT / "docs/cookbook/index.md"
    text = index.read_text("utf-8")
    stems = [page.stem for page in PAGES if page.parent == index.parent and page != index]
    assert len(stems) >= 15
    for stem in stems:
        assert f"]({stem}.md)" in text
        assert f"\n{stem}\n" in text.partition("```{toctree}")[2]


@pytest.mark.parametrize("tutorial", sorted((ROOT / "docs/tutorials").glob("*.md")), ids=ids)
def test_tutorials_need_only_the_wheel(tutorial: Path) -> None:
    """They import nothing of the checkout but the library."""
    cells = re.findall(
        r"^```\{code-cell\}\n(.*?)^```$", tutorial.read_text(), re.DOTALL | re.MULTILINE
    )
    assert cells
    imported = set()
    for node in ast.walk(ast.parse("\n".join(cells))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    assert "dali_core" in imported
    assert not imported & {folder.name for folder in ROOT.iterdir() if folder.name != "dali_core"}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_blocks_are_of_languages_that_are_checked(page: Path) -> None:
    languages = {name for name, _ in BLOCK.findall(page.read_text("utf-8"))}
    # What takes long is run by a test of its own, and is "py" here.
    assert languages <= {"cpp", "py", "python", "sh", "text", "toml"}
    for program in blocks(page, "py"):
        assert ast.parse(program).body


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_operators_and_arguments_in_the_text_exist(page: Path) -> None:
    text = BLOCK.sub("", page.read_text("utf-8"))
    for span in set(re.findall(r"`(fn\.[^`]+)`", text)):
        name = re.match(r"fn\.([\w.]+)", span)[1].rstrip(".")
        if name in INVENTED:
            continue
        assert any(one == name or one.startswith(f"{name}.") for one in all_specs()), span
        try:
            call = ast.parse(span, mode="eval").body
        except SyntaxError:
            continue
        if isinstance(call, ast.Call) and name in all_specs():
            known = {arg.name for arg in all_args(all_specs()[name])}
            assert {keyword.arg for keyword in call.keywords} <= known, span


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
def test_page_of_operator(
    operator: str, all_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(all_data)
    spec = all_specs()[operator]
    program = program_of(spec)
    text = operators.page(spec, tmp_path)
    assert f"\n# fn.{operator}\n" in text
    if spec.deprecated:
        assert spec.deprecated in text
        return
    assert "\n## Errors\n" in text
    for arg in spec.args:
        assert f"\n| `{arg.name}` | " in text
    for picture in re.findall(r"\(pictures/(.*?)\)", text):
        assert (tmp_path / picture).stat().st_size > 100
    assert ("pictures/" in text) == (operator in GALLERY)
    for picture, width in re.findall(r"\(pictures/(.*?)\)\{width=(\d+)px\}", text):
        assert size_of(tmp_path / picture)[0] == int(width)  # all at the same scale
    assert ("\n## Example\n" in text) == (program is not None)


def test_index_lists_all_operators(tmp_path: Path) -> None:
    text = operators.index(tmp_path)
    for operator in all_specs():
        assert f"](operators/{operator}.md)" in text or f"]({operator}.md)" in text


def test_few_operators_have_no_example() -> None:
    without = {
        name
        for name, spec in all_specs().items()
        if not spec.deprecated and not spec.is_internal and program_of(spec) is None
    }
    # Their programs are in the pages about videos and archives, or would need files of their own.
    assert without == {
        *("experimental.inputs.video", "experimental.readers.fits"),
        *("readers.caffe2", "readers.lance", "readers.lerobot", "readers.tfrecord"),
    }


def test_no_operator_is_described_twice() -> None:
    assert not set(GALLERY) & set(PROGRAMS)
