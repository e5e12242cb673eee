"""Boxes among the values: their detection, their formats, and the images that they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._graph.node import DataNode
from dali_core.errors import ArgumentValueError, UnknownInputError

FORMATS = ("ltrb", "xywh")
"""(left, top, right, bottom), or (left, top, width, height)."""

# Which outputs of operators are boxes.
_OUTPUTS = {
    "readers.coco": 1,
    "bb_flip": 0,
    "bbox_paste": 0,
    "bbox_rotate": 0,
    "random_bbox_crop": 2,
    "ssd_random_crop": 1,
}


def box_format(value: DataNode) -> str:
    """Return how an operator writes the boxes that it gives; empty if it gives none."""
    node = value.source
    if _OUTPUTS.get(node.operator) != value.index:
        return ""
    layout = node.arguments.get("bbox_layout")
    if layout:
        return {"xyXY": "ltrb", "xyWH": "xywh"}.get(layout, "")
    if node.operator in ("random_bbox_crop", "ssd_random_crop"):
        return "xywh" if node.arguments.get("ltrb") is False else "ltrb"
    return "ltrb" if node.arguments.get("ltrb") else "xywh"


def check_formats(boxes: Mapping[str, str], names: Sequence[str]) -> None:
    """Check what the user says about boxes.

    Raises
    ------
    ArgumentValueError, UnknownInputError
        If a format is unknown, or no value has the name.
    """
    for name, form in boxes.items():
        if form not in FORMATS:
            raise ArgumentValueError(
                f"Pipeline.show: boxes must say 'ltrb' or 'xywh' (got {form!r} for {name!r})."
            )
        if name not in names:
            raise UnknownInputError(
                f"Pipeline.show: boxes must name values of the pipeline (got {name!r}). There are: "
                f"{', '.join(map(repr, names))}."
            )


def corners(boxes: NDArray[Any], form: str, height: int, width: int) -> NDArray[np.float64]:
    """Return left, top, right and bottom in pixels; boxes up to 1 are relative to the image."""
    found = boxes.astype(np.float64)
    if form == "xywh":
        found = np.concatenate([found[:, :2], found[:, :2] + found[:, 2:]], axis=1)
    if found.size and float(np.nanmax(found)) <= 1.001:
        found = found * [width, height, width, height]
    return found
