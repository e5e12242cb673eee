"""The page that reports what was compared with NVIDIA DALI, and the differences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dali_core._call.arguments import all_args
from dali_core._registry.specs import all_specs
from dali_core._spec import OpSpec

FOLDER = Path(__file__).parents[1]
REPORT = FOLDER / "conformance.json"
NOTES = FOLDER / "conformance_notes.json"
PAGE = FOLDER / "conformance.md"

COMMON = ("device", "name", "preserve", "bytes_per_sample_hint")
_MEANING = """\
This page is generated from a run of `tests/conformance`, which computes the same batches with both
libraries on the CPU, and from the descriptions of our operators. It also lists what is missing.

How to read the tables:

- A row is an argument of the reference's operator, or of ours. *Constant* and *per sample* are the
  two ways to pass it; an empty cell means that the reference does not accept it per sample.
- *exact (12)* means that in 12 batches of passing tests in which the argument was passed that way,
  all results had the same dtype, shape and layout, and every number was equal.
- *integers 1 in 0.3 %* is the largest difference of two integers, which for images is one grey
  level, and the largest fraction of the numbers of a batch that differ at all.
  *floats 2e-05 (1e-07)* is the largest difference of two floating-point numbers, and in parentheses
  its ratio to the largest magnitude in the batch. *Wide integers* are those of 32 and 64 bits. For
  16-bit floats only the ratio is given: *halves (5e-04)* is half a unit in the last place of the
  largest.
- *random (8)*: random numbers differ between the libraries, so only dtype and layout were compared;
  tests also compare shapes or distributions where appropriate.
- *through others (4)*: the results were compared only after other operators had processed them.
- *other kind (1)*: results had another dtype, shape or layout, and a test expects that.
- *not compared* means that no test passes this argument to both libraries. *missing* means that our
  operator does not accept it.

A difference belongs to a whole call. When a call has five arguments, its difference counts for all
five, so the number in a row says "no call with this argument differed more than this", and not that
the argument is the cause. Batches are matched by their calls; a batch that only one library
computed, such as one that the other rejects, is not counted.

All operators also accept `device`, `name`, `preserve` and `bytes_per_sample_hint`.
"""


def write_page() -> None:
    """Rewrite the page from the committed report."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the text of the page."""
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    notes = json.loads(NOTES.read_text(encoding="utf-8"))
    specs = {name: spec for name, spec in all_specs().items() if not spec.deprecated}
    former = [name for name, spec in all_specs().items() if spec.deprecated]
    reference = report["reference"]
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    current = {name for name, operator in reference.items() if operator["deprecated"] is None}
    lines = ["# Compared with NVIDIA DALI", ""]
    lines += [f"Measured on {report['date']} with {report['tests']} tests: {versions}.", ""]
    lines += [_MEANING, "## Summary", ""]
    lines += _summary(specs, report, current)
    lines += ["", "## Missing operators", ""]
    lines += _missing(reference, all_specs(), current)
    if former:
        names = ", ".join(f"`fn.{name}`" for name in former)
        lines += ["", f"Deprecated names that work, and warn: {names}."]
    lines += ["", "## Missing on a GPU", ""]
    lines += _missing_on_device(report["reference_on_device"], specs)
    tables = {
        name: _operator(spec, reference.get(name, {"arguments": {}}), report, notes)
        for name, spec in specs.items()
    }
    for name, table in tables.items():
        lines += ["", f"## fn.{name}", ""]
        if name not in reference:
            lines += ["The reference has no such operator on the CPU.", ""]
        if name in notes:
            lines += [notes[name], ""]
        lines += table
    return "\n".join(lines).rstrip() + "\n"


def _summary(specs: Mapping[str, OpSpec], report: dict[str, Any], current: set[str]) -> list[str]:
    found = {"compared": 0, "not compared": 0, "missing": 0}
    for name in current & set(specs):
        for argument in report["reference"][name]["arguments"]:
            if argument in COMMON:
                continue
            if argument not in {arg.name for arg in all_args(specs[name])}:
                found["missing"] += 1
            elif _forms(report, name, argument):
                found["compared"] += 1
            else:
                found["not compared"] += 1
    return [
        f"- {len(current & set(specs))} of the reference's {len(current)} operators for the CPU.",
        f"- Of the arguments of these, {found['compared']} were compared, {found['not compared']} "
        f"are accepted and were not compared, {found['missing']} are missing.",
    ]


