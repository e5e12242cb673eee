"""Planes of decoded frames, as they go to the other process."""

from __future__ import annotations

import functools
import re
import struct
from dataclasses import dataclass
from typing import Any

from dali_core.operators.video.worker.demuxing import VideoFileError

# Must have the order and the types of `SentFrame` in video_messages.hpp.
SENT_FRAME = struct.Struct("<qd3q3q10i")
ALIGNMENT = 64

_SHIFTS = {"410": (2, 2), "411": (2, 0), "420": (1, 1), "422": (1, 0), "440": (0, 1), "444": (0, 0)}
_YUV = re.compile(r"yuv(?:a|j)?(410|411|420|422|440|444)p(?:(\d+)le)?")
_RGB = re.compile(r"gbra?p(?:(\d+)le)?")
_GRAY = re.compile(r"gray(?:(\d+)le)?")
# Other orders of the same values.
_SAME_VALUES = {
    "nv12": "yuv420p",
    "nv21": "yuv420p",
    "nv16": "yuv422p",
    "nv24": "yuv444p",
    "nv42": "yuv444p",
    "yuyv422": "yuv422p",
    "uyvy422": "yuv422p",
    "yvyu422": "yuv422p",
    "p010le": "yuv420p10le",
}
_FULL_RANGE = 2  # AVCOL_RANGE_JPEG


@dataclass(frozen=True)
class Format:
    """How the values of a pixel format are laid out in memory."""

    num_planes: int
    shift_x: int
    shift_y: int
    bits: int
    is_rgb: bool
    is_full: bool  # whatever the frame says


@functools.cache
def format_of(name: str) -> Format | None:
    """Return how a format is laid out, or None if it must be converted first."""
    if found := _YUV.fullmatch(name):
        return Format(3, *_SHIFTS[found[1]], int(found[2] or 8), False, name.startswith("yuvj"))
    if found := _RGB.fullmatch(name):
        return Format(3, 0, 0, int(found[1] or 8), True, True)
    if found := _GRAY.fullmatch(name):
        return Format(1, 0, 0, int(found[1] or 8), False, False)
    return None


@functools.cache
def _converted(name: str, has_palette: bool, bits: int) -> str:
    return _SAME_VALUES.get(name) or ("gbrp16le" if bits > 8 and not has_palette else "gbrp")


def planar(frame: Any) -> Any:
    """Return the frame, or one with the same picture whose format has planes."""
    if format_of(frame.format.name) is not None:
        return frame
    kind = frame.format
    bits = max((part.bits for part in kind.components), default=8)
    return frame.reformat(format=_converted(kind.name, kind.has_palette, bits))


def copy_planes(
    frame: Any, number: int, seconds: float, orientation: int, memory: Any, at: int
) -> tuple[bytes, int] | int:
    """Copy a frame to `memory` from `at` on, and describe it.

    Returns
    -------
    (bytes, int) or int
        The description and where the frame ends; or how many bytes it needs, if it does not fit.
    """
    kind = format_of(frame.format.name)
    if kind is None:
        raise VideoFileError(f"its pixel format {frame.format.name} is not supported")
    planes = frame.planes[: kind.num_planes]
    size = sum(int(plane.buffer_size) + ALIGNMENT for plane in planes)
    if at + size > len(memory):
        return size
    offsets, strides = [0, 0, 0], [0, 0, 0]
    for place, plane in enumerate(planes):
        if plane.line_size <= 0:
            raise VideoFileError(f"its pixel format {frame.format.name} is upside down")
        end = at + plane.buffer_size
        memory[at:end] = plane
        offsets[place], strides[place] = at, plane.line_size
        at = end + -end % ALIGNMENT
    description = SENT_FRAME.pack(
        number,
        seconds,
        *offsets,
        *strides,
        frame.width,
        frame.height,
        kind.num_planes,
        kind.shift_x,
        kind.shift_y,
        kind.bits,
        kind.is_full or frame.color_range == _FULL_RANGE,
        kind.is_rgb,
        frame.colorspace,
        orientation,
    )
    return description, int(at)
