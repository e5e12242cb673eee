"""Libraries that read videos, each with the same number of threads: RGB, frame by frame.

A pipeline is ``library/pattern``: all frames of the files in order, or random clips of some frames.
"""

from __future__ import annotations

import importlib.metadata
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

CLIP = 8
STRIDE = 2
SEQUENCE = 16

PACKAGES = {
    "ours": "av",
    "pyav": "av",
    "opencv": "opencv-python-headless",
    "torchcodec": "torchcodec",
    "decord": "decord",
    "reference": "nvidia-dali-cuda120",
}
PATTERNS = ("sequential", "clips")
PIPELINES = [f"{library}/{pattern}" for library in PACKAGES for pattern in PATTERNS]
PIPELINES.append("decoding/sequential")  # by PyAV, without colours: an upper bound


def versions() -> dict[str, str]:
    """Return the versions of the installed libraries."""
    found = {}
    for package in sorted(set(PACKAGES.values())):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Read forever, and yield the number of frames of each batch of `batch_size` clips."""
    library, pattern = pipeline.split("/")
    if library in ("ours", "reference"):
        return _run_pipeline(library, pattern, files, threads, batch_size)
    if pattern == "sequential":
        return _batched(_all_frames(library, files, threads), SEQUENCE * batch_size)
    return _clips(library, files, threads, batch_size)


def _run_pipeline(
    library: str, pattern: str, files: list[str], threads: int, batch_size: int
) -> Iterator[int]:
    dali: Any
    if library == "ours":
        import dali_core as dali
        from dali_core import fn
    else:
        from nvidia import dali
        from nvidia.dali import fn
    pipe = dali.Pipeline(batch_size, threads, None, prefetch_queue_depth=2)
    with pipe:
        if pattern == "sequential":
            clips = fn.experimental.readers.video(filenames=files, sequence_length=SEQUENCE)
        else:
            clips = fn.experimental.readers.video(
                filenames=files, sequence_length=CLIP, stride=STRIDE, step=1, random_shuffle=True
            )
        pipe.set_outputs(clips)
    pipe.build()
    while True:
        (batch,) = pipe.run()
        yield sum(batch[i].shape()[0] for i in range(len(batch)))


def _batched(frames: Iterator[Any], size: int) -> Iterator[int]:
    while True:
        for _ in range(size):
            next(frames)
        yield size


def _all_frames(library: str, files: list[str], threads: int) -> Iterator[Any]:
    while True:
        for file in files:
            yield from _SEQUENTIAL[library](file, threads)


def _pyav_frames(file: str, threads: int) -> Iterator[Any]:
    import av

    with av.open(file) as container:
        context = container.streams.video[0].codec_context
        context.thread_type = "AUTO"
        context.thread_count = threads
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="rgb24")


def _decoded_frames(file: str, threads: int) -> Iterator[Any]:
    import av

    with av.open(file) as container:
        container.streams.video[0].codec_context.thread_count = threads
        yield from container.decode(video=0)


def _opencv_frames(file: str, threads: int) -> Iterator[Any]:
    import cv2

    video = cv2.VideoCapture(file, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, threads])
    while True:
        is_there, frame = video.read()
        if not is_there:
            return
        yield cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)


def _torchcodec_frames(file: str, threads: int) -> Iterator[Any]:
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(file, num_ffmpeg_threads=threads, seek_mode="exact")
    for start in range(0, len(decoder), SEQUENCE):
        stop = min(start + SEQUENCE, len(decoder))
        yield from decoder.get_frames_in_range(start, stop).data


def _decord_frames(file: str, threads: int) -> Iterator[Any]:
    import decord

    reader = decord.VideoReader(file, num_threads=threads)
    for start in range(0, len(reader), SEQUENCE):
        stop = min(start + SEQUENCE, len(reader))
        yield from reader.get_batch(list(range(start, stop))).asnumpy()


_SEQUENTIAL: dict[str, Callable[[str, int], Iterator[Any]]] = {
    "decoding": _decoded_frames,
    "pyav": _pyav_frames,
    "opencv": _opencv_frames,
    "torchcodec": _torchcodec_frames,
    "decord": _decord_frames,
}


def _clips(library: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Random clips: each thread has its own single-threaded decoder for each file."""
    open_file = _OPEN[library]
    here = threading.local()
    chance = random.Random(0)
    lengths = {file: _length(file) for file in files}

    def read(clip: tuple[str, int]) -> int:
        file, start = clip
        if not hasattr(here, "open"):
            here.open = {}
        if file not in here.open:
            here.open[file] = open_file(file)
        numbers = list(range(start, start + CLIP * STRIDE, STRIDE))
        return len(here.open[file](numbers))

    def draw() -> tuple[str, int]:
        file = chance.choice(files)
        return file, chance.randrange(lengths[file] - CLIP * STRIDE + 1)

    with ThreadPoolExecutor(threads) as pool:
        while True:
            yield sum(pool.map(read, [draw() for _ in range(batch_size)]))


def _length(file: str) -> int:
    import av

    with av.open(file) as container:
        return sum(1 for packet in container.demux(video=0) if packet.size)


Clip = Callable[[list[int]], Any]


def _pyav_clip(file: str) -> Clip:
    import av

    container = av.open(file)
    stream = container.streams.video[0]
    stream.codec_context.thread_count = 1
    times = sorted(packet.pts for packet in container.demux(stream) if packet.size)

    def read(numbers: list[int]) -> list[Any]:
        wanted = {times[number] for number in numbers}
        container.seek(times[numbers[0]], stream=stream)
        found = []
        for frame in container.decode(stream):
            if frame.pts in wanted:
                found.append(frame.to_ndarray(format="rgb24"))
                if len(found) == len(wanted):
                    break
        return found

    return read


def _opencv_clip(file: str) -> Clip:
    import cv2

    video = cv2.VideoCapture(file, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])

    def read(numbers: list[int]) -> list[Any]:
        video.set(cv2.CAP_PROP_POS_FRAMES, numbers[0])
        found = []
        for number in range(numbers[0], numbers[-1] + 1):
            if not video.grab():
                break
            if number in numbers:
                found.append(cv2.cvtColor(video.retrieve()[1], cv2.COLOR_BGR2RGB))
        return found

    return read


def _torchcodec_clip(file: str) -> Clip:
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(file, num_ffmpeg_threads=1, seek_mode="exact")
    return lambda numbers: decoder.get_frames_at(numbers).data


def _decord_clip(file: str) -> Clip:
    import decord

    reader = decord.VideoReader(file, num_threads=1)
    return lambda numbers: reader.get_batch(numbers).asnumpy()


_OPEN: dict[str, Callable[[str], Clip]] = {
    "pyav": _pyav_clip,
    "opencv": _opencv_clip,
    "torchcodec": _torchcodec_clip,
    "decord": _decord_clip,
}
