"""Checks that every frame of every video, for any access pattern, is PyAV's of the same timestamp.

``python -m tests.operators.video.frame_exact`` tests everything; the test suite, a part of it.
"""

from __future__ import annotations

import functools
import itertools
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dali_core import fn
from tests.operators.suite import pipeline
from tests.orientations import stored_of
from tests.video_files import BY_NAME, RECIPES, Array, frames_of, make_all, number_of

NAMES = tuple(recipe.name for recipe in RECIPES)

Pattern = Callable[[Path, random.Random], list[list[int]]]
"""Generates, for a video, lists of frame numbers to request together."""


def _num_frames(path: Path) -> int:
    return len(frames_of(path))


def everything(path: Path, _: random.Random) -> list[list[int]]:
    return [list(range(_num_frames(path)))]


def backwards(path: Path, _: random.Random) -> list[list[int]]:
    return [list(range(_num_frames(path)))[::-1]]


def single_frames(path: Path, chance: random.Random) -> list[list[int]]:
    return [[number] for number in chance.sample(range(_num_frames(path)), _num_frames(path))]


def a_few_frames(path: Path, chance: random.Random) -> list[list[int]]:
    return single_frames(path, chance)[:5]


def strides(path: Path, chance: random.Random) -> list[list[int]]:
    count = _num_frames(path)
    clips = [
        list(range(start, count, stride))[:4]
        for stride in (2, 3, 7)
        for start in range(0, count, 2)
    ]
    return chance.sample(clips, len(clips))


def across_key_frames(path: Path, _: random.Random) -> list[list[int]]:
    frames = frames_of(path)
    keys = [number for number, frame in enumerate(frames) if frame.is_key]
    return [list(range(max(key - 3, 0), min(key + 3, len(frames)))) for key in keys[::-1]]


