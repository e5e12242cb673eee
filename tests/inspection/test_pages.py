"""Pages of `Pipeline.show` and `Pipeline.report`, without a browser."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
import webbrowser
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import dali_core
from dali_core import Pipeline, fn, types
from dali_core._extras import install_command
from dali_core.errors import ArgumentValueError, UnknownInputError
from dali_core.inspection import InspectedSample, Preview
from dali_core.inspection.calls import operator_call
from dali_core.inspection.classes import class_histograms
from dali_core.inspection.epochs import epoch_strip
from dali_core.inspection.panels import panels_of
from tests.inspection.pipelines import SCRIPT, everything, make_images

EMPTY = {"meta", "img", "br", "rect", "path"}
"""Elements without an end tag, or that end themselves."""


class Page(HTMLParser):
    """The elements of a page, and its texts by the elements that they are in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == [], "every element must be closed"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self._open[-1] if self._open else "", data.strip()))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    made = everything(make_images(tmp_path_factory.mktemp("files")))
    for _ in range(4):
        made.run()
    return made


@pytest.fixture(scope="module")
def preview(pipeline: Pipeline) -> Preview:
    return pipeline.show(7)


@pytest.fixture(scope="module")
def report(pipeline: Pipeline, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    pipeline.report(path)
    assert [entry.name for entry in path.parent.iterdir()] == ["report.html"]
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def pages(preview: Preview, report: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("preview") / "preview.html"
    preview.save(path)
    return [path.read_text("utf-8"), report, preview._repr_html_()]


def test_pages_load_no_scripts_or_resources(pages: list[str]) -> None:
    for text in pages:
        page = Page(text)
        assert page.all("script") == []
        assert page.all("link") == []
        for _, attributes in page.elements:
            assert not any(name.startswith("on") for name in attributes)
            for name in ("src", "href", "action", "data", "xlink:href"):
                target = attributes.get(name) or "#"
                assert target.startswith(("#", "data:image/")), target[:80]
        assert not re.search(r"url\(|@import", text)
    for text in pages[:2]:
        (policy,) = [m for m in Page(text).all("meta") if "http-equiv" in m]
        assert (policy["content"] or "").startswith("default-src 'none'; img-src data:")


def test_names_are_escaped(pages: list[str]) -> None:
    for text in pages[:1] + pages[2:]:
        assert "<script" not in text
        assert any(SCRIPT in content for _, content in Page(text).texts)


def test_pictures_have_texts(pages: list[str]) -> None:
    for text in pages:
        pictures = Page(text).all("img")
        assert len(pictures) > 20
        for picture in pictures:
            assert re.match(
                r"(image|mask|sequence|map|waveform) \S+ of fn|.* of operator", picture["alt"] or ""
            )
            data = base64.b64decode((picture["src"] or "").partition("base64,")[2])
            image = Image.open(io.BytesIO(data))
            size = int(picture["width"] or 0), int(picture["height"] or 0)
            assert image.size == size


def test_every_step_is_shown(preview: Preview, pages: list[str]) -> None:
    page = Page(pages[0])
    assert len(page.all("li")) == sum(len(sample) for sample in preview.samples)
    titles = page.text("h2")
    assert titles[0].startswith("Sample 0 of epoch 0: a/")
    assert len(titles) == 7
    captions = " ".join(page.text("figcaption"))
    for text in (
        "frames 0, 1, 2 of 3",
        "shown from",
        "labels:",
        "colors from",
        "PNG file",
        "xywh:",
    ):
        assert text in captions
    assert any("with 3 boxes" in (picture["alt"] or "") for picture in page.all("img"))


def test_steps_that_did_not_run_are_shown_together(tmp_path: Path) -> None:
    images = make_images(tmp_path, 1)
    (next((images / "a").iterdir())).write_bytes(b"no image")
    page = Page(everything(images).show(1)._repr_html_())
    assert page.text("summary") == ["3 steps did not run", "5 steps did not run"]
    assert {"flipped", "normal", "dark"} <= set(page.text("code"))
    assert sum("a step before it failed" in text for text in page.text("li")) == 8
    assert "the bytes must be an image file" in " ".join(page.text("p"))


def test_reports(pipeline: Pipeline, report: str) -> None:
    page = Page(report)
    assert page.elements[0] == ("html", {"lang": "en"})
    assert page.text("title")[0] == "Report about a pipeline"
    assert page.text("h1") == ["Report about a pipeline"]
    assert page.text("h2") == [
        *("Statistics", "Graph", "Samples", "Epochs", "Classes", "Plan", "Environment"),
    ]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    referred = [a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a]
    referred += [(a["href"] or "").removeprefix("#") for a in page.all("a")]
    assert set(referred) == set(ids)
    for header in page.all("th"):
        assert header.get("scope") in ("col", "row")
    assert len(page.all("caption")) == len(page.all("table")) == 4
    assert len(page.all("details")) == len(page.all("summary")) == 5
    scrolled = [a for _, a in page.elements if a.get("class") in ("scroll", "scroll graph")]
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in scrolled)
    cells = page.text("td") + page.text("th")
    for text in ("NumPy", np.__version__, dali_core.__version__, "Vector instructions", "GPU"):
        assert text in cells
    assert pipeline.plan() in page.text("pre")
    assert pipeline.statistics().diagnosis()[:30] in " ".join(page.text("p"))


def test_rates_and_shares_of_reports(pipeline: Pipeline, report: str) -> None:
    page = Page(report)
    assert page.text("dt") == ["images/s", "batches/s", "of its time the loop waits"]
    images, batches, _ = (float(text.rstrip(" %").replace(",", "")) for text in page.text("dd"))
    assert images == pytest.approx(3 * batches, rel=0.2)
    bars = [a["style"] or "" for _, a in page.elements if "style" in a]
    widths = [float(re.fullmatch(r"width: ([\d.]+)%", bar)[1]) for bar in bars]
    assert all(0 <= width <= 100 for width in widths)
    (stacked,) = re.findall(r'<div class="stacked".*?</div>', report)
    parts = [float(width) for width in re.findall(r"width: ([\d.]+)%", stacked)]
    assert sum(parts) == pytest.approx(100, abs=0.1)
    assert len(parts) == report.count('class="swatch ')


def test_operators_of_one_name_differ_by_line_and_arguments(report: str) -> None:
    texts = [text for kind, text in Page(report).texts if kind == "span"]
    here = r"pipelines\.py:\d+"
    drawn = [text for text in texts if re.match(rf"{here}: range=", text)]
    assert [text.partition(": ")[2] for text in drawn] == ["range=[0.0, 1.0]"]
    assert any(re.fullmatch(rf"fn\.resize, {here}: size=\[30.*, 40.*\]", text) for text in texts)
    assert any(re.fullmatch(rf"{here}: .*horizontal=\S+", text) for text in texts)
    cells = Page(report).text("td")
    assert any("random_shuffle=True" in text for text in cells)


def test_columns_have_one_unit(report: str) -> None:
    (table,) = re.findall(r"Operators in the order of their calls.*?</table>", report, re.DOTALL)
    sizes = re.findall(r"<td>([^<]*)</td></tr>", table)
    assert "3.6" in sizes  # 30 x 40 x 3 bytes
    assert all(re.fullmatch(r"([\d.e-]+|none|not made)(, [\d.e-]+)*", text) for text in sizes)


def test_single_numbers_are_lines(pages: list[str]) -> None:
    for text in pages:
        cells = re.findall(r'<li class="step compact[^>]*>.*?</li>', text, re.DOTALL)
        assert any(re.search(r"<code>noise</code> = [\d.]+", cell) for cell in cells)
        assert not any("<figure" in cell for cell in cells)


def test_the_same_photo_in_eight_epochs(pipeline: Pipeline, report: str) -> None:
    (strip,) = re.findall(r'<ul class="strip">.*?</ul>', report, re.DOTALL)
    page = Page(strip)
    assert page.text("figcaption") == [f"epoch {number}" for number in range(8)]
    assert len({image["src"] for image in page.all("img")}) > 4
    shown = epoch_strip(pipeline._inspected())
    assert shown is not None
    first = pipeline.run_sample(0)
    assert (shown.source, shown.name, shown.is_constant) == (first.source, "normal", False)
    sources = [
        [pipeline.run_sample(index, epoch).source for index in range(7)].index(first.source)
        for epoch in range(3)
    ]
    for epoch, index in enumerate(sources):
        sample = pipeline.run_sample(index, epoch)
        assert sample.source == first.source
        (picture,) = panels_of_output(sample)
        np.testing.assert_array_equal(picture, shown.pictures[epoch].image)


def panels_of_output(sample: InspectedSample) -> list[np.ndarray]:
    return [
        picture.image
        for entry in panels_of(sample)
        for panel in entry.panels
        if panel.value.name == "normal"
        for picture in panel.pictures
    ]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_shards": 2, "shard_id": 1},
        {"num_shards": 3, "stick_to_shard": True, "random_shuffle": True},
        {"num_shards": 2, "interleaved_shards": True, "random_shuffle": True},
        {"shuffle_after_epoch": True},
        {"sampler": [3, 1, 4]},
    ],
    ids=str,
)
def test_epochs_of_shards_and_samplers(options: dict[str, Any], tmp_path: Path) -> None:
    images = make_images(tmp_path)
    with Pipeline(2, 1, None) as pipeline:
        encoded, label = fn.readers.file(file_root=str(images), **options)
        pipeline.set_outputs(fn.decoders.image(encoded), label)
    shown = epoch_strip(pipeline._inspected())
    assert shown is not None
    assert shown.source == pipeline.run_sample(0).source
    assert len(shown.epochs) == 8
    assert shown.is_constant
    pipeline.report(tmp_path / "report.html", samples=1)
    text = " ".join(Page((tmp_path / "report.html").read_text("utf-8")).text("p"))
    assert "in 8 epochs: it is the same in all of them: no random augmentation changes it." in text


