"""Cropping windows of images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    images,
    numbers,
    pipeline,
    run_on,
    shares_memory,
)

EXAMPLES = [
    Example("window", [images(smallest=5)], {"crop": (3, 4)}),
    Example(
        "sides",
        [images("FCHW", "int16", smallest=4)],
        {
            "crop_w": 4,
            "crop_h": 3,
            "crop_d": 2,
            "crop_pos_x": 0.0,
            "crop_pos_y": 1.0,
            "crop_pos_z": 1.0,
        },
    ),
    Example(
        "padding",
        [images()],
        {
            "crop": (20, 10),
            "out_of_bounds_policy": "pad",
            "fill_values": [1, 2, 3],
            "dtype": types.FLOAT,
        },
    ),
    Example("trimming", [images("CHW")], {"crop": (4, 4), "out_of_bounds_policy": "trim_to_shape"}),
    Example(
        "repeating", [images("DHWC")], {"crop": (20, 10), "out_of_bounds_policy": "reflect_101"}
    ),
    Example("whole", [images("HW", "bool")]),
]

BORDERS = {"edge": "edge", "reflect": "symmetric", "reflect_101": "reflect", "wrap": "wrap"}


def crop(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("crop", [image], layout, **arguments)[0]


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    image = numbers(dtype, (6, 7, 2), 0)
    result = crop(image, crop=(3, 4), crop_pos_y=0, crop_pos_x=1)
    np.testing.assert_array_equal(result, image[:3, 3:], strict=True)
    padded = crop(image, crop=(8, 7), out_of_bounds_policy="pad", fill_values=1)
    assert padded.dtype == image.dtype
    np.testing.assert_array_equal(padded[1:-1], image)
    assert (padded[[0, -1]] == 1).all()


@pytest.mark.parametrize(
    "layout", ["HWC", "CHW", "HW", "WH", "FHWC", "FCHW", "CFHW", "DHWC", "CDHW", "FDHWC"]
)
def test_layouts(layout: str) -> None:
    extents = {"H": 6, "W": 7, "C": 3, "F": 4, "D": 5}
    image = numbers("uint8", [extents[letter] for letter in layout], 0)
    windows = {"H": slice(3, 6), "W": slice(0, 4)}
    result = crop(image, layout, crop_h=3, crop_w=4, crop_pos_x=0, crop_pos_y=1)
    expected = image[tuple(windows.get(letter, slice(None)) for letter in layout)]
    np.testing.assert_array_equal(result, expected)
    windows["D" if "D" in layout else "F"] = slice(1, 3)
    expected = image[tuple(windows.get(letter, slice(None)) for letter in layout)]
    result = crop(image, layout, crop=(2, 3, 4), crop_pos_x=0, crop_pos_y=1, crop_pos_z=0.4)
    np.testing.assert_array_equal(result, expected)


@given(
    extent=st.integers(1, 12),
    crop_extent=st.integers(1, 30),
    position=st.floats(0, 1, width=32),
    policy=st.sampled_from(sorted(BORDERS)),
)
@settings(max_examples=60, deadline=None)
def test_repeating_the_image(extent: int, crop_extent: int, position: float, policy: str) -> None:
    image = numbers("uint8", (extent, 1, 3), extent)
    anchor = position * (extent - crop_extent)
    first = int(np.trunc(anchor + np.copysign(0.5, anchor)))
    result = crop(image, crop=(crop_extent, 1), crop_pos_y=position, out_of_bounds_policy=policy)
    before, after = max(0, -first), max(0, first + crop_extent - extent)
    padded = np.pad(image, ((before, after), (0, 0), (0, 0)), BORDERS[policy])
    np.testing.assert_array_equal(result, padded[first + before :][:crop_extent])


def test_conversion_saturates_and_drops_the_fraction() -> None:
    values = np.float32([-1.5, 0.5, 1.5, 254.9, 255.4, 300, np.nan, np.inf, -np.inf])
    image = values.reshape(1, -1, 1)
    result = crop(image, dtype=types.UINT8).ravel()
    assert result.tolist() == [0, 0, 1, 254, 255, 255, 0, 255, 0]
    result = crop(image, dtype=types.FLOAT16).ravel()
    assert result[-2:].tolist() == [65504, -65504]


def test_fill_values_of_integers_drop_the_fraction_and_wrap() -> None:
    image = np.zeros((1, 1, 3), np.uint8)
    result = crop(image, crop=(1, 2), out_of_bounds_policy="pad", fill_values=[2.9, -1, 256])
    assert result[0].tolist() == [[2, 255, 0], [0, 0, 0]]


def test_no_fill_values_are_zeros() -> None:
    image = numbers("int16", (1, 1, 3), 0)
    result = crop(image, crop=(1, 2), out_of_bounds_policy="pad", fill_values=[])
    np.testing.assert_array_equal(result, np.append(np.zeros_like(image), image, axis=1))


def test_extent_of_zero_keeps_the_dimension() -> None:
    image = numbers("uint8", (6, 7, 3), 0)
    np.testing.assert_array_equal(crop(image, crop=(0, 4)), image[:, 2:6])
    np.testing.assert_array_equal(crop(image, crop=(0, 0)), image)


def test_zero_copy_of_the_whole_image() -> None:
    assert shares_memory("crop")
    assert shares_memory("crop", crop=(0, 7), dtype=types.UINT8)
    assert not shares_memory("crop", crop=(0, 6))
    assert not shares_memory("crop", dtype=types.FLOAT)


def test_layout_where_none_is_given() -> None:
    for shape, layout in (((6, 7), "HW"), ((6, 7, 3), "HWC"), ((2, 6, 7, 3), "DHWC")):
        image = numbers("uint8", shape, 0)
        with pipeline(batch_size=1) as made:
            with made:
                made.set_outputs(fn.crop(fn.external_source(source=lambda: [image]), crop=(3, 3)))  # noqa: B023
            (batch,) = made.run()
        assert batch.layout() == layout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"crop": (1, 2, 3, 4)}, r"crop must be \(height, width\)"),
        ({"crop_w": 3}, "crop_w and crop_h must be given together"),
        ({"crop_d": 3}, "crop_d must be given together with"),
        ({"crop": (3, 3), "crop_w": 3, "crop_h": 3}, "'crop' must not be given together"),
        ({"rounding": "up"}, "'rounding' must be"),
        ({"out_of_bounds_policy": "grow"}, "out_of_bounds_policy must be"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        crop(np.zeros((4, 4, 3), np.uint8), **arguments)


@pytest.mark.parametrize(
    ("layout", "arguments", "message"),
    [
        (
            "HWC",
            {"crop": (9, 3)},
            r"the window must lie inside the input \(got a window of shape \(9, 3, 3\)",
        ),
        ("HWC", {"crop": (3, 3), "crop_pos_x": 1.1}, "'crop_pos_x' must be from 0 to 1"),
        (
            "HWC",
            {"crop": (9, 3), "out_of_bounds_policy": "pad", "fill_values": [1, 2]},
            "each of the 3 channels",
        ),
        ("HWC", {"dtype": types.INT16}, "dtype must be UINT8, FLOAT16, FLOAT or the input's type"),
        ("HXC", {}, "layout must have H and W"),
        ("HHW", {}, "layout must have H and W"),
    ],
)
def test_invalid_samples(layout: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        crop(np.zeros((4, 4, 3), np.uint8), layout, **arguments)
