"""Points inside of JPEG files: parts that start there have the same pixels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError
from tests.generated_images import SAMPLINGS, encode, jpeg, photo_like, sampled_jpeg
from tests.operators.decoders.decoding import decode_one

PHOTO = photo_like(150, 331)
FILES = [
    *(sampled_jpeg(121, 277, sampling) for sampling in SAMPLINGS),
    *(jpeg(PHOTO, quality, sampling) for quality, sampling in ((95, 0), (60, 2), (100, 1))),
    jpeg(PHOTO[..., :1]),
    jpeg(PHOTO[:9, :70]),
    jpeg(PHOTO, progressive=True),
    encode(PHOTO, "JPEG", quality=90, restart_marker_blocks=5),
]
EPOCHS = 6


def crops(
    files: Sequence[bytes], threads: int, *, fused: bool, **arguments: int
) -> list[np.ndarray]:
    """Decode random parts of all files, which differ from epoch to epoch."""
    samples = [np.frombuffer(file, np.uint8) for file in files]
    results = []
    with Pipeline(len(samples), threads, None, seed=7, optimize=fused) as made:
        data = fn.external_source(source=lambda: samples)
        images = fn.decoders.image_random_crop(data, random_area=[0.01, 1.0], **arguments)
        made.set_outputs(images, fn.crop_mirror_normalize(images, mirror=1))
    for _ in range(EPOCHS):
        for batch in made.run():
            results += [np.array(batch.at(i)) for i in range(len(samples))]
    made.close()
    return results


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("fused", [True, False])
def test_pixels_are_those_without_points(threads: int, fused: bool) -> None:
    expected = crops(FILES, 1, fused=fused, jpeg_index_size=0)
    for one, other in zip(crops(FILES, threads, fused=fused), expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_changed_file_has_new_pixels(tmp_path: Path) -> None:
    path = tmp_path / "image.jpg"
    path.write_bytes(FILES[0])
    with Pipeline(1, 1, None, prefetch_queue_depth=1) as made:
        data, _ = fn.readers.file(files=[str(path)], dont_use_mmap=True)
        made.set_outputs(fn.decoders.image_crop(data, crop=(40, 50)), data)
    seen = set()
    for quality in (80, 81, 90, 90, 80):
        path.write_bytes(jpeg(PHOTO, quality, 0))
        for _ in range(3):
            pixels, read = (batch.at(0) for batch in made.run())
            file = np.array(read).tobytes()
            alone = decode_one(file, "image_crop", crop=(40, 50), jpeg_index_size=0)
            np.testing.assert_array_equal(pixels, alone, strict=True)
            seen.add(file)
    assert len(seen) >= 3
    made.close()


def test_size_is_not_negative() -> None:
    with (
        Pipeline(1, 1, None),
        pytest.raises(ArgumentValueError, match="'jpeg_index_size' must be from 0"),
    ):
        fn.decoders.image(fn.external_source(source=lambda: [b""]), jpeg_index_size=-1)
