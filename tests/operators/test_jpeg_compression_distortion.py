"""Distorting images as compression to JPEG does."""

from __future__ import annotations

import io

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.generated_images import photo_like
from tests.operators.suite import Example, images, numbers, run_on

OPERATOR = "jpeg_compression_distortion"
EXAMPLES = [
    Example("coarse", [images()], {"quality": 10}),
    Example("frames", [images("FHWC")], {"quality": 95}),
    Example("default", [images()]),
]
SIZES = [(1, 1), (2, 5), (3, 4), (9, 6), (16, 16), (17, 31), (33, 48), (50, 3)]


def compressed(image: np.ndarray, quality: int) -> np.ndarray:
    """Compress and decompress with Pillow, which uses libjpeg-turbo."""
    pillow = pytest.importorskip("PIL.Image", reason="not available: Pillow")
    buffer = io.BytesIO()
    pillow.fromarray(image).save(buffer, "JPEG", quality=quality, subsampling=2)
    return np.asarray(pillow.open(buffer))


@pytest.mark.parametrize("quality", [1, 10, 49, 50, 75, 96, 100])
def test_equals_compression(quality: int) -> None:
    samples = [photo_like(*size, 3, seed) for seed, size in enumerate(SIZES)]
    samples += [numbers("uint8", (*size, 3), 0) for size in SIZES]
    samples += [255 * (numbers("uint8", (*size, 3), 1) >> 7) for size in SIZES]
    for result, sample in zip(
        run_on(OPERATOR, samples, "HWC", quality=quality), samples, strict=True
    ):
        np.testing.assert_array_equal(result, compressed(sample, quality), strict=True)


def test_quality() -> None:
    image = photo_like(20, 30, 3, 0)
    worst, same = (run_on(OPERATOR, [image], "HWC", quality=number)[0] for number in (0, 1))
    np.testing.assert_array_equal(worst, same)
    for number in (-1, 101, 1000):
        with pytest.raises(
            ArgumentValueError, match=rf"'quality' must be from 0 to 100 \(got {number}"
        ):
            run_on(OPERATOR, [image], "HWC", quality=number)


def test_frames_are_images() -> None:
    frames = np.stack([photo_like(18, 27, 3, seed) for seed in range(3)])
    (result,) = run_on(OPERATOR, [frames], "", quality=30)
    for frame, expected in zip(result, frames, strict=True):
        np.testing.assert_array_equal(frame, compressed(expected, 30))


def test_empty_arrays() -> None:
    assert run_on(OPERATOR, [np.zeros((0, 5, 3), np.uint8)], "HWC")[0].shape == (0, 5, 3)


def test_errors() -> None:
    with pytest.raises(SampleError, match="the input must be of type uint8"):
        run_on(OPERATOR, [np.zeros((4, 5, 3), np.float32)], "HWC")
    for layout in ("HW", "CHW", "DHWC"):
        with pytest.raises(SampleError, match='the input\'s layout must be "HWC" or "FHWC"'):
            run_on(OPERATOR, [np.zeros([3] * len(layout), np.uint8)], layout)
    with pytest.raises(SampleError, match="the input must have 3 channels"):
        run_on(OPERATOR, [np.zeros((4, 5, 1), np.uint8)], "HWC")
