"""Padding the sequences of a batch to one length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn, types
from dali_core.errors import SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, pipeline

EXAMPLES = [
    Example("fixed", [images()], {"length": 40, "pad_to": 8, "fill_value": 3.0}),
    Example("left", [images("CHW", "float32")], {"axis": -1, "side": "left", "length": 100}),
    Example("extents", [images(), Input(lambda _: np.int64([40, 1, 4]))], {"axis": 1}),
    Example("largest", [images()], {"mask_dtype": types.BOOL}, depends_on_batch=True),
]


def padded_with_masks(arrays: list[np.ndarray], **arguments: Any) -> list[list[np.ndarray]]:
    with pipeline(batch_size=len(arrays)) as made:
        with made:
            data = fn.external_source(source=lambda: list(arrays))
            made.set_outputs(*fn.pad_batch(data, **arguments))
        outputs = made.run()
        return [[np.array(batch.at(i)) for i in range(len(arrays))] for batch in outputs]


@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    multiple=st.integers(1, 8),
    side=st.sampled_from(["left", "right"]),
    most=st.none() | st.integers(0, 9),
)
@settings(max_examples=25, deadline=None)
def test_values_masks_and_lengths(
    lengths: list[int], multiple: int, side: str, most: int | None
) -> None:
    arrays = [np.arange(1, length + 1, dtype=np.int32) for length in lengths]
    cut = {} if most is None else {"max_length": most}
    values, masks, counts = padded_with_masks(
        arrays, pad_to=multiple, side=side, fill_value=-7, **cut
    )
    kept = [array[:most] for array in arrays]
    longest = max(map(len, kept))
    assert {len(value) for value in values} == {-(-longest // multiple) * multiple}
    for value, mask, count, array in zip(values, masks, counts, kept, strict=True):
        margin = len(value) - len(array)
        widths = (margin, 0) if side == "left" else (0, margin)
        np.testing.assert_array_equal(value, np.pad(array, widths, constant_values=-7), strict=True)
        np.testing.assert_array_equal(
            mask, np.pad(np.ones(len(array), np.int32), widths), strict=True
        )
        assert count.dtype == np.int32
        assert count == len(array)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_axis(dtype: str) -> None:
    arrays = [numbers(dtype, shape, 0) for shape in ((2, 7, 3), (5, 4, 3))]
    for axis in (0, 1, -2):
        for result, array in zip(
            padded_with_masks(arrays, axis=axis, fill_value=1)[0], arrays, strict=True
        ):
            extent = (5, 7, 3)[axis]
            widths = [(0, extent - array.shape[axis] if i == axis % 3 else 0) for i in range(3)]
            np.testing.assert_array_equal(
                result, np.pad(array, widths, constant_values=1), strict=True
            )


def test_fixed_length() -> None:
    arrays = [np.arange(2), np.arange(5)]
    values = padded_with_masks(arrays, length=3, max_length=3)[0]
    assert [value.tolist() for value in values] == [[0, 1, 0], [0, 1, 2]]
    with pytest.raises(SampleError, match=r"at most length=3 elements \(got 5\)"):
        padded_with_masks(arrays, length=3)


def test_mask_types() -> None:
    masks = padded_with_masks([np.arange(2), np.arange(3)], mask_dtype=types.BOOL)[1]
    assert [mask.tolist() for mask in masks] == [[True, True, False], [True] * 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axis": 1}, "axis must be from -1 to 0"),
        ({"pad_to": 2**47}, "padded length"),
        ({"length": 2**40}, "padded length"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        padded_with_masks([np.zeros(3)], **arguments)
