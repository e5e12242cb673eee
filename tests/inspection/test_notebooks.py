"""Notebooks: tables and pictures in the colors of their theme, and names of cells."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dali_core import Pipeline, fn, types
from dali_core._display.html import Markup, bar, block, table, text
from dali_core._display.outline import Outline
from dali_core._display.png import thumbnail, to_png
from dali_core.inspection import images_of
from dali_core.tensors import TensorCPU, TensorListCPU
from tests.inspection.pipelines import SCRIPT, everything, make_images
from tests.inspection.test_pages import Page


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    made = everything(make_images(tmp_path_factory.mktemp("files")))
    for _ in range(4):
        made.run()
    return made


def pictures(markup: str) -> list[Image.Image]:
    sources = [image["src"] or "" for image in Page(markup).all("img")]
    return [
        Image.open(io.BytesIO(base64.b64decode(source.partition("base64,")[2])))
        for source in sources
    ]


def every(pipeline: Pipeline) -> dict[str, str]:
    """Return the HTML of everything that notebooks show."""
    images = TensorListCPU(np.zeros((2, 12, 14, 3), np.uint8), layout="HWC")
    shown = {
        "statistics": pipeline.statistics(),
        "plan": pipeline.plan(),
        "sample": pipeline.run_sample(6),
        "preview": pipeline.show(1),
        "pipeline": pipeline,
        "batch": images,
        "tensor": images[0],
        "labels": TensorListCPU(np.zeros((2, 1), np.int32)),
    }
    return {name: value._repr_html_() for name, value in shown.items()}  # type: ignore[attr-defined]


def test_fragments_load_nothing_and_are_well_formed(pipeline: Pipeline) -> None:
    for name, markup in every(pipeline).items():
        page = Page(markup)
        assert page.elements, name
        assert page.all("script") == page.all("link") == []
        assert all((image["src"] or "").startswith("data:image/") for image in page.all("img"))
        assert not re.search(r"url\(|@import|javascript:", markup), name


def test_colors_are_those_of_the_theme(pipeline: Pipeline) -> None:
    for name, markup in every(pipeline).items():
        inline = re.findall(r'style="([^"]*)"', markup)
        colors = {value for style in inline for value in re.findall(r"(?<!-)color:([^;]+)", style)}
        assert colors <= {"inherit"}, name
        grounds = {value for style in inline for value in re.findall(r"background:([^;]+)", style)}
        # What is filled is a bar, which can be seen on black and on white.
        assert grounds <= {"transparent", "#3d85c6", "rgba(128,128,128,.25)"}, name
        if "dali-core" in markup:
            assert "--ink: var(--jp-content-font-color1, var(--vscode-editor-foreground, " in markup
            assert "background: transparent; color: var(--ink)" in markup


def test_statistics(pipeline: Pipeline) -> None:
    statistics = pipeline.statistics()
    page = Page(statistics._repr_html_())
    assert statistics.diagnosis()[:30] in page.text("p")[0]
    names = [entry.name for entry in statistics.operators]
    assert page.text("th")[8 : 8 + len(names)] == names
    empty = Page(of_numbers().statistics()._repr_html_())
    assert "Too few batches" in empty.text("p")[0]


def of_numbers() -> Pipeline:
    with Pipeline(2, 1, None) as pipeline:
        pipeline.set_outputs(fn.random.uniform(range=[0, 1], shape=[2]))
    return pipeline


def test_plans_and_descriptions_are_texts_and_tables(pipeline: Pipeline) -> None:
    plan = pipeline.plan()
    assert isinstance(plan, str)
    assert plan == "\n".join(plan.splitlines())
    page = Page(plan._repr_html_())  # type: ignore[attr-defined]
    assert page.text("th")[0] == "stage 0"
    assert "fn.resize (resized)" in page.text("span")
    outline = Outline("epoch 0: 3 <b>\n  more\nlast")
    page = Page(outline._repr_html_())
    assert page.text("th") == ["epoch 0"]
    assert page.text("td") == ["3 <b>"]
    assert page.text("span") == ["  more".strip(), "last"]


def test_samples(pipeline: Pipeline) -> None:
    markup = pipeline.run_sample(0)._repr_html_()
    page = Page(markup)
    assert "sample 0 of epoch 0, a/" in page.text("caption")[0]
    assert "fn.resize" in page.text("th")
    assert "resized: HWC 30 x 40 x 3 uint8" in page.text("td")
    assert len(pictures(markup)) > 6
    last = [pipeline.run_sample(i) for i in range(7)]
    (odd,) = [sample for sample in last if "script" in sample.source]
    assert "<script" not in odd._repr_html_()
    assert SCRIPT in Page(odd._repr_html_()).text("caption")[0]


def test_batches_of_images() -> None:
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (11, 20, 30, 3), np.uint8)
    markup = TensorListCPU(images, layout="HWC")._repr_html_()
    page = Page(markup)
    assert page.text("caption") == ["TensorListCPU"]
    cells = page.text("td")
    assert cells[:4] == ["11", "20 x 30 x 3", "UINT8", "HWC"]
    assert page.text("p") == ["and 3 more"]
    assert len(pictures(markup)) == 8
    for picture, image in zip(pictures(markup), images, strict=False):
        np.testing.assert_array_equal(np.asarray(picture), image)


@pytest.mark.parametrize(
    ("array", "layout", "size"),
    [
        (np.zeros((3, 20, 30), np.float32), "CHW", (30, 20)),
        (np.zeros((20, 30), np.uint8), "HW", (30, 20)),
        (np.zeros((4, 20, 30, 3), np.uint8), "FHWC", (30, 20)),
        (np.zeros((40, 50), np.float32), "ft", (50, 40)),
        (np.zeros((20, 30, 3), np.uint8), "", (30, 20)),
        (np.zeros((1000, 300, 3), np.uint8), "HWC", (37, 125)),
    ],
    ids=str,
)
def test_pictures_of_tensors(array: np.ndarray, layout: str, size: tuple[int, int]) -> None:
    (picture,) = pictures(TensorCPU(array, layout=layout)._repr_html_())
    assert picture.size == size


@pytest.mark.parametrize(
    "array",
    [np.zeros((0, 3)), np.zeros(3, np.int64), np.float32(2.5), np.zeros((3, 4, 5, 6, 7))],
    ids=lambda array: str(array.shape),
)
def test_other_tensors_are_numbers(array: np.ndarray) -> None:
    page = Page(TensorCPU(np.asarray(array))._repr_html_())
    assert page.all("img") == []
    assert page.text("th")[-1] == "sample 0"


def test_empty_batches() -> None:
    page = Page(TensorListCPU([])._repr_html_())
    assert page.text("td")[0] == "0"


def test_texts_are_escaped() -> None:
    shown = block("<b>\x1b\u202e", table(("<i>",), [("a&b", Markup("<u>c</u>"))], caption='"x<y'))
    assert "&lt;b&gt;\\x1b\\u202e" in shown
    assert '<th scope="col"' in shown
    assert "&lt;i&gt;" in shown
    assert "a&amp;b" in shown
    assert "<u>c</u>" in shown
    assert text(Markup("<b>")) == "<b>"
    assert "width:100.0%" in bar(7.0)
    assert "width:0.0%" in bar(-1.0)


@pytest.mark.parametrize(
    "shape", [(1, 1), (5, 7), (128, 128), (129, 3), (3, 1000), (700, 1), (257, 300)]
)
def test_thumbnails_and_files(shape: tuple[int, int]) -> None:
    image = np.full((*shape, 3), 7, np.uint8)
    image[:, :, 1] = 9
    small = thumbnail(image, 128)
    assert max(small.shape) <= 128
    assert np.unique(small.reshape(-1, 3), axis=0).tolist() == [[7, 9, 7]]
    with Image.open(io.BytesIO(to_png(small))) as opened:
        np.testing.assert_array_equal(np.asarray(opened), small)


def test_images_of_batches() -> None:
    with Pipeline(3, 1, None) as pipeline:
        image = fn.random.uniform(range=[0, 255], shape=[20, 30, 3], dtype=types.UINT8)
        normal = fn.crop_mirror_normalize(image, mean=[128.0], std=[64.0], output_layout="CHW")
        pipeline.set_outputs(fn.reshape(image, layout="HWC"), normal)
    raw, normalized = pipeline.run()
    images = images_of(raw)
    np.testing.assert_array_equal(np.stack(images), raw.as_array())
    assert [image.shape for image in images_of(normalized, most=2)] == [(20, 30, 3)] * 2
    stretched = images_of(normalized)[0].astype(int)
    assert (stretched.min(), stretched.max()) == (0, 255)
    assert np.abs(np.corrcoef(stretched.ravel(), images[0].ravel())[0, 1]) > 0.99
    assert len(images_of(np.zeros((20, 9, 9, 3), np.uint8))) == 16
    with pytest.raises(TypeError, match=r"must be images, .* \(got sample 0 of shape \(1,\)"):
        images_of(TensorListCPU(np.zeros((2, 1), np.int32)))


def test_locations_are_cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def format_code_name(name: str) -> tuple[str, str] | None:
        return ("Cell", "In[3]") if name == "<cell of a notebook>" else None

    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=format_code_name))
    program = "node = fn.random.uniform(name='made')"

    def location(filename: str, found: Any) -> str:
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: found))
        with Pipeline(2, 1, None) as pipeline:
            names: dict[str, Any] = {"fn": fn}
            exec(compile(f"\n{program}", filename, "exec"), names)
            pipeline.set_outputs(names["node"])
        return pipeline.run_sample(0)["made"].location

    assert location("<cell of a notebook>", shell) == "In[3]:2"
    assert location("<string>", shell) == "<string>:2"
    assert location("<cell of a notebook>", None) == "<cell of a notebook>:2"
    assert location("<cell of a notebook>", SimpleNamespace()) == "<cell of a notebook>:2"
    existing = tmp_path / "program.py"
    existing.touch()
    assert location(str(existing), shell) == f"{existing}:2"


def test_import_of_the_library_imports_none_of_this() -> None:
    program = (
        "import sys, dali_core; dali_core.Pipeline; "
        "found = [name for name in sys.modules if name.startswith(('dali_core._display.tensors', "
        "'dali_core.inspection', 'dali_core.monitoring', 'IPython'))]; assert not found, found"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
