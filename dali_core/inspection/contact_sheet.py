"""One large picture of samples: a row for each, a cell for each picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from dali_core.inspection.encoding import LARGEST_SIDE, to_pillow
from dali_core.inspection.optional import require
from dali_core.inspection.panels import Panel, StepPanels, panels_of
from dali_core.inspection.samples import InspectedSample

_PAPER, _INK, _QUIET, _BAD = "#ffffff", "#1b2733", "#4a5765", "#a3140d"
_GAP, _LINE, _TITLE = 12, 13, 24
_LETTERS = 36


def contact_sheet(samples: Sequence[InspectedSample]) -> bytes:
    """Draw samples as a PNG file.

    Raises
    ------
    MissingModuleError
        If Pillow is not installed.
    """
    pillow = require("PIL.Image", "Pillow")
    rows = [(_titled(sample), [_cell(entry) for entry in panels_of(sample)]) for sample in samples]
    widths = [sum(cell.width + _GAP for cell in cells) + _GAP for _, cells in rows]
    heights = [max((cell.height for cell in cells), default=0) + _TITLE + _GAP for _, cells in rows]
    sheet = pillow.new("RGB", (max(widths, default=1), sum(heights) + _GAP), _PAPER)
    top = _GAP
    for (title, cells), height in zip(rows, heights, strict=True):
        _write(sheet, _GAP, top, title, _INK)
        left = _GAP
        for cell in cells:
            sheet.paste(cell, (left, top + _TITLE))
            left += cell.width + _GAP
        top += height
    target = io.BytesIO()
    sheet.save(target, "PNG")
    return target.getvalue()


def _titled(sample: InspectedSample) -> str:
    return f"sample {sample.index} of epoch {sample.epoch}  {sample.source}"


def _cell(entry: StepPanels) -> Any:
    """Draw a step: its name, and its values below each other."""
    pillow = require("PIL.Image", "Pillow")
    step = entry.step
    parts: list[Any] = [_texts([step.operator], _INK)]
    if step.error is not None:
        parts.append(_texts(_wrapped(f"failed: {step.error.message}"), _BAD))
    if step.reason:
        parts.append(_texts(_wrapped(step.reason), _QUIET))
    for panel in entry.panels:
        parts += [to_pillow(picture) for picture in panel.pictures]
        parts.append(_texts(_caption(panel), _QUIET))
    width = max(part.width for part in parts)
    cell = pillow.new("RGB", (width, sum(part.height + 4 for part in parts)), _PAPER)
    top = 0
    for part in parts:
        cell.paste(part, (0, top))
        top += part.height + 4
    return cell


def _caption(panel: Panel) -> list[str]:
    outputs = [f"output {number}" for number in panel.value.outputs]
    return [line for text in (panel.description, panel.text, *outputs) for line in _wrapped(text)]


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _LETTERS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [line[: 2 * _LETTERS] for line in lines if line]


def _texts(lines: Sequence[str], color: str) -> Any:
    pillow = require("PIL.Image", "Pillow")
    width = min(LARGEST_SIDE, max((len(line) for line in lines), default=0) * 7 + 2)
    image = pillow.new("RGB", (max(1, width), max(1, len(lines) * _LINE)), _PAPER)
    for number, line in enumerate(lines):
        _write(image, 0, number * _LINE, line, color)
    return image


def _write(image: Any, left: int, top: int, text: str, color: str) -> None:
    font = require("PIL.ImageFont", "Pillow").load_default()
    draw = require("PIL.ImageDraw", "Pillow").Draw(image)
    draw.text((left, top), text.encode("latin-1", "replace").decode("latin-1"), color, font=font)
