"""The page of what was measured, from the files in `benchmarks/results`."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bar_chart import bar_chart

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
_NAMES = {
    "ours": "dali_core",
    "reference": "NVIDIA DALI",
    "torch_pillow": "PyTorch DataLoader and Pillow",
    "torchcodec_loader": "PyTorch DataLoader, torchcodec and torchvision",
}
_UNITS = {
    "measurements": "images per second",
    "rates": "per second",
    "busy_main_thread": "frames per second",
    "kernels": "bytes per second",
    "pipelines": "images per second",
    "microseconds": "microseconds, mean of a round",
    "microseconds_median": "microseconds, median of a round",
    "microseconds_mean": "microseconds, mean of a round",
    "median_microseconds": "microseconds, median of a round",
    "ratios": "ratio",
}
# What describes a measurement, and is no result.
_ABOUT = ("date", "machine", "peers", "versions", "settings", "data", "threads", "frameworks",
          "commits", "every", "loads", "pipeline", "sources", "note")  # fmt: skip
_INTRODUCTION = """\
The plots are of all files in `benchmarks/results`, the newest first, each with its date, its
machine and the versions that were compared. Bars are medians over the rounds; the numbers below
them have quartiles in parentheses. Compare numbers of one plot only: machines and loads differ.
`CONTRIBUTING.md` lists the commands that measure them, and describes the method. Tests reject the
chart of the first page when the code that it measured has changed; the other results are as old as
their dates.
"""
_MOST_BARS = 24

Row = tuple[str, str, list[float]]


def page(pictures: Path, folder: Path = RESULTS) -> str:
    """Return the text of the page, and write its plots to the folder `pictures`."""
    lines = ["# Benchmarks", "", _INTRODUCTION]
    for path in sorted(folder.glob("*.json"), key=_age):
        content = json.loads(path.read_text("utf-8"))
        found = re.fullmatch(r"(.*?)-(\d{4}-\d\d-\d\d)-(.*)", path.stem)
        title, date, _ = found.groups() if found else (path.stem, "unknown", "")
        suffix = ", other peers" if path.stem.endswith("other-peers") else ""
        words = title.replace("-", " ").capitalize().replace("Gpu", "GPU")
        lines += [f"## {words}{suffix}, {date}", ""]
        lines += [*(f"- {about}" for about in _about(content)), ""]
        picture = path.with_suffix(".png")
        if picture.exists():
            target = f"../../benchmarks/results/{picture.name}"
            lines += [f"![The numbers below as bars]({target})", ""]
        elif plot := _plot(content):
            target_file = pictures / f"{path.stem}.svg"
            target_file.write_text(plot, "utf-8")
            lines += [f"![The numbers below as bars]({pictures.name}/{target_file.name})", ""]
        lines += ["<details><summary>Numbers</summary>", "", *_table(content), "", "</details>", ""]
    if len(lines) == 3:
        lines.append("No results are stored here.")
    return "\n".join(lines).rstrip() + "\n"


def _age(path: Path) -> tuple[bool, list[int], str]:
    """Return a key that puts the results of the first page before all others, new before old."""
    date = re.search(r"(\d{4})-(\d\d)-(\d\d)", path.stem)
    numbers = [-int(number) for number in date.groups()] if date else [0]
    return not path.stem.startswith("front-page"), numbers, path.stem


def _plot(content: Mapping[str, Any]) -> str:
    """Return the medians of a file of results as bars, in a group for each unit; or nothing."""
    groups: dict[str, dict[str, float]] = {}
    for key, value in content.items():
        for name, unit, values in _rows((key,), value) if key not in _ABOUT else ():
            scale = 1e-6 if unit.endswith("MB") else 1
            groups.setdefault(unit, {})[name] = scale * statistics.median(values)
    shown = {
        unit: values
        for unit, values in groups.items()
        if len(values) > 1 and all(value > 0 for value in values.values())
    }
    # Different units have different scales: the one with the most bars is plotted.
    unit = max(shown, key=lambda unit: len(shown[unit]), default=None)
    if unit is None:
        return ""
    bars = dict(list(shown[unit].items())[:_MOST_BARS])
    return bar_chart({unit.capitalize(): bars}, f"Medians, {unit}", "", emphasized=False)


def _about(content: Mapping[str, Any]) -> Iterator[str]:
    """Return sentences about the machine, the versions and the settings."""
    machine = content["machine"]
    load = machine.get("load_average")
    if load is None and "loads" in content:
        load = statistics.median(content["loads"])
    yield (
        f"{machine['processor']}, {machine['processors']} processors, {machine['system']}"
        + (f"; load average {load:.3g}" if load is not None else "")
    )
    if "device" in machine:
        yield machine["device"]
    if "note" in content:
        yield content["note"]
    versions = dict(content.get("versions", {}))
    for peer in content.get("peers", {}).values():
        versions.update(peer)
    if versions:
        yield ", ".join(f"{name} {version}" for name, version in versions.items())
    settings = {**content.get("settings", {}), **content.get("data", {})}
    settings.update({key: content[key] for key in ("threads", "pipeline") if key in content})
    settings.update(content.get("commits", {}))
    if settings:
        yield ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in settings.items())


def _table(content: Mapping[str, Any]) -> list[str]:
    rows = [
        row for key, value in content.items() if key not in _ABOUT for row in _rows((key,), value)
    ]
    lines = ["| measured | unit | median | rounds |", "|---|---|---|---|"]
    for name, unit, values in rows:
        lines.append(f"| {name} | {unit} | {_spread(values, unit)} | {len(values)} |")
    return lines


def _rows(path: tuple[str, ...], value: Any) -> Iterator[Row]:
    """Return a row for each list of numbers below a value."""
    if isinstance(value, Mapping) and set(value) == {"low", "median", "high"}:
        name, unit = _named(path)
        yield name, f"{unit} with its interval", [value["low"], value["median"], value["high"]]
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _rows((*path, key), inner)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for key in value[0]:
            if key != "images":  # how many were measured, not a result
                yield from _rows((*path, key), [one[key] for one in value])
    elif isinstance(value, list) and value and isinstance(value[0], int | float):
        yield (*_named(path), value)
    elif isinstance(value, int | float):
        yield (*_named(path), [value])


def _named(path: tuple[str, ...]) -> tuple[str, str]:
    """Return what was measured, and its unit: the first or the last part of a path."""
    first, *rest = path
    units = [part for part in path if re.search(r"second|memory|resident|ratio|rates", part)]
    unit = units[-1] if units else first
    parts = [part for part in rest if part not in (unit, "measurements")]
    words = [word for part in parts for word in re.split(r"/|, ", part)]
    named = [_NAMES.get(word, word.replace("_", " ")) for word in words]
    unit = _UNITS.get(unit, unit.replace("_", " "))
    if re.search(r"memory|resident", unit):
        unit += ", MB"
    return ", ".join(named) or unit, unit


def _spread(values: Sequence[float], unit: str) -> str:
    scale = 1e-6 if unit.endswith("MB") else 1
    scaled = [scale * value for value in values]
    if len(scaled) == 1:
        return _short(scaled[0])
    low, middle, high = statistics.quantiles(scaled, n=4, method="inclusive")
    if unit.endswith("interval"):
        low, middle, high = scaled
    return f"{_short(middle)} ({_short(low)} to {_short(high)})"


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
