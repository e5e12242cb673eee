"""The generated pages of errors, types, iterators and benchmarks say what the sources say."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path

import pytest

from dali_core import errors, types
from docs.generator import benchmarks, reference


def test_every_error_is_listed_with_its_base_class() -> None:
    page = reference.errors_page()
    for name, error in vars(errors).items():
        if isinstance(error, type) and issubclass(error, errors.DaliCoreError):
            assert (f"\n| `{name}` | " in page) != name.startswith("_")
    assert "\n| `ArgumentTypeError` | `TypeError` | An argument has the wrong type" in page
    assert "\n## SampleError\n" in page


def test_every_member_of_an_enumeration_is_listed() -> None:
    page = reference.types_page()
    for enumeration in (types.DALIDataType, types.DALIInterpType, types.DALIImageType):
        for member in enumeration:
            row = f"\n| `{enumeration.__name__}.{member.name}` | {member.value} |"
            assert row in page
    assert "| `types.FLOAT` |" in page


def test_iterators_have_signatures_and_parameters() -> None:
    page = reference.iterators_page()
    assert "\nBaseLoader(pipeline, names=None, *, last_batch='partial', " in page
    assert "\n**`restart()`**\n" in page
    assert "\nDALIGenericIterator(pipelines, output_map, size=-1, " in page
    assert "\n- `reader_name` (str, optional)\n  Name of the reader" in page
    assert "self" not in page.partition("DALIGenericIterator(")[2].partition(")")[0]
    assert "\nBaseLoader(pipeline, names=None, *, last_batch='partial', " in page


def test_docstrings_become_markdown() -> None:
    text = """Do it.

    Parameters
    ----------
    size : int
        In ``pixels``.

    Notes
    -----
    Plain text.

    Examples
    --------
    === ===
    a   b
    === ===
    """
    assert reference.markdown(text) == (
        "Do it.\n\n**Parameters**\n\n- `size` (int)\n  In `pixels`.\n\n**Notes**\n\nPlain text.\n\n"
        "**Examples**\n\n```text\n=== ===\na   b\n=== ===\n```"
    )


def test_benchmarks_are_those_of_the_files(tmp_path: Path) -> None:
    machine = {"processor": "P", "processors": 2, "system": "S", "load_average": 1.25}
    content = {
        "machine": machine,
        "versions": {"numpy": "9.9"},
        "settings": {"batch_size": 64},
        "measurements": {"decode": {"ours": [{"images_per_second": n} for n in (10, 30, 20)]}},
        "ratios": {"a kernel": {"low": 0.5, "median": 2.0, "high": 3.0}},
        "memory": {"reference": {"memory_peak": 250_000_000}},
    }
    (tmp_path / "decode-times-2026-01-02-a-machine.json").write_text(json.dumps(content))
    page = benchmarks.page(tmp_path, tmp_path)
    assert "## Decode times, 2026-01-02\n" in page
    assert "- P, 2 processors, S; load average 1.25\n- numpy 9.9\n- batch size: 64\n" in page
    assert "| decode, dali_core | images per second | 20 (15 to 25) | 3 |" in page
    assert "| a kernel | ratio with its interval | 2 (0.5 to 3) | 3 |" in page
    assert "| NVIDIA DALI | memory peak, MB | 250 | 1 |" in page


def test_plots_are_before_the_numbers(tmp_path: Path) -> None:
    rates = {"ours": [{"images_per_second": 30}], "reference": [{"images_per_second": 20}]}
    machine = {"processor": "P", "processors": 2, "system": "S"}
    content = {"machine": machine, "measurements": {"decode": rates}}
    for name in ("decode-2026-01-02-a", "decode-2026-02-01-a", "front-page-2025-12-01-a"):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    page = benchmarks.page(tmp_path, tmp_path)
    titles = re.findall(r"(?m)^## (.*)$", page)
    assert titles == ["Front page, 2025-12-01", "Decode, 2026-02-01", "Decode, 2026-01-02"]
    for name in re.findall(r"\]\(.*/(.*?\.svg)\)", page):
        drawn = (tmp_path / name).read_text()
        assert ">decode, dali_core</text>" in drawn
        assert ">30</text>" in drawn
    for part in page.split("\n## ")[1:]:
        assert 0 < part.index(".svg)") < part.index("<summary>Numbers") < part.index("| measured |")


@pytest.mark.parametrize("path", sorted(benchmarks.RESULTS.glob("*.json")), ids=lambda p: p.stem)
def test_stored_results_are_on_the_page(path: Path, tmp_path: Path) -> None:
    page = benchmarks.page(tmp_path)
    content = json.loads(path.read_text("utf-8"))
    assert content["machine"]["processor"] in page
    if path.name.startswith("import-time"):
        median = statistics.median(content["milliseconds"]["ours"])
        assert f"| dali_core | milliseconds | {median:.3g} (" in page


def test_without_results_the_page_says_so(tmp_path: Path) -> None:
    assert "No results are stored here." in benchmarks.page(tmp_path, tmp_path)
