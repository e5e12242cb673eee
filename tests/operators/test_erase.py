"""Erasing regions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    images,
    numbers,
    run_on,
    shares_memory,
)

EXAMPLES = [
    Example(
        "two",
        [images()],
        {"anchor": [1.0, 2.0, 5.5, 0.0], "shape": [3.0, 9.0, 9.5, 4.0], "fill_value": [9.0]},
    ),
    Example(
        "channels",
        [images("CHW", "float32")],
        {
            "anchor": [0.25, 0.5],
            "shape": [0.5, 0.25],
            "normalized": True,
            "centered_anchor": True,
            "fill_value": [1.0, -2.5, 3.0],
        },
    ),
    Example("axes", [images("FHWC")], {"anchor": [1.0], "shape": [1.0], "axes": [-2]}),
]


def erase(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("erase", [image], layout, **arguments)[0]


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    image = numbers(dtype, (6, 7, 3), 1)
    expected = image.copy()
    expected[1:3, 2:6] = 1
    result = erase(image, anchor=[1.9, 2.0], shape=[1.1, 4.9], fill_value=1)
    np.testing.assert_array_equal(result, expected, strict=True)


@settings(max_examples=40)
@given(
    layout=st.sampled_from(["HW", "HWC", "CHW", "FHWC", "FCHW", "HCW", "DHWC"]),
    data=st.data(),
)
def test_regions(layout: str, data: st.DataObject) -> None:
    shape = data.draw(st.tuples(*[st.integers(1, 6)] * len(layout)))
    names = "".join(data.draw(st.permutations([*layout]))[: data.draw(st.integers(1, len(layout)))])
    count = data.draw(st.integers(1, 3)) * len(names)
    limits = st.floats(-3, 9, width=32)
    anchor, extents = (
        data.draw(st.lists(limits, min_size=count, max_size=count)) for _ in range(2)
    )
    per_channel = "C" in layout and data.draw(st.booleans())
    values = [float(i + 1) for i in range(shape[layout.find("C")] if per_channel else 1)]
    image = numbers("uint8", shape, 3)
    expected = image.copy()
    filler = np.array(values, np.uint8)
    if per_channel:
        filler = filler.reshape([-1 if letter == "C" else 1 for letter in layout])
    filler = np.broadcast_to(filler, shape)
    for first in range(0, count, len(names)):
        window = [slice(None)] * len(layout)
        for i, name in enumerate(names):
            start = np.float32(anchor[first + i])
            stop = np.float32(start + np.float32(extents[first + i]))
            window[layout.find(name)] = slice(max(int(start), 0), max(int(stop), 0))
        expected[tuple(window)] = filler[tuple(window)]
    result = erase(image, layout, anchor=anchor, shape=extents, axis_names=names, fill_value=values)
    np.testing.assert_array_equal(result, expected)


def test_dimensions_by_default() -> None:
    image = np.zeros((2, 3, 4, 1), np.uint8)
    result = erase(image, "FHWC", anchor=[0, 1, 2], shape=[1, 1, 1], fill_value=5)
    assert np.argwhere(result).tolist() == [[0, 1, 2, 0]]
    without_layout = erase(image, "", anchor=[0, 1, 2, 0], shape=[1, 1, 1, 1], fill_value=5)
    np.testing.assert_array_equal(without_layout, result)


def test_normalized_anchor_or_shape() -> None:
    image = np.zeros((8, 10), np.uint8)
    result = erase(image, "HW", anchor=[0.5, 0.5], shape=[2, 3], normalized_anchor=True)
    assert not result.any()
    for arguments in (
        {"anchor": [0.5, 0.5], "shape": [2, 3], "normalized_anchor": True},
        {"anchor": [4, 5], "shape": [0.25, 0.3], "normalized_shape": True},
        {"anchor": [0.5, 0.5], "shape": [0.25, 0.3], "normalized": True},
        {
            "anchor": [0.625, 0.65],
            "shape": [0.25, 0.3],
            "normalized": True,
            "centered_anchor": True,
        },
    ):
        result = erase(image, "HW", fill_value=1, **arguments)
        assert np.argwhere(result).tolist() == [[y, x] for y in (4, 5) for x in (5, 6, 7)]


def test_fill_value_of_integers_drops_the_fraction_and_wraps() -> None:
    for value, expected in ((2.9, 2), (300, 44), (-3.7, 253)):
        result = erase(np.zeros((1, 2), np.uint8), "HW", shape=[1, 1], fill_value=value)
        assert result.tolist() == [[expected, 0]]


def test_zero_copy_without_regions() -> None:
    assert shares_memory("erase")
    assert shares_memory("erase", anchor=[1, 1], shape=[0, 5])
    assert shares_memory("erase", anchor=[100, 1], shape=[5, 5])
    assert not shares_memory("erase", shape=[1, 1])


def test_empty_arrays() -> None:
    assert erase(np.zeros((0, 4, 3), np.uint8), shape=[2, 2]).shape == (0, 4, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchor": [1, 2]}, "anchor and shape must have equally many numbers"),
        ({"anchor": [1] * 3, "shape": [1] * 3}, "shape must have 2 numbers for each region"),
        ({"shape": [1, 2], "axis_names": "HX"}, "axis_names must be letters"),
        ({"shape": [1], "axes": [3]}, "axes must be from -3 to 2"),
        ({"shape": [1, 2], "fill_value": [1, 2]}, "one for each of the 3 channels"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        erase(np.zeros((4, 5, 3)), **arguments)


def test_invalid_arguments() -> None:
    with pytest.raises(ArgumentValueError, match="'normalized' must not be given together"):
        erase(np.zeros((4, 5, 3)), normalized=True, normalized_anchor=False)
    with pytest.raises(SampleError, match="must be one number where the input's layout has no"):
        erase(np.zeros((4, 5)), "HW", shape=[1, 1], fill_value=[1, 2])
