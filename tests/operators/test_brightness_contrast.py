"""Changing brightness and contrast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.colors import COLOR_TYPES, OTHER_TYPES, check_rounded
from tests.operators.suite import Example, images, numbers, run_on, shares_memory, type_of

ALL = {"brightness": 1.5, "brightness_shift": -0.25, "contrast": 0.75, "contrast_center": 90.0}
EXAMPLES = [
    Example("bytes", [images()], ALL),
    Example("to-float", [images("FHWC")], {**ALL, "dtype": types.FLOAT}),
    Example("from-float", [images("DHWC", "float32")], {**ALL, "dtype": types.UINT8}),
    Example("integers", [images("HWC", "int32")], {**ALL, "dtype": types.INT16}),
    Example("grey", [images(extents={"C": 1})], ALL),
    Example("middle", [images("HWC", "int16")], {"contrast": 0.5}),
]
RANGES = {"uint8": 255, "int16": 2**15 - 1, "int32": 2**31 - 1, "float16": 1, "float32": 1}
MIDDLES = {"uint8": 128, "int16": 2**14, "int32": 2**30, "float16": 0.5, "float32": 0.5}


def adjust(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("brightness_contrast", [image], layout, **arguments)[0]


@pytest.mark.parametrize("target", COLOR_TYPES)
@pytest.mark.parametrize("source", COLOR_TYPES)
def test_types(source: str, target: str) -> None:
    # More than one block of elements, and a remainder that does not fill a vector register.
    image = numbers("uint8", (37, 41, 3), 1).astype(source)
    exact = -0.25 * RANGES[target] + 1.5 * (90 + 0.75 * (image.astype(np.float64) - 90))
    check_rounded(adjust(image, dtype=type_of(target), **ALL), exact, target)


@pytest.mark.parametrize("dtype", COLOR_TYPES)
def test_contrast_turns_around_the_middle(dtype: str) -> None:
    result = adjust(np.full((2, 2, 3), 7, dtype), contrast=0.0)
    assert np.unique(result).tolist() == [MIDDLES[dtype]]


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
def test_any_number_of_channels(channels: int) -> None:
    image = numbers("uint8", (5, 9, channels), 3)
    exact = 0.5 * image.astype(np.float64)
    check_rounded(adjust(image, brightness=0.5), exact, "uint8")


def test_halves_round_away_from_zero() -> None:
    image = np.int16([[[1, -1, 3], [-3, 5, -5]]])
    assert adjust(image, brightness=0.5).tolist() == [[[1, -1, 2], [-2, 3, -3]]]


def test_numbers_saturate() -> None:
    image = np.uint8([[[0, 128, 255]]])
    assert adjust(image, contrast=10.0).tolist() == [[[0, 128, 255]]]
    assert adjust(image, brightness=-1.0).tolist() == [[[0, 0, 0]]]
    assert adjust(image, brightness_shift=1.0).tolist() == [[[255, 255, 255]]]


def test_zero_copy_if_unchanged() -> None:
    assert shares_memory("brightness_contrast")
    assert shares_memory("brightness_contrast", dtype=types.UINT8, contrast_center=3.0)
    assert not shares_memory("brightness_contrast", brightness=0.5)
    assert not shares_memory("brightness_contrast", brightness_shift=0.5)


@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_other_types(dtype: str) -> None:
    with pytest.raises(SampleError, match=r"the type of colours must be .* \(got "):
        adjust(np.zeros((2, 2, 3), dtype))
    with pytest.raises(ArgumentValueError, match=r"'dtype' must be UINT8, INT16.* \(got "):
        adjust(np.zeros((2, 2, 3), np.uint8), dtype=type_of(dtype))


@pytest.mark.parametrize("layout", ["CHW", "HW", "FCHW", "FDHWC"])
def test_other_layouts(layout: str) -> None:
    with pytest.raises(SampleError, match="the input's layout must be"):
        adjust(np.zeros([3] * len(layout), np.uint8), layout)
