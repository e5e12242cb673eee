"""Decodes thousands of JPEG files by our own decoder and by libjpeg-turbo, and compares the pixels.

``python -m tests.huffman_jpegs sound 10000`` generates valid files of any sampling factors,
restart interval, quality and size, ``progressive 10000`` progressive ones of any script;
``damaged 20000`` and ``damaged_progressive 20000`` damage them: both must return the same pixels,
or reject them with the same message. ``sizes 44100`` generates all sizes of all sampling factors.
``photos FOLDER`` uses the files of a folder. Each file depends only on its index. All are decoded
at full size and, by ``scaled_decode``, at a half to an eighth of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dali_core import Pipeline, fn, types
from dali_core.errors import SampleError
from dali_core.operators.decoders.backends import JPEG_VARIABLE
from tests.fuzz.small_images import damaged
from tests.generated_images import encode, photo_like, with_orientation
from tests.jpeg_writer import write_jpeg
from tests.progressive_jpeg import random_script, write_progressive

OUTPUT_TYPES = (types.RGB, types.BGR, types.GRAY, types.YCbCr, types.ANY_DATA)
FACTORS = ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2), (3, 1), (1, 3))
_FACTORS_OF_PILLOW = FACTORS[0], FACTORS[1], FACTORS[3]
LARGEST = 70
LARGEST_REDUCED = 6
Window = tuple[float, float, float, float]
"""Row, column, height and width of a part, as fractions of the image."""
WHOLE: Window = (0.0, 0.0, 1.0, 1.0)


def sound_file(number: int) -> bytes:
    """Return a sequential file; most are supported by both decoders, some factors by none."""
    draw = np.random.default_rng([number, 15])
    height, width = (int(size) for size in draw.integers(1, LARGEST + 1, 2))
    interval = int(draw.choice([0, 0, 1, 2, 3, 7, 30]))
    channels = int(draw.choice([1, 3, 3, 3, 4]))
    image = photo_like(height, width, channels, seed=number % 100)
    if draw.integers(3) == 0:
        image = draw.integers(0, 256, image.shape, np.uint8)
    if draw.integers(2) and channels < 4:
        return encode(
            image,
            "JPEG",
            quality=int(draw.integers(1, 101)),
            subsampling=int(draw.integers(3)),
            restart_marker_blocks=interval,
            optimize=bool(draw.integers(2)),
        )
    sampling = [FACTORS[i] for i in draw.choice(4, channels)]
    if draw.integers(2):
        sampling = [FACTORS[int(draw.integers(len(FACTORS)))]] + [(1, 1)] * (channels - 1)
    file = write_jpeg(
        list(np.moveaxis(image, 2, 0)),
        sampling,
        step=int(draw.integers(1, 60)),
        restart_interval=interval,
        adobe_transform=[None, 0, 1, 2][int(draw.integers(4))],
    )
    return with_orientation(file, int(draw.integers(1, 9))) if draw.integers(5) == 0 else file


def progressive_file(number: int) -> bytes:
    """Return a progressive file, with all bits of all coefficients."""
    draw = np.random.default_rng([number, 17])
    height, width = (int(size) for size in draw.integers(1, LARGEST + 1, 2))
    interval = int(draw.choice([0, 0, 1, 2, 3, 7, 30]))
    channels = int(draw.choice([1, 3, 3, 3, 4]))
    image = photo_like(height, width, channels, seed=number % 100)
    if draw.integers(4) == 0:
        image = draw.integers(0, 256, image.shape, np.uint8)
    if draw.integers(2) and channels < 4:
        return encode(
            image,
            "JPEG",
            quality=int(draw.integers(1, 101)),
            subsampling=int(draw.integers(3)),
            restart_marker_blocks=interval,
            progressive=True,
        )
    sampling = [FACTORS[i] for i in draw.choice(4, channels)]
    if draw.integers(2):
        sampling = [FACTORS[int(draw.integers(len(FACTORS)))]] + [(1, 1)] * (channels - 1)
    file = write_progressive(
        list(np.moveaxis(image, 2, 0)),
        sampling,
        random_script(channels, draw),
        step=int(draw.integers(1, 60)),
        restart_interval=interval,
        adobe_transform=[None, 0, 1, 2][int(draw.integers(4))],
    )
    return with_orientation(file, int(draw.integers(1, 9))) if draw.integers(5) == 0 else file


def file_of_size(number: int) -> bytes:
    """Return a file of one of ``len(FACTORS) * LARGEST**2`` sampling factors and sizes."""
    factors = FACTORS[number % len(FACTORS)]
    height, width = np.unravel_index(number // len(FACTORS) % LARGEST**2, (LARGEST, LARGEST))
    image = photo_like(int(height) + 1, int(width) + 1, seed=number % 100)
    quality = 1 + number % 100
    if factors in _FACTORS_OF_PILLOW and number % 2 == 0:
        subsampling = _FACTORS_OF_PILLOW.index(factors)
        return encode(image, "JPEG", quality=quality, subsampling=subsampling)
    sampling = [factors, (1, 1), (1, 1)]
    return write_jpeg(list(np.moveaxis(image, 2, 0)), sampling, step=quality)


def damaged_file(number: int) -> bytes:
    """Damage a file at a few places, in its header or anywhere."""
    return damaged(sound_file(number % 997), number)


def damaged_progressive_file(number: int) -> bytes:
    """Damage a progressive file at a few places, in its header or anywhere."""
    return damaged(progressive_file(number % 997), number)


def coarse_file(number: int) -> bytes:
    """Enlarge a few steps of the quantisation, so that sums of coefficients overflow."""
    draw = np.random.default_rng([number, 19])
    file = bytearray((progressive_file if number % 4 == 0 else sound_file)(number % 997))
    table = file.index(b"\xff\xdb") + 5
    for position in draw.integers(0, 16, draw.integers(1, 4)):
        file[table + int(position)] = int(draw.integers(60, 256))
    return bytes(file)


def window_of(number: int) -> Window:
    """Draw a part of an image; every third is everything."""
    draw = np.random.default_rng([number, 16])
    if number % 3 == 0:
        return WHOLE
    y, x = draw.uniform(0, 0.95, 2)
    return y, x, (1 - y) * draw.uniform(0.05, 1), (1 - x) * draw.uniform(0.05, 1)


def size_of(number: int) -> np.ndarray:
    """Draw the size that a part is resized to."""
    return np.random.default_rng([number, 18]).integers(1, LARGEST_REDUCED + 1, 2, np.int64)


def outcomes(
    files: Iterable[bytes], windows: Iterable[Window], decoder: str, **arguments: Any
) -> Iterator[np.ndarray | str]:
    """Decode a part of each file, by a decoder or, if it is empty, by the default one.

    If `scaled_decode` is among the arguments, parts are resized to a few pixels, whose values are
    exact enough to differ whenever a decoded pixel does.

    Yields
    ------
    array or str
        The pixels, or the error message.
    """
    before = os.environ.get(JPEG_VARIABLE)
    os.environ[JPEG_VARIABLE] = decoder
    given: list[tuple[bytes, Window, np.ndarray]] = [(b"", WHOLE, size_of(0))]
    try:
        with Pipeline(1, 1, None, prefetch_queue_depth=1) as pipeline:
            data, start, shape = fn.external_source(
                source=lambda: (
                    [np.frombuffer(given[0][0], np.uint8)],
                    [np.float32(given[0][1][:2])],
                    [np.float32(given[0][1][2:])],
                ),
                num_outputs=3,
            )
            if "scaled_decode" in arguments:
                size = fn.external_source(source=lambda: [np.float32(given[0][2])])
                image = fn.decoders.image(data, **arguments)
                parts = {"roi_start": start, "roi_end": start + shape, "roi_relative": True}
                pipeline.set_outputs(fn.resize(image, size=size, dtype=types.FLOAT, **parts))
            else:
                relative = {"normalized_anchor": True, "normalized_shape": True, "axes": [0, 1]}
                image = fn.decoders.image_slice(data, start, shape, **relative, **arguments)
                pipeline.set_outputs(image)
        pipeline.build()
    finally:
        if before is None:
            del os.environ[JPEG_VARIABLE]
        else:
            os.environ[JPEG_VARIABLE] = before
    for number, (file, window) in enumerate(zip(files, windows, strict=True)):
        given[0] = file, window, size_of(number)
        try:
            yield pipeline.run()[0].at(0).copy()
        except SampleError as error:
            yield error.message
    pipeline.close()


def compare(
    files: dict[str, bytes],
    decoder: str,
    window: Callable[[int], Window] = window_of,
    *,
    reduced: bool = False,
) -> dict[str, int]:
    """Compare a decoder with libjpeg-turbo, in all colour types, and by both transforms.

    Each file is decoded twice, the second time with the points that were noted the first time.

    Returns
    -------
    dict
        The numbers of decoded and rejected files.
    """
    counts = {"decoded": 0, "refused": 0}
    for index, output_type in enumerate(OUTPUT_TYPES):
        names = [name for name in list(files)[index :: len(OUTPUT_TYPES)] for _ in range(2)]
        chosen = [files[name] for name in names]
        parts = [window(number) for number, _ in enumerate(chosen)]
        arguments: dict[str, Any] = {"output_type": output_type, "use_fast_idct": index % 2 == 0}
        if reduced:
            arguments["scaled_decode"] = True
        ours = outcomes(chosen, parts, decoder, **arguments)
        theirs = outcomes(chosen, parts, "libjpeg", **arguments)
        for name, one, other in zip(names, ours, theirs, strict=True):
            if isinstance(one, str) or isinstance(other, str):
                assert isinstance(one, str), f"{name}: libjpeg-turbo refuses it ({other})"
                assert one == other, name
                counts["refused"] += 1
            else:
                np.testing.assert_array_equal(one, other, strict=True, err_msg=name)
                counts["decoded"] += 1
    return counts


def main(kind: str, argument: str, first: str = "0") -> None:
    """Run from the command line."""
    if kind == "photos":
        paths = sorted(path for path in Path(argument).rglob("*") if path.is_file())
        files = {path.name: path.read_bytes() for path in paths}
        files = {name: file for name, file in files.items() if file.startswith(b"\xff\xd8")}
        print(len(files), compare(files, "", lambda number: WHOLE), compare(files, ""))
        print("reduced:", compare(files, "", reduced=True))
        return
    make = {
        "sound": sound_file,
        "progressive": progressive_file,
        "sizes": file_of_size,
        "damaged": damaged_file,
        "damaged_progressive": damaged_progressive_file,
        "coarse": coarse_file,
    }[kind]
    for start in range(int(first), int(first) + int(argument), 500):
        end = min(start + 500, int(first) + int(argument))
        numbers = {f"{kind} {number}": make(number) for number in range(start, end)}
        full, reduced = (compare(numbers, "", reduced=reduced) for reduced in (False, True))
        print(f"{kind} {start} to {end - 1}: {full}, reduced {reduced}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
