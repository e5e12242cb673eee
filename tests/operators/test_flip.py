"""Mirroring images."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core.errors import SampleError
from tests.operators.suite import ALL_TYPES, Example, images, numbers, run_on, shares_memory

EXAMPLES = [
    Example("horizontal", [images()]),
    Example("vertical", [images("CHW", "float32")], {"horizontal": 0, "vertical": 1}),
    Example(
        "all",
        [images("FDHWC", "int16", extents={"D": 4})],
        {"horizontal": 1, "vertical": 1, "depthwise": 1},
    ),
    Example("bytes", [images("CHW")]),
    Example("wide", [images("HWC", "uint16")]),
    Example("none", [images()], {"horizontal": 0}),
]

LAYOUTS = ["HWC", "CHW", "HW", "WHC", "FHWC", "FCHW", "CFHW", "DHWC", "CDHW", "FDHWC", "FCDHW"]


def flip(
    image: np.ndarray, layout: str, horizontal: int, vertical: int, depthwise: int
) -> np.ndarray:
    return run_on(
        "flip", [image], layout, horizontal=horizontal, vertical=vertical, depthwise=depthwise
    )[0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("flags", range(8))
def test_layouts(layout: str, flags: int) -> None:
    extents = {"H": 5, "W": 7, "C": 3, "F": 2, "D": 4}
    image = numbers("uint8", [extents[letter] for letter in layout], 0)
    flipped = {"W": flags & 1, "H": flags >> 1 & 1, "D": flags >> 2}
    axes = [axis for axis, letter in enumerate(layout) if flipped.get(letter)]
    result = flip(image, layout, flipped["W"], flipped["H"], flipped["D"])
    np.testing.assert_array_equal(result, np.flip(image, axes), strict=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_pixels_of_all_sizes(dtype: str, channels: int) -> None:
    for width in (1, 2, 15, 16, 17, 31, 33, 100):
        image = numbers(dtype, (2, width, channels), width)
        result = flip(image, "HWC", 1, 0, 0)
        np.testing.assert_array_equal(result, image[:, ::-1], strict=True)


def test_zero_copy_without_flip() -> None:
    assert shares_memory("flip", horizontal=0)
    assert shares_memory("flip", horizontal=0, depthwise=1)
    assert shares_memory("flip", layout="CWH", vertical=0, horizontal=0)
    assert not shares_memory("flip")


def test_empty_image() -> None:
    empty = np.zeros((0, 5, 3), np.uint8)
    np.testing.assert_array_equal(flip(empty, "HWC", 1, 1, 0), empty, strict=True)


def test_layout_without_width() -> None:
    with pytest.raises(SampleError, match="layout must have H and W"):
        flip(np.zeros((4, 4, 3), np.uint8), "HXC", 1, 0, 0)
