"""Decodes masks that are run lengths."""

from __future__ import annotations

from typing import Any


def run_lengths(shape: dict[str, Any], size: tuple[int, int]) -> list[int]:
    """Return the lengths of runs, column by column, the first of which is background.

    Parameters
    ----------
    shape : dict
        ``{"size": [height, width], "counts": ...}``. Counts are a list, or a text in which each
        number is the difference to the last but one: groups of five bits from the least on, each
        as a character from "0" on, with a sixth bit if more follow. The fifth bit of the last
        group is the sign.
    size : (int, int)
        Width and height of the image.

    Raises
    ------
    ValueError
        If the mask does not have the size of the image, or the text is no such text.
    """
    height, width = shape["size"]
    if (int(width), int(height)) != size:
        raise ValueError(f"a mask of {width} x {height} for an image of {size[0]} x {size[1]}")
    counts = shape["counts"]
    runs = _decode(counts) if isinstance(counts, str) else [int(count) for count in counts]
    if min(runs, default=0) < 0 or sum(runs) != size[0] * size[1]:
        raise ValueError("runs that are not as long as the image has pixels")
    return runs


def _decode(text: str) -> list[int]:
    runs: list[int] = []
    value = shift = 0
    for letter in text:
        group = ord(letter) - 48
        if not 0 <= group < 64 or shift > 60:
            raise ValueError(f"a run length with the character {letter!r}")
        value |= (group & 31) << shift
        shift += 5
        if group & 32:
            continue
        if group & 16:
            value -= 1 << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value = shift = 0
    if shift:
        raise ValueError("a run length that does not end")
    return runs
