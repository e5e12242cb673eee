"""Indices of videos: how many frames there are, and when each is shown.

An index is made by reading the packets of a file, without decoding a frame, and kept in a cache.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dali_core.errors import DaliCoreError
from dali_core.operators.video.backends import CACHE_VARIABLE, cache_folder
from dali_core.operators.video.index_builders import build_indices
from dali_core.operators.video.index_cache import FileKey, IndexCache, key_of
from dali_core.operators.video.worker.packed_index import (
    IS_VARIABLE,
    NO_VIDEO_STREAM,
    PackedIndex,
    is_transposed,
)


class VideoError(DaliCoreError, ValueError):
    """A file is not a sound video; says which one, and what is wrong with it."""


class NoVideoStreamError(VideoError):
    """A file need not be damaged, but has no video stream: a recording of sound, for example."""


@dataclass(frozen=True)
class FrameIndex:
    """The frames of a video in the order in which they are shown.

    Parameters
    ----------
    num_frames
        Number of frames.
    pts
        Presentation time of each frame in units of `time_base`, int64, as in the file: the first
        one need not be 0. Where a file has no times, the frame's number.
    time_base
        Numerator and denominator of the unit of time, in seconds.
    keyframes
        Numbers of the frames from which on decoding is exact, int32, ascending.
    width, height
        Size of the upright picture, in pixels.
    orientation
        What makes the stored picture upright, by the numbers of Exif: 1 to 8.
    codec
        FFmpeg's name: "h264", "hevc", "vp9", ...
    is_variable
        Whether the time between frames varies.
    frames_per_second
        On average; 0 if that cannot be said.
    """

    num_frames: int
    pts: NDArray[np.int64]
    time_base: tuple[int, int]
    keyframes: NDArray[np.int32]
    width: int
    height: int
    orientation: int
    codec: str
    is_variable: bool
    frames_per_second: float

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Presentation time of each frame in seconds after the first one, float64."""
        numerator, denominator = self.time_base
        return np.asarray((self.pts - self.pts[0]) * numerator / denominator, np.float64)


def open_indices(
    paths: Sequence[str | os.PathLike[str]],
    *,
    progress: bool | None = None,
    names: Sequence[str] | None = None,
    problems: Mapping[str, str] | None = None,
) -> list[FrameIndex | VideoError]:
    """Return the index of each file, from the cache or by reading the file.

    Parameters
    ----------
    paths
        Files.
    progress
        Whether to show how many files have been read; by default if standard error is a terminal,
        and tqdm is installed.

    names
        How errors call the files; by default as in `paths`.
    problems
        What is wrong with files of these names, which are not opened.

    Returns
    -------
    list of FrameIndex or VideoError
        In the order of `paths`; an error, not raised, for a file that is not a sound video.

    Raises
    ------
    MissingModuleError
        A file must be read, and PyAV is not installed.
    """
    files = [os.fspath(path) for path in paths]
    results: list[FrameIndex | VideoError | None] = [None] * len(files)
    keys: dict[int, FileKey] = {}
    for place, (file, name) in enumerate(zip(files, names or files, strict=True)):
        if problems and name in problems:
            results[place] = VideoError(problems[name])
            continue
        try:
            key = key_of(file)
            # Opening a pipe would block until it has a writer.
            if os.path.isfile(file):
                keys[place] = key
            else:
                results[place] = _error(name, "it is no regular file")
        except (OSError, ValueError) as error:
            results[place] = _error(name, getattr(error, "strerror", None) or str(error))
    cache = IndexCache(cache_folder(), CACHE_VARIABLE)
    found = cache.load(list(keys.values()))
    missing = []
    for place, key in keys.items():
        packed = found.get(key[0])
        if packed is None:
            missing.append(place)
        else:
            results[place] = _unpack(packed)
    if missing:
        built = build_indices([files[place] for place in missing], progress=progress)
        fresh: list[tuple[FileKey, PackedIndex]] = []
        for place, result in zip(missing, built, strict=True):
            if isinstance(result, PackedIndex):
                results[place] = _unpack(result)
                fresh.append((keys[place], result))
            else:
                results[place] = _error((names or files)[place], result)
        cache.store(fresh)
    return [result for result in results if result is not None]


def _error(name: str, reason: str) -> VideoError:
    if reason == NO_VIDEO_STREAM:
        return NoVideoStreamError(
            f"the file must have a video stream (got {name!r}: {reason}). Leave it out."
        )
    kind = _compressed_kind(name)
    if kind:
        reason = f"{kind}: {reason}"
    return VideoError(
        f"the file must be a sound video (got {name!r}: {reason}). Replace the file, or leave it "
        "out."
    )


def _compressed_kind(name: str) -> str:
    """Return what a file of this machine is, if it is a compressed one."""
    try:
        # Pipes may block, or be endless.
        if not os.path.isfile(name):
            return ""
        with open(name, "rb") as file:
            head = file.read(4)
    except OSError:
        return ""
    kinds = {b"\x1f\x8b": "a file compressed by gzip", b"PK\x03\x04": "a ZIP archive"}
    return next((kind for mark, kind in kinds.items() if head.startswith(mark)), "")


def _unpack(packed: PackedIndex) -> FrameIndex:
    pts = np.frombuffer(packed.pts, np.int64)
    is_turned = is_transposed(packed.orientation)
    width, height = packed.coded_width, packed.coded_height
    return FrameIndex(
        num_frames=len(pts),
        pts=pts,
        time_base=packed.time_base,
        keyframes=np.frombuffer(packed.keyframes, np.int32),
        width=height if is_turned else width,
        height=width if is_turned else height,
        orientation=packed.orientation,
        codec=packed.codec,
        is_variable=bool(packed.flags & IS_VARIABLE),
        frames_per_second=_rate(packed),
    )


def _rate(packed: PackedIndex) -> float:
    last = len(packed.pts) - 1
    if last < 1 or packed.pts[last] <= packed.pts[0]:
        return 0.0
    numerator, denominator = packed.time_base
    return float(last * denominator / ((packed.pts[last] - packed.pts[0]) * numerator))
