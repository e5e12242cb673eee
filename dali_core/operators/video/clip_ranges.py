"""Ranges of frames of a video that lines of a list denote."""

from __future__ import annotations

import math
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from dali_core.operators.video.clip_listing import ListedVideo

if TYPE_CHECKING:
    from dali_core.operators.video.frame_index import FrameIndex

_EXACT_SECONDS = 1e-6  # what differs by less is the same time
_MAX_SECONDS = 1e30  # more than any time of a file, and within 32 bits


class Rounding(NamedTuple):
    """To which frames the ends of a part are rounded, if they lie between two."""

    start_up: bool
    end_up: bool


ROUNDINGS = {
    "start_down_end_up": Rounding(False, True),
    "start_up_end_down": Rounding(True, False),
    "all_up": Rounding(True, True),
    "all_down": Rounding(False, False),
}

FindRange = Callable[[ListedVideo, "FrameIndex"], tuple[int, int]]
"""Gives the first frame of a part, and the one after its last."""


def range_by_frames(rounding: Rounding) -> FindRange:
    """Take starts and ends for frame numbers; negative ones count from the end of the video."""

    def find(video: ListedVideo, index: FrameIndex) -> tuple[int, int]:
        count = index.num_frames
        start = 0 if video.start is None else _rounded(video.start, rounding.start_up)
        end = count if video.end is None else _rounded(video.end, rounding.end_up)
        return (
            min(max(start + count if start < 0 else start, 0), count),
            min(max(end + count if end < 0 else end, 0), count),
        )

    return find


def range_by_times(rounding: Rounding) -> FindRange:
    """Take starts and ends for seconds in the time of the file.

    As in NVIDIA DALI, a time has 32 bits, and what is less than the file's unit of time is cut
    off. A negative start with another end is the first frame. Unlike there, an end beyond the last
    frame means the end of the video, and other negative times count from its end.
    """

    def find(video: ListedVideo, index: FrameIndex) -> tuple[int, int]:
        def frame_at(time: float, up: bool) -> int:
            if time < 0:
                return _frame_since_first(index, time + _length(index), up)
            units = _units(index, time)
            return bisect_left(index.pts, units) if up else bisect_right(index.pts, units) - 1

        start, end = video.start or 0.0, index.num_frames
        if start < 0 and video.end is not None and video.end >= 0:
            start = 0.0
        last = int(index.pts[-1])
        if video.end is not None and (video.end < 0 or _units(index, video.end) <= last):
            end = frame_at(video.end, rounding.end_up)
        begin = 0 if video.start is None else frame_at(start, rounding.start_up)
        return max(begin, 0), max(end, 0)

    return find


def range_by_rounded_seconds(rounding: Rounding) -> FindRange:
    """Take starts and ends for seconds since the first frame; negative ones count from the end."""

    def find(video: ListedVideo, index: FrameIndex) -> tuple[int, int]:
        length = _length(index)

        def frame_at(time: float, up: bool) -> int:
            return _frame_since_first(index, time + length if time < 0 else time, up)

        start = 0 if video.start is None else frame_at(video.start, rounding.start_up)
        end = index.num_frames
        if video.end is not None and video.end < length - _EXACT_SECONDS:
            end = frame_at(video.end, rounding.end_up)
        return max(start, 0), max(end, 0)

    return find


def _rounded(value: float, up: bool) -> int:
    return math.ceil(value) if up else math.floor(value)


def _units(index: FrameIndex, time: float) -> int:
    numerator, denominator = index.time_base
    within = min(max(time, -_MAX_SECONDS), _MAX_SECONDS)
    (of_32_bits,) = struct.unpack("f", struct.pack("f", within))
    return int(of_32_bits / (numerator / denominator))


def _length(index: FrameIndex) -> float:
    """Return the seconds of a video, whose last frame is shown as long as others on average."""
    rate = index.frames_per_second
    return float(index.seconds[-1]) + (1 / rate if rate else 0.0)


def _frame_since_first(index: FrameIndex, time: float, up: bool) -> int:
    if up:
        return bisect_left(index.seconds, time - _EXACT_SECONDS)
    return bisect_right(index.seconds, time + _EXACT_SECONDS) - 1
