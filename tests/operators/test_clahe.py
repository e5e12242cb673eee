"""Equalizing local histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, images, numbers, run_on

ALL: dict[str, Any] = {"tiles_x": 3, "tiles_y": 2, "clip_limit": 2.0}
EXAMPLES = [
    Example("lightness", [images()], ALL),
    Example("channels", [images()], {**ALL, "luma_only": False}),
    Example("grey", [images(extents={"C": 1})], {**ALL, "clip_limit": 0.0, "bins": 64}),
]


def clahe(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("clahe", [image], layout, **{**ALL, **arguments})[0]


def test_one_tile_without_limit_equalizes() -> None:
    image = numbers("uint8", (30, 41, 1), 0) // 3
    share = np.cumsum(np.bincount(image.ravel(), minlength=256)) / image.size
    result = clahe(image, tiles_x=1, tiles_y=1, clip_limit=0.0)
    # The image is one row and one column short of a whole number of tiles, unless it has one tile.
    assert np.abs(result - 255 * share[image]).max() <= 0.5 + 1e-3


def test_smallest_limit_changes_little() -> None:
    ramp = np.tile(np.arange(256, dtype=np.uint8), (64, 1))[..., None]
    flat = clahe(ramp, tiles_x=1, tiles_y=1, clip_limit=1.0)
    assert np.abs(flat.astype(int) - ramp).max() <= 1


def test_limit_bounds_the_contrast() -> None:
    image = (120 + numbers("uint8", (64, 64, 1), 1) // 32).astype(np.uint8)
    spread = [
        int(np.ptp(clahe(image, tiles_x=2, tiles_y=2, clip_limit=limit).astype(int)))
        for limit in (1.0, 4.0, 16.0, 0.0)
    ]
    assert spread == sorted(spread)
    assert spread[0] < 20
    assert spread[-1] > 200


def test_channels_by_themselves() -> None:
    image = numbers("uint8", (33, 50, 3), 2)
    result = clahe(image, luma_only=False)
    for c in range(3):
        np.testing.assert_array_equal(result[..., c : c + 1], clahe(image[..., c : c + 1].copy()))


def test_lightness_leaves_greys_grey() -> None:
    grey = np.repeat(numbers("uint8", (40, 40, 1), 3), 3, axis=2)
    result = clahe(grey).astype(int)
    assert np.ptp(result, axis=2).max() <= 2
    assert np.abs(result - grey).mean() > 3


def test_bins_have_no_effect() -> None:
    image = numbers("uint8", (33, 50, 3), 2)
    np.testing.assert_array_equal(clahe(image, bins=64), clahe(image))


@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 3, 1), (5, 1, 3), (0, 4, 3), (7, 7, 1)])
def test_more_tiles_than_pixels(shape: tuple[int, ...]) -> None:
    assert clahe(numbers("uint8", shape, 0), tiles_x=9, tiles_y=8).shape == shape


@pytest.mark.parametrize("name", ["tiles_x", "tiles_y"])
def test_invalid_tiles(name: str) -> None:
    with pytest.raises(ArgumentValueError, match=f"{name!r} must be from 1 to 65536"):
        clahe(np.zeros((4, 5, 3), np.uint8), **{name: 0})


def test_invalid_samples() -> None:
    with pytest.raises(SampleError, match="the input must be of type uint8"):
        clahe(np.zeros((4, 5, 3), np.float32))
    with pytest.raises(SampleError, match="the input must have 1 or 3 channels"):
        clahe(np.zeros((4, 5, 2), np.uint8))
    for layout in ("HW", "CHW", "DHWC"):
        with pytest.raises(SampleError, match='the input\'s layout must be "HWC"'):
            clahe(np.zeros([3] * len(layout), np.uint8), layout)
