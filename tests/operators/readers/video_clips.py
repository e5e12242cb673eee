"""Shared parts of tests of video readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dali_core import Pipeline, fn
from dali_core.testing.examples import list_of
from tests.video_files import make, number_of


class Clip(NamedTuple):
    """One sample of a reader.

    Attributes
    ----------
    source : str
        Name of the file.
    numbers : list of int
        The numbers encoded in the pictures; -1 for those of one colour.
    others : list
        The other outputs, as lists.
    """

    source: str
    numbers: list[int]
    others: list[Any]


def numbers_of(frames: Any) -> list[int]:
    """Return the numbers that frames were drawn for, and -1 for frames of one colour."""
    found = np.asarray(frames)
    return [-1 if (frame == frame[0, 0]).all() else number_of(frame) for frame in found]


def reader_pipeline(
    reader: Callable[..., Any] = fn.experimental.readers.video,
    batch_size: int = 1,
    settings: dict[str, Any] | None = None,
    **arguments: Any,
) -> Pipeline:
    with Pipeline(
        batch_size,
        **({"num_threads": 2, "device_id": None, "prefetch_queue_depth": 1} | (settings or {})),
    ) as pipeline:
        outputs = reader(name="reader", **arguments)
        pipeline.set_outputs(*list_of(outputs))
    return pipeline


def take(pipeline: Pipeline, num_batches: int) -> list[Clip]:
    """Run some batches."""
    clips = []
    for _ in range(num_batches):
        frames, *others = pipeline.run()
        clips += [
            Clip(
                Path(frames[i].source_info()).name,
                numbers_of(frames.at(i)),
                [other.at(i).tolist() for other in others],
            )
            for i in range(len(frames))
        ]
    return clips


def read(
    reader: Callable[..., Any] = fn.experimental.readers.video, **arguments: Any
) -> list[Clip]:
    """Return the clips of an epoch."""
    pipeline = reader_pipeline(reader, **arguments)
    try:
        size = pipeline.epoch_size("reader")
        assert isinstance(size, int)
        return take(pipeline, size)
    finally:
        pipeline.close()


def videos_in(folder: Path, *names: str) -> dict[str, Any]:
    """Make videos, and return them as arguments of a reader."""
    return {"filenames": [str(make(folder, name)) for name in names]}


def numbers(clips: Sequence[Clip]) -> list[list[int]]:
    return [clip.numbers for clip in clips]