def test_classes_of_reports(tmp_path: Path) -> None:
    images = make_images(tmp_path)
    (images / "b <i>").mkdir()
    (images / "b <i>" / "1.png").write_bytes((images / "a" / "1.png").read_bytes())
    pipeline = everything(images)
    pipeline.report(tmp_path / "report.html", samples=0)
    (table,) = re.findall(
        r"Classes of files.*?</table>", (tmp_path / "report.html").read_text("utf-8"), re.DOTALL
    )
    page = Page(f"<p>{table[len('Classes of files') + 2 :]}</p>")
    assert page.text("td") == ["a", "7", "b <i>", "1"]
    assert page.text("caption")[0] == "8 samples in 2 classes of"


def test_many_classes() -> None:
    files = [f"{number}.jpg" for number in range(100)]
    with Pipeline(2, 1, None) as pipeline:
        given = {"files": files, "labels": [min(number // 2, 40) for number in range(100)]}
        pipeline.set_outputs(*fn.readers.file(**given))
    (histogram,) = class_histograms(pipeline._inspected())
    assert (histogram.num_samples, histogram.num_classes) == (100, 41)
    assert not histogram.is_complete
    assert (histogram.classes[0].label, histogram.classes[0].count) == (40, 20)
    assert len(histogram.classes) == 24
    assert {row.name for row in histogram.classes} == {""}
    with Pipeline(2, 1, None) as pipeline:
        pipeline.set_outputs(*fn.readers.file(files=files))
    assert class_histograms(pipeline._inspected()) == []


def test_reports_are_opened(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: bool(opened.append(url)) or True)
    monkeypatch.chdir(tmp_path)
    report = pipeline.report("a report.html", samples=0)
    assert report.open()
    assert opened == [(tmp_path / "a report.html").as_uri()]
    assert repr(report) == f"Report({str(tmp_path / 'a report.html')!r})"


def test_long_values_of_arguments() -> None:
    files = [f"{number}.jpg" for number in range(50)]
    with Pipeline(2, 1, None) as pipeline:
        encoded, _ = fn.readers.file(files=files, file_root="x" * 100, random_shuffle=True)
        pipeline.set_outputs(fn.cast(encoded, dtype=types.FLOAT))
    calls = [operator_call(node) for node in pipeline._inspected().live_nodes]
    assert (
        calls[0].arguments == f"file_root='...{'x' * 40}', files=[50 elements], random_shuffle=True"
    )
    assert calls[1].arguments == "dtype=FLOAT"
    assert re.fullmatch(r"test_pages\.py:\d+", calls[1].place)


def test_graphs_of_reports(report: str) -> None:
    page = Page(report)
    texts = page.text("text")
    assert texts.count("output 0") == 1
    assert any(re.fullmatch(r"together [\d.]+ (ms|us)", text) for text in texts)
    assert "3.6 kB" in texts  # 30 x 40 x 3 bytes
    assert "run as one: fn.decoders.image_random_crop, fn.resize" in page.text("title")
    (graph,) = page.all("svg")
    assert (graph["role"], graph["aria-label"]) == ("img", "Graph of the pipeline")


def test_contrasts() -> None:
    style = Path(dali_core.__file__).with_name("inspection") / "templates" / "style.css"
    schemes = re.findall(r"\.dali-core \{(.*?)\}", style.read_text("utf-8"), re.DOTALL)[:2]
    pairs = [
        *(("--ink", paper) for paper in ("--paper", "--raised", "--native", "--python")),
        *(("--quiet", paper) for paper in ("--paper", "--raised")),
        *(("--accent", paper) for paper in ("--paper", "--raised")),
        *(("--ink", "--bad-paper"), ("--quiet", "--bad-paper"), ("--bad", "--bad-paper")),
        *(("--bad", "--paper"), ("--ink", "--frame-paper")),
    ]
    assert len(schemes) == 2
    for scheme in schemes:
        colors = dict(re.findall(r"(--[\w-]+): (#\w{6});", scheme))
        for text, paper in pairs:
            light, dark = sorted(map(luminance, (colors[text], colors[paper])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, paper)


def luminance(color: str) -> float:
    """Return the relative luminance of WCAG 2."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_pictures_of_all_samples(preview: Preview, tmp_path: Path) -> None:
    preview.save(tmp_path / "samples.PNG")
    with Image.open(tmp_path / "samples.PNG") as image:
        assert image.format == "PNG"
        assert image.width > 1000
        colors = image.convert("RGB").getcolors(1 << 24)
    assert colors is not None
    assert len(colors) > 1000


def test_boxes_that_the_user_names(pipeline: Pipeline) -> None:
    assert pipeline.show([1], boxes={"given_boxes": "ltrb"}).samples[0]["given_boxes"].values[
        0
    ].boxes == ("ltrb")
    with pytest.raises(UnknownInputError, match="'given_boxes'"):
        pipeline.show(1, boxes={"boxs": "ltrb"})
    with pytest.raises(ArgumentValueError, match="'ltrb' or 'xywh'"):
        pipeline.show(1, boxes={"given_boxes": "xyxy"})


def test_samples_to_show(pipeline: Pipeline) -> None:
    assert [sample.index for sample in pipeline.show(99).samples] == list(range(7))
    assert [sample.index for sample in pipeline.show([5, 2], epoch=3).samples] == [5, 2]
    assert str(pipeline.show(1)) == str(pipeline.run_sample(0))
    for wrong in (True, "3", 2.5, None):
        with pytest.raises(TypeError, match="samples must be how many"):
            pipeline.show(wrong)  # type: ignore[arg-type]


def test_reports_without_samples(tmp_path: Path) -> None:
    with Pipeline(2, 1, None) as pipeline:
        pipeline.set_outputs(fn.external_source(name="fed <b>"))
    path = tmp_path / "report.html"
    pipeline.report(path)
    page = Page(path.read_text("utf-8"))
    assert "inputs must have the data of the sample" in " ".join(page.text("p"))
    assert "No batch has been run yet." in page.text("p")
    assert "fed <b>" in page.text("th")


def test_names_that_are_no_text(tmp_path: Path) -> None:
    images = make_images(tmp_path, 1)
    (only,) = (images / "a").iterdir()
    only.rename(only.with_name("\udcff.png"))
    everything(images).show(1).save(tmp_path / "page.html")
    assert any(
        "\\udcff.png" in text
        for text in Page((tmp_path / "page.html").read_text("utf-8")).text("h2")
    )


def test_pages_are_written_atomically(preview: Preview, tmp_path: Path) -> None:
    preview.save(tmp_path / "page.html")
    before = (tmp_path / "page.html").read_bytes()
    assert before
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(OSError, match=r"folder\.html"):
        preview.save(tmp_path / "folder.html")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder.html", "page.html"]


def run_python(program: str) -> str:
    """Run a program in a fresh process, and return what it prints."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(("module", "package"), [("PIL", "Pillow"), ("jinja2", "Jinja2")])
def test_packages_that_are_missing(module: str, package: str) -> None:
    program = f"""
import sys
sys.modules[{module!r}] = None
from dali_core import Pipeline, fn, types
with Pipeline(1, 1, None) as pipeline:
    pipeline.set_outputs(fn.constant(idata=[0] * 300, shape=[10, 10, 3], layout="HWC"))
preview = pipeline.show(1)
print(preview)
try:
    preview._repr_html_()
except ModuleNotFoundError as error:
    print(type(error).__name__, error)
"""
    output = run_python(program)
    assert "fn.constant" in output
    assert f"MissingModuleError Pictures of samples need {package}" in output
    assert install_command("report") in output


def test_import_loads_no_inspection_modules() -> None:
    output = run_python(
        "import sys, dali_core; print([name for name in sys.modules if name.startswith("
        "('dali_core.inspection', 'jinja2', 'PIL'))])"
    )
    assert output.strip() == "[]"
