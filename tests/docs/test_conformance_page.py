"""The committed conformance page is generated from the committed report and our operators."""

from __future__ import annotations

import json

import pytest

from dali_core._call.arguments import all_args
from dali_core._registry.specs import all_specs
from docs.generator import conformance


def test_conformance_page_is_up_to_date() -> None:
    assert conformance.PAGE.read_text("utf-8") == conformance.page(), "run python -m docs.generator"


@pytest.mark.parametrize(
    "operator", [name for name, spec in all_specs().items() if not spec.deprecated]
)
def test_conformance_page_has_every_argument(operator: str) -> None:
    _, _, rest = conformance.page().partition(f"\n## fn.{operator}\n")
    table, _, _ = rest.partition("\n## ")
    for arg in all_args(all_specs()[operator]):
        if arg.name not in conformance.COMMON:
            assert f"\n| `{arg.name}` | " in table


def test_notes_are_about_arguments_that_exist() -> None:
    notes = json.loads(conformance.NOTES.read_text("utf-8"))
    known = set(all_specs())
    for name, spec in all_specs().items():
        for arg in all_args(spec):
            known |= {f"{name}.{arg.name}", f"*.{arg.name}"}
    assert notes
    assert set(notes) <= known


def test_reference_is_complete() -> None:
    report = json.loads(conformance.REPORT.read_text("utf-8"))
    assert len(report["reference"]) > 150
    assert "NVIDIA DALI" in report["versions"]
    for name in report["operators"]:
        assert name in all_specs()