def _missing(
    reference: Mapping[str, Any], specs: Mapping[str, OpSpec], current: set[str]
) -> list[str]:
    missing = [f"`fn.{name}`" for name in sorted(current - set(specs))]
    old = [f"`fn.{name}`" for name in sorted(set(reference) - current - set(specs))]
    return [
        ", ".join(missing) + "." if missing else "None.",
        "",
        "Missing names that the reference itself calls deprecated: "
        + (", ".join(old) or "none")
        + ".",
    ]


def _missing_on_device(reference: Sequence[str], specs: Mapping[str, OpSpec]) -> list[str]:
    runs = {
        name
        for name, spec in specs.items()
        if "gpu" in spec.devices or spec.moving or spec.input_device == "any"
    }
    present = set(reference) & set(specs)
    lists = {
        "Here, these run on the host only": [f"fn.{name}" for name in sorted(present - runs)],
        "These do not exist here": sorted(set(reference) - present),
    }
    lines = [
        f"The reference has {len(reference)} operators that run on a GPU, or decode for one; "
        f"{len(present & runs)} of them do here, too. Their results on a device are compared with "
        "those on our host, not with the reference's.",
    ]
    for title, names in lists.items():
        listed = ", ".join(f"`{name}`" for name in names) or "none"
        lines += ["", f"{title} ({len(names)}): {listed}."]
    return lines


def _operator(
    spec: OpSpec, reference: Mapping[str, Any], report: dict[str, Any], notes: Mapping[str, str]
) -> list[str]:
    ours = {arg.name: arg for arg in all_args(spec) if arg.name not in COMMON}
    theirs = {k: v for k, v in reference["arguments"].items() if k not in COMMON}
    whole = report["operators"].get(spec.name, {})
    lines = ["| argument | constant | per sample | note |", "|---|---|---|---|"]
    lines.append(f"| *any call* | {_cell(whole)} | | |")
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        forms = _forms(report, spec.name, name)
        constant = _cell(forms.get("constant", {}))
        per_sample = _cell(forms.get("per_sample", {}))
        if name not in ours:
            constant, per_sample = "**missing**", ""
        elif name in theirs and theirs[name]["per_sample"] and not ours[name].tensor:
            per_sample = "**missing**"
        elif not ours[name].tensor and "per_sample" not in forms:
            per_sample = ""
        remarks = [notes.get(f"{spec.name}.{name}", notes.get(f"*.{name}", ""))]
        if name not in theirs and reference["arguments"] and "constant" not in forms:
            remarks.append("Only ours.")
        if name in ours and ours[name].deprecated:
            remarks.append("Deprecated.")
        note = " ".join(filter(None, remarks))
        lines.append(f"| `{name}` | {constant} | {per_sample} | {note} |")
    return lines


def _forms(report: dict[str, Any], operator: str, argument: str) -> dict[str, Any]:
    arguments = report["operators"].get(operator, {}).get("arguments", {})
    forms: dict[str, Any] = arguments.get(argument, {})
    return forms


def _cell(tallies: Mapping[str, Any]) -> str:
    """Describe what was compared: results of the operator itself, or else those behind it."""
    last, behind = tallies.get("last", {}), tallies.get("behind", {})
    parts = []
    if last.get("comparisons"):
        parts.append(f"{_difference(last)} ({last['comparisons']})")
    elif behind.get("comparisons"):
        parts.append(f"through others: {_difference(behind)} ({behind['comparisons']})")
    random = last.get("random", 0) or (0 if parts else behind.get("random", 0))
    if random:
        parts.append(f"random ({random})")
    unlike = last.get("unlike", 0)
    if unlike:
        parts.append(f"other kind ({unlike})")
    return "; ".join(parts) or "not compared"


def _difference(tally: Mapping[str, Any]) -> str:
    parts = []
    if tally.get("integer"):
        places = tally["integer_places"]
        parts.append(f"integers {tally['integer']} in {100 * places:.2g} %")
    if tally.get("wide"):
        parts.append(f"wide integers {_short(tally['wide'])} ({_short(tally['wide_share'])})")
    if tally.get("floating"):
        parts.append(f"floats {_short(tally['floating'])} ({_short(tally['floating_share'])})")
    if tally.get("half_share"):
        parts.append(f"halves ({_short(tally['half_share'])})")
    return ", ".join(parts) or "exact"


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.2g}"
