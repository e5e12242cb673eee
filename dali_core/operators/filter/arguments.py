"""Arguments of `fn.filter`, which `fn.experimental.filter` shares."""

from __future__ import annotations

from typing import Any

from dali_core import _types as types
from dali_core._spec import UNSET, Arg
from dali_core.operators.constant import constant_source

FILTER_DOC = """

Every number of the output is the sum of the input's numbers around that place, each times the
filter's number that lies on it. The filter is not mirrored: this is a correlation. Channels are
filtered one by one. Filters of images have two dimensions, filters of volumes three; the filter of
a sequence may have frames in front, one for each frame, which its layout marks by F. If only the
filter or the fill value has frames, the output has as many.

Sums are computed in 32-bit floating point, without the filter's zeros; integers round half to even
and saturate.

Data axes are all dimensions but frames (F) and channels (C): two or three. Frames come first,
channels first or last. Data without a layout has data axes only.
"""

FILTER_INPUT_DOCS = (
    "Images, volumes or sequences of any type but bool.",
    "Filters: two or three dimensions of float32, with or without frames in front.",
    "Numbers that stand for what is outside, with border ``'constant'``; 0 if left out. One number "
    "a sample, or one for each frame if the layout is F. A number of Python stands for one that is "
    "the same for all samples.",
)

FILTER_ARGS = (
    Arg(
        "anchor",
        list[int],
        "Place in the filter that lies on the output's place, along each data axis or one for "
        "all; -1 stands for half the filter's extent, rounded down. Only checked in mode "
        "``'valid'``. As a node it may have values for each frame: its layout then begins with F.",
        default=[-1],
        tensor=True,
    ),
    Arg(
        "border",
        str,
        "What lies outside of abcd: ``'reflect_101'`` for dcb|abcd|cba, ``'reflect_1001'`` for "
        "cba|abcd|dcb, ``'wrap'`` for bcd|abcd|abc, ``'clamp'`` for aaa|abcd|ddd, or "
        "``'constant'`` for the fill value. In capitals or not. Other names are ``'reflect101'`` "
        "and ``'101'``; ``'reflect1001'``, ``'1001'`` and ``'reflect'``; ``'edge'`` for "
        "``'clamp'``; ``'fill'`` and ``'pad'`` for ``'constant'``.",
        default="reflect_101",
    ),
    Arg(
        "mode",
        str,
        "``'same'`` for an output of the input's extents; ``'valid'`` for only the places where "
        "the whole filter lies on the input.",
        default="same",
    ),
    Arg(
        "dtype",
        types.DALIDataType,
        "Type of the output: ``FLOAT`` or the input's type; the latter if left out.",
        default=UNSET,
    ),
)


def bind_fill_value(inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Let a number stand for a fill value that is the same for all samples."""
    if len(inputs) == 3 and isinstance(inputs[2], (int, float)):
        inputs = (*inputs[:2], constant_source(float(inputs[2])))
    return inputs, keywords
