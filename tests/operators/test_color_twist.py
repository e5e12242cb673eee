"""Changing hue, saturation, contrast and brightness at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.colors import COLOR_TYPES, OTHER_TYPES, check_rounded, turned
from tests.operators.suite import Example, images, numbers, run_on, shares_memory, type_of

ALL = {"brightness": 1.25, "contrast": 0.75, "hue": 40.0, "saturation": 1.5}
EXAMPLES = [
    Example("bytes", [images()], ALL),
    Example("to-float", [images()], {**ALL, "dtype": types.FLOAT}),
    Example("from-float", [images("FHWC", "float32")], {**ALL, "dtype": types.UINT8}),
    Example("half", [images("DHWC", "float16")], ALL),
    Example("integers", [images("HWC", "int16")], {**ALL, "dtype": types.INT32}),
    Example("nothing", [images()]),
]


def twist(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("color_twist", [image], layout, **arguments)[0]


@pytest.mark.parametrize("target", COLOR_TYPES)
@pytest.mark.parametrize("source", COLOR_TYPES)
def test_types(source: str, target: str) -> None:
    # More than one block of pixels, and a remainder that does not fill a vector register.
    image = numbers("uint8", (37, 41, 3), 1).astype(source)
    center = 0.5 if source.startswith("float") else 128.0
    exact = (turned(image, 40.0, 1.5) - center) * 0.75 * 1.25 + center * 1.25
    check_rounded(twist(image, dtype=type_of(target), **ALL), exact, target)


def test_contrast_turns_around_the_middle() -> None:
    assert twist(np.full((2, 2, 3), 7, np.uint8), contrast=0.0).tolist() == [[[128] * 3] * 2] * 2
    assert twist(np.full((1, 1, 3), 7, np.int32), contrast=0.0).tolist() == [[[128] * 3]]
    assert twist(np.full((1, 1, 3), 7, np.float32), contrast=0.0).tolist() == [[[0.5] * 3]]


def test_brightness_comes_after_contrast() -> None:
    result = twist(np.full((1, 1, 3), 100, np.uint8), contrast=0.5, brightness=2.0)
    assert result.tolist() == [[[228] * 3]]


def test_numbers_saturate() -> None:
    image = np.uint8([[[0, 128, 255]]])
    assert twist(image, contrast=10.0).tolist() == [[[0, 128, 255]]]
    assert twist(image, brightness=-1.0).tolist() == [[[0, 0, 0]]]


def test_grey_keeps_its_hue() -> None:
    grey = np.repeat(np.arange(256, dtype=np.uint8), 3).reshape(1, 256, 3)
    difference = twist(grey, hue=123.0, saturation=2.0).astype(int) - grey
    assert np.abs(difference).max() <= 1


@pytest.mark.parametrize("image_type", list(types.DALIImageType))
def test_image_type_has_no_effect(image_type: types.DALIImageType) -> None:
    image = numbers("uint8", (5, 6, 3), 0)
    np.testing.assert_array_equal(twist(image, image_type=image_type, **ALL), twist(image, **ALL))


def test_zero_copy_if_unchanged() -> None:
    assert shares_memory("color_twist")
    assert shares_memory("color_twist", dtype=types.UINT8, saturation=1.0, hue=0.0)
    assert not shares_memory("color_twist", saturation=0.5)


@pytest.mark.parametrize("layout", ["HWC", "FHWC", "DHWC"])
def test_empty_images(layout: str) -> None:
    shape = [0] * (len(layout) - 1) + [3]
    assert list(twist(np.zeros(shape, np.uint8), layout, hue=30.0).shape) == shape


@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_other_types(dtype: str) -> None:
    with pytest.raises(SampleError, match=r"the type of colours must be .* \(got "):
        twist(np.zeros((2, 2, 3), dtype))
    with pytest.raises(ArgumentValueError, match=r"'dtype' must be UINT8, INT16.* \(got "):
        twist(np.zeros((2, 2, 3), np.uint8), dtype=type_of(dtype))


@pytest.mark.parametrize("channels", [0, 1, 2, 4])
def test_other_numbers_of_channels(channels: int) -> None:
    with pytest.raises(SampleError, match=f"must have 3 channels \\(got {channels} "):
        twist(np.zeros((2, 2, channels), np.uint8), hue=1.0)


@pytest.mark.parametrize("layout", ["CHW", "HW", "WHC", "FCHW", "FDHWC"])
def test_other_layouts(layout: str) -> None:
    with pytest.raises(SampleError, match="the input's layout must be"):
        twist(np.zeros([3] * len(layout), np.uint8), layout)
