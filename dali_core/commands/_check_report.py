"""The report of `dali-core check`: numbers, text, and a picture."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median_low
from typing import Any

from dali_core._extras import install_command
from dali_core.commands._checking import Checked
from dali_core.commands._media import MediaFile
from dali_core.commands._options import write_output
from dali_core.commands._unread import UnreadFiles
from dali_core.errors import ArgumentValueError, MissingModuleError

_EXTENTS = {
    "image": ("height", "width"),
    "audio": ("samples", "channels"),
    "video": ("frames", "height", "width"),
}


def report_of(
    source: str,
    results: Sequence[tuple[MediaFile, Checked]],
    others: Sequence[MediaFile],
    unread: Sequence[UnreadFiles],
) -> dict[str, Any]:
    """Return the report in the form of JSON; it depends on the files and results only."""
    extensions = [file.extension() for file in others]
    extensions += [
        f"{file.extension()} with sound only" for file, checked in results if checked.is_other()
    ]
    results = [(file, checked) for file, checked in results if not checked.is_other()]
    bad = [(file, checked) for file, checked in results if checked.reason]
    labels = Counter(file.label for file, _ in results if file.label is not None)
    return {
        "path": source,
        "files": len(results),
        "good": len(results) - len(bad),
        "bad": len(bad),
        "kinds": _sorted(Counter(file.kind for file, _ in results)),
        "formats": _sorted(Counter(file.format() for file, _ in results)),
        "bytes": _spread(_bytes(results)),
        "sizes": {kind: sizes for kind in _EXTENTS if (sizes := _sizes(kind, results))},
        "classes": dict(sorted(labels.items())),
        "archives": dict(Counter(file.path for file, _ in results if file.place is not None)),
        "other_files": dict(sorted(Counter(extensions).items())),
        "unread_files": [
            {"content": one.content, "reason": one.reason, "names": one.names} for one in unread
        ],
        "bad_files": [
            {"path": file.name, "kind": file.kind, "reason": checked.reason}
            for file, checked in bad
        ],
    }


def lines_of(report: Mapping[str, Any]) -> Iterator[str]:
    """Return the report as lines of text."""
    yield f"{report['files']} files: {report['good']} good, {report['bad']} bad"
    for name in ("kinds", "formats", "other_files"):
        if report[name]:
            numbers = ", ".join(f"{key} {count}" for key, count in report[name].items())
            yield f"{name.replace('_', ' ')}: {numbers}"
    yield f"bytes: {_text(report['bytes'])}"
    for kind, sizes in report["sizes"].items():
        yield from (f"{kind} {extent}: {_text(spread)}" for extent, spread in sizes.items())
    classes = report["classes"]
    if classes:
        counts = sorted(classes.items(), key=lambda entry: (entry[1], entry[0]))
        (least, few), (most, many) = counts[0], counts[-1]
        yield (
            f"classes: {len(classes)}; fewest files in {least!r} ({few}), most in {most!r} ({many})"
        )
    if report["archives"]:
        number = len(report["archives"])
        yield f"archives: {number}, with {sum(report['archives'].values())} of the files"
    for entry in report["unread_files"]:
        yield UnreadFiles(**entry).line()
    for entry in report["bad_files"]:
        yield f"bad: {entry['path']}: {entry['reason']}"


def draw(results: Sequence[tuple[MediaFile, Checked]], target: Path) -> None:
    """Draw a histogram of the sizes of images, videos and sounds, and the numbers of the classes.

    Raises
    ------
    MissingModuleError
        If matplotlib is not installed.
    """
    good = [(file, checked) for file, checked in results if checked.shape]
    panels = {
        "height and width in pixels": [
            extent
            for file, checked in good
            if file.kind != "audio"
            for extent in checked.shape[-3:-1]
        ],
        "samples of sounds": [checked.shape[0] for file, checked in good if file.kind == "audio"],
        "bytes": _bytes(good),
        "files of a class": list(
            Counter(file.label for file, _ in results if file.label is not None).values()
        ),
    }
    shown = {title: values for title, values in panels.items() if values}
    figure = _figure_type()(figsize=(5 * max(1, len(shown)), 4), layout="constrained")
    axes = figure.subplots(1, max(1, len(shown)), squeeze=False)[0]
    for axis, (title, values) in zip(axes, shown.items(), strict=False):
        axis.hist(values, bins=min(50, max(10, len(set(values)))))
        axis.set_title(title)
        axis.set_ylabel("number")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=_format(target))
    write_output(target, buffer.getvalue())


def check_picture(target: Path) -> None:
    """Raise an error if `draw` could not write a file, before time is spent on what it draws.

    Raises
    ------
    ArgumentValueError
        If matplotlib has no such format.
    MissingModuleError
        If matplotlib is not installed.
    """
    formats = _figure_type()().canvas.get_supported_filetypes()
    if _format(target) not in formats:
        raise ArgumentValueError(
            f"check: --picture must be a file of a format that matplotlib writes (got "
            f"{str(target)!r}). Use one of {', '.join(sorted(formats))}."
        )


def _format(target: Path) -> str:
    return target.suffix.removeprefix(".").lower() or "png"


def _figure_type() -> Any:
    """Return matplotlib's class of figures, which draw without a display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingModuleError(
            f"check: --picture needs matplotlib (got none). Run {install_command('check')}.",
            name="matplotlib",
        ) from error
    return Figure


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _sizes(kind: str, results: Sequence[tuple[MediaFile, Checked]]) -> dict[str, dict[str, int]]:
    shapes = [
        checked.shape for file, checked in results if file.kind == kind and not checked.reason
    ]
    if not shapes:
        return {}
    columns = zip(*shapes, strict=True)
    return {
        name: _spread(list(values)) for name, values in zip(_EXTENTS[kind], columns, strict=False)
    }


def _bytes(results: Sequence[tuple[MediaFile, Checked]]) -> list[int]:
    return [size for file, _ in results if (size := file.size()) is not None]


def _spread(values: Sequence[int]) -> dict[str, int]:
    values = values or [0]
    return {
        "smallest": min(values),
        "median": median_low(values),
        "largest": max(values),
        "total": sum(values),
    }


def _text(spread: Mapping[str, int]) -> str:
    return f"{spread['smallest']} to {spread['largest']}, median {spread['median']}"
