"""Decodes thousands of damaged images: ``python -m tests.mutated_images FIRST COUNT``.

A separate program, so that a crash is attributed: it prints the indices of the images before it
decodes them, and each image depends only on its index.
"""

from __future__ import annotations

import resource
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from tests.generated_images import cmyk_jpeg, encode, jpeg, mutated, photo_like, png, pnm

BATCH = 50
MEMORY = 6 << 30
"""Limit of the address space: an image that claims to be enormous must fail, not exhaust memory."""

FORMATS: list[Callable[[np.ndarray], bytes]] = [
    lambda image: jpeg(image, 90, 2),
    lambda image: jpeg(image, 75, 0, progressive=True),
    lambda image: jpeg(image[:, :, :1]),
    lambda image: cmyk_jpeg(*image.shape[:2]),
    png,
    lambda image: encode(image, "PNG", "P"),
    lambda image: encode(image, "BMP"),
    pnm,
    lambda image: encode(image, "TIFF"),
    lambda image: encode(image, "TIFF", compression="tiff_lzw"),
    lambda image: encode(image, "WEBP", lossless=True),
]
LOSSLESS = {4, 6, 7, 8, 9, 10}
"""The lossless formats."""


def image_of(number: int) -> tuple[bytes, np.ndarray | None]:
    """Return an image file; every tenth is valid, with its pixels if they are known."""
    generator = np.random.default_rng([number, 77])
    height, width = (int(size) for size in generator.integers(1, 25, 2))
    image = photo_like(height, width, seed=number % 50)
    kind = int(generator.integers(len(FORMATS)))
    content = FORMATS[kind](image)
    if number % 10 == 0:
        return content, image if kind in LOSSLESS else None
    damage = int(generator.integers(5))
    if damage == 0:
        return content[: int(generator.integers(len(content)))], None
    if damage == 1:
        return mutated(content, number, count=int(generator.integers(1, 9))), None
    if damage == 2:  # one bit
        position, bit = int(generator.integers(len(content))), int(generator.integers(8))
        flipped = bytes([content[position] ^ 1 << bit])
        return content[:position] + flipped + content[position + 1 :], None
    if damage == 3:  # a length, a size or an offset that is far too large
        position = int(generator.integers(max(1, min(len(content) - 4, 200))))
        value = int(generator.choice([0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFF, 0]))
        order = "<I" if generator.integers(2) else ">I"
        return content[:position] + struct.pack(order, value) + content[position + 4 :], None
    cut, length = (int(value) for value in generator.integers(1, len(content), 2))
    return content[:cut] + content[cut + length // 8 :] + bytes(length % 7), None


def decode_alone(root: Path, names: list[str]) -> dict[str, np.ndarray | None]:
    """Decode one by one, in one thread; None for what is bad."""
    with Pipeline(1, 1, None, prefetch_queue_depth=1) as pipeline:
        data, _ = fn.readers.file(file_root=str(root), files=names, read_ahead=False)
        pipeline.set_outputs(fn.decoders.image(data))
    alone: dict[str, np.ndarray | None] = {}
    for name in names:
        try:
            alone[name] = pipeline.run()[0].at(0).copy()
        except SampleError:
            alone[name] = None
    pipeline.close()
    return alone


def main(first: int, count: int) -> None:
    """Decode images `first` to ``first + count - 1``, which must be a multiple of the batch."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    names = [f"{number:06}" for number in range(first, first + count)]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        known = {}
        for name in names:
            content, image = image_of(int(name))
            (root / name).write_bytes(content)
            if image is not None:
                known[name] = image
        with Pipeline(
            BATCH,
            2,
            None,
            seed=1,
            prefetch_queue_depth=1,
            on_sample_error="replace",
            max_bad_samples=1.0,
        ) as pipeline:
            data, _ = fn.readers.file(file_root=folder, files=names)
            pipeline.set_outputs(fn.decoders.image(data))
        found: list[tuple[str, np.ndarray]] = []
        for start in range(0, count, BATCH):
            print(f"images {first + start} to {first + start + BATCH - 1}", flush=True)
            (images,) = pipeline.run()
            found += [(images[i].source_info(), images.at(i).copy()) for i in range(BATCH)]
            del images
        runner = pipeline._run.runner
        assert runner is not None
        bad = {sample.source for sample in pipeline.bad_samples}
        pipeline.close()
        assert runner.executor.memory_stats() == {"used_bytes": 0, "idle_bytes": 0}
        print("one by one", flush=True)
        alone = decode_alone(root, names)
    assert bad == {name for name, image in alone.items() if image is None}
    for number, (name, image) in enumerate(found):
        good = number
        while alone[names[good]] is None:
            good = (good + 1) % count
        assert name == names[good], f"{name} is not {names[good]} at {names[number]}"
        np.testing.assert_array_equal(image, alone[name], err_msg=name)
    for name, pixels in known.items():
        np.testing.assert_array_equal(alone[name], pixels, err_msg=name)
    for name in names[::10]:
        assert alone[name] is not None, f"{name} is sound"
    print(f"{count} images, {len(bad)} bad")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