def repeated(path: Path, _: random.Random) -> list[list[int]]:
    last = _num_frames(path) - 1
    return [[0, 0, last, last, last // 2, last // 2, 0], [last] * 3]


def any_order(path: Path, chance: random.Random) -> list[list[int]]:
    return [chance.choices(range(_num_frames(path)), k=6) for _ in range(4)]


PATTERNS: tuple[Pattern, ...] = (
    *(everything, backwards, single_frames, strides, across_key_frames, repeated, any_order),
)


class Clip(NamedTuple):
    """Frames that an operator has returned, and the expected ones."""

    path: Path
    numbers: list[int]
    frames: Array
    seconds: Sequence[float] | None = None


def decode(
    requests: Sequence[tuple[Path, list[int]]], *, num_threads: int, batch_size: int = 16
) -> Iterator[Clip]:
    """Decode videos in memory by `decoders.video`."""
    contents = {path: np.frombuffer(path.read_bytes(), np.uint8) for path, _ in requests}
    batches = [requests[i : i + batch_size] for i in range(0, len(requests), batch_size)]

    def source(number: int) -> tuple[list[Array], list[Array]]:
        if number == len(batches):
            raise StopIteration
        batch = batches[number]
        return [contents[path] for path, _ in batch], [np.int32(wanted) for _, wanted in batch]

    with pipeline(num_threads=num_threads, batch_size=batch_size) as made:
        encoded, wanted = fn.external_source(source=source, num_outputs=2)
        made.set_outputs(fn.decoders.video(encoded, frames=wanted))
        for batch in batches:
            (clips,) = made.run()
            for (path, numbers), clip in zip(batch, clips, strict=True):
                yield Clip(path, numbers, np.asarray(clip))


def read(
    reader: Callable[..., Any], paths: Sequence[Path], *, num_threads: int, **arguments: Any
) -> Iterator[Clip]:
    """Read one epoch of clips from files."""
    with pipeline(num_threads=num_threads, batch_size=16) as made:
        outputs = reader(
            filenames=[str(path) for path in paths],
            labels=list(range(len(paths))),
            enable_frame_num="sequence",
            enable_timestamps=True,
            name="videos",
            **arguments,
        )
        made.set_outputs(*outputs)
        made.build()
        left = made.epoch_size("videos")
        assert isinstance(left, int)
        while left > 0:
            batch = zip(*made.run(), strict=True)
            for clip, label, numbers, seconds in itertools.islice(batch, left):
                yield Clip(
                    paths[int(np.asarray(label)[0])],
                    np.asarray(numbers).tolist(),
                    np.asarray(clip),
                    np.asarray(seconds).tolist(),
                )
            left -= 16


@functools.cache
def _expected(path: Path) -> tuple[Array, ...]:
    return tuple(frame.rgb().astype(np.float32) for frame in frames_of(path))


def mistake(clip: Clip) -> str:
    """Return the differences of a clip from the frames of PyAV; empty if there are none."""
    truth, frames = _expected(clip.path), frames_of(clip.path)
    where = f"{clip.path.name}, frames {clip.numbers}"
    if len(clip.frames) != len(clip.numbers):
        return f"{where}: there are {len(clip.frames)}"
    for place, (number, frame) in enumerate(zip(clip.numbers, clip.frames, strict=True)):
        expected = truth[number]
        if frame.shape != expected.shape:
            return f"{where}: shape {frame.shape} instead of {expected.shape}"
        difference = np.abs(frame - expected).max()
        if difference > 1:
            stored = stored_of(frame, frames[number].orientation)
            return (
                f"{where}: at {place}, what differs by {difference:.1f} says that it is frame "
                f"{number_of(stored) - BY_NAME[clip.path.name].numbers[0]}"
            )
    if clip.seconds is not None and BY_NAME[clip.path.name].has_times:
        shown = [frames[number].seconds for number in clip.numbers]
        if not np.allclose(clip.seconds, shown, rtol=0, atol=1e-9):
            return f"{where}: times {clip.seconds} instead of {shown}"
    return ""


def requests_of(
    pattern: Pattern, paths: Sequence[Path], seed: int = 0
) -> list[tuple[Path, list[int]]]:
    """Return the requests of a pattern, interleaved over all videos, so that batches mix them."""
    chance = random.Random(seed)
    lists = [[(path, wanted) for wanted in pattern(path, chance)] for path in paths]
    mixed = itertools.chain.from_iterable(itertools.zip_longest(*lists))
    return [request for request in mixed if request is not None]


def main() -> int:
    """Test all patterns on all videos, and print failures."""
    found: Counter[str] = Counter()
    num_clips = num_frames = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = make_all(Path(folder))
        ways: list[tuple[str, Callable[[int], Iterator[Clip]]]] = [
            (
                f"decoders.video, {pattern.__name__}",
                lambda threads, pattern=pattern: decode(
                    requests_of(pattern, paths), num_threads=threads
                ),
            )
            for pattern in PATTERNS
        ]
        for name, reader in (
            ("readers.video", fn.readers.video),
            ("experimental.readers.video", fn.experimental.readers.video),
        ):
            for length, stride, step, shuffled in (
                *((1, 1, 1, False), (1, 1, 1, True), (5, 1, 5, False), (4, 2, 3, True)),
                *((3, 7, 2, True), (8, 3, 1, True), (30, 1, 1, False)),
            ):
                more = {"sequence_length": length, "stride": stride, "step": step}
                order = "shuffled" if shuffled else "in order"
                ways.append(
                    (
                        f"{name}, {length} frames, stride {stride}, step {step}, {order}",
                        lambda threads, reader=reader, more=more, shuffled=shuffled: read(
                            reader, paths, num_threads=threads, random_shuffle=shuffled, **more
                        ),
                    )
                )
        for name, way in ways:
            for num_threads in (1, 4):
                start, before, wrong = time.perf_counter(), num_frames, 0
                for clip in way(num_threads):
                    num_clips += 1
                    num_frames += len(clip.numbers)
                    text = mistake(clip)
                    if text:
                        found[clip.path.name] += 1
                        wrong += 1
                        if found[clip.path.name] <= 3:
                            print(f"  {text}")
                print(
                    f"{name}, {num_threads} threads: {num_frames - before} frames in "
                    f"{time.perf_counter() - start:.1f} s, {wrong} clips wrong",
                    flush=True,
                )
    print(
        f"{num_frames} frames in {num_clips} clips of {len(paths)} files compared; wrong clips: "
        f"{found.total()} {dict(found) or ''}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
