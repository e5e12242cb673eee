"""Decodes damaged videos: ``python -m tests.mutated_videos FIRST COUNT``.

Each depends only on its index. The outcome is either an error that names the file, or all frames of
its index. Codecs without a checksum decode some damage without noticing.
"""

from __future__ import annotations

import functools
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from dali_core.operators.video.frame_index import FrameIndex, open_indices
from tests.video_files import make

NAMES = (
    *("h264.mp4", "h264_open_gop.mkv", "h264_late.ts", "hevc.mp4", "vp8.webm", "vp9.webm"),
    *("av1.mp4", "mpeg4_b.avi", "mjpeg.avi", "mjpeg_422.mov"),
    "h264_transverse.mp4",
)
CLEAR = ("the file must be a sound video", "the file must have a video stream")
SECONDS = 300
"""The time limit of a file."""


def mutated(content: bytes, number: int) -> bytes:
    """Damage a file in one of five ways."""
    chance = random.Random(number)
    data = bytearray(content)
    at = chance.randrange(len(data))
    how = chance.randrange(5)
    if how == 0:
        return bytes(data[:at])
    if how == 1:
        for _ in range(chance.choice((1, 10, 100))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif how == 2:
        end = min(len(data), at + chance.randrange(1, 2000))
        data[at:end] = bytes(end - at)
    elif how == 3:
        end = min(len(data), at + chance.randrange(1, 500))
        data[at:end] = chance.randbytes(end - at)
    else:
        data[at:at] = chance.randbytes(chance.randrange(1, 300))
    return bytes(data)


def outcomes(folder: Path, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Decode damaged videos, and yield the outcomes.

    Yields
    ------
    (int, str)
        The index, and "error", "same", "different", or a failure.
    """
    originals = [make(folder, name) for name in NAMES]
    paths = [folder / f"damaged_{number}" for number in numbers]
    for number, path in zip(numbers, paths, strict=True):
        path.write_bytes(mutated(originals[number % len(NAMES)].read_bytes(), number))
    for number, path, index in zip(numbers, paths, open_indices(paths), strict=True):
        start = time.monotonic()
        outcome = _outcome(path, index, originals[number % len(NAMES)])
        path.unlink()
        yield number, "slow" if time.monotonic() - start > SECONDS else outcome


def _outcome(path: Path, index: object, original: Path) -> str:
    if not isinstance(index, FrameIndex):
        return "error" if str(path) in str(index) else f"without a name: {index}"
    try:
        frames = decoded(path)
    except SampleError as error:
        is_clear = any(text in str(error) for text in CLEAR)
        return "error" if is_clear else f"unclear: {error}"
    if len(frames) != index.num_frames:
        return f"{len(frames)} of {index.num_frames} frames"
    return "same" if np.array_equal(frames, _sound(original)) else "different"


def decoded(path: Path) -> npt.NDArray[np.uint8]:
    """Return all frames of a file from its bytes."""
    content = np.fromfile(path, np.uint8)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        encoded = fn.external_source(source=lambda: [content])
        pipeline.set_outputs(fn.decoders.video(encoded))
    return np.array(pipeline.run()[0].at(0))


@functools.cache
def _sound(path: Path) -> npt.NDArray[np.uint8]:
    return decoded(path)


def main() -> None:
    first, count = map(int, sys.argv[1:])
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number, outcome in outcomes(Path(folder), range(first, first + count)):
            if outcome not in ("error", "same", "different"):
                print(f"{number}: {outcome}", flush=True)
            counts[outcome] += 1
    print(dict(counts))


if __name__ == "__main__":
    main()
