"""README.md has the numbers of the newest results, and the code is still the measured one."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import front_page, sources
from benchmarks.bar_chart import bar_chart

RERUN = "run `python -m benchmarks.front_page` on an idle machine, and commit what it writes"


def test_measured_code_is_unchanged() -> None:
    assert sources.changed(front_page.newest()["sources"]) == [], RERUN


def test_readme_and_chart_have_the_newest_numbers() -> None:
    results = front_page.newest()
    text = (front_page.ROOT / "README.md").read_text("utf-8")
    assert front_page.with_numbers(text, results) == text, RERUN
    assert front_page.CHART.read_text("utf-8") == front_page.chart(results), RERUN
    assert results["date"] in text
    assert results["machine"]["processor"] in text


def test_newest_results_are_those_of_the_last_date(tmp_path: Path) -> None:
    for date in ("2026-02-11", "2026-11-02", "2025-12-31"):
        (tmp_path / f"front-page-{date}-some-machine.json").write_text(f'{{"date": "{date}"}}')
    assert front_page.newest(tmp_path)["date"] == "2026-11-02"
    with pytest.raises(SystemExit, match="Measure without --write-only"):
        front_page.newest(tmp_path / "none")


def test_hash_is_of_the_code_alone() -> None:
    code = 'int f(int a) { return a / 2; }  // half\nconst char* s = "// no comment";'
    other = (
        '/* of an\n integer */ int f(int a)\n{ return a / 2; }\n\nconst char* s = "// no comment";'
    )
    assert sources.code_hash(code) == sources.code_hash(other)
    assert sources.code_hash(code) != sources.code_hash(code.replace("/ 2", "/ 3"))
    assert sources.code_hash(code) != sources.code_hash(code.replace("no comment", "comment"))


def test_changed_files_are_named(tmp_path: Path) -> None:
    for name in ("kept.cpp", "edited.hpp", "removed.cpp", "copy_device.cpp", "notes.md"):
        (tmp_path / name).write_text("int a = 1;")
    recorded = sources.hashes(["."], tmp_path)
    assert sorted(recorded) == ["edited.hpp", "kept.cpp", "removed.cpp"]
    (tmp_path / "edited.hpp").write_text("int a = 2;")
    (tmp_path / "removed.cpp").unlink()
    (tmp_path / "added.cpp").write_text("")
    assert sources.changed(recorded, ["."], tmp_path) == ["added.cpp", "edited.hpp", "removed.cpp"]


def test_chart_is_a_document_on_its_own() -> None:
    text = bar_chart({"a < b": {"ours": 200.0, "other": 50.0}}, "Rates & more", "per second")
    root = ElementTree.fromstring(text)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names == {"svg", "title", "style", "rect", "text"}
    bars = [float(bar.attrib["width"]) for bar in root.iter("{http://www.w3.org/2000/svg}rect")][1:]
    assert bars[0] == pytest.approx(4 * bars[1], abs=2)
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text
