"""Affine transforms that move points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core.errors import SampleError
from tests.operators.matrices import check_close, matrices, square, transforms
from tests.operators.suite import Example

EXAMPLES = [
    Example("alone", (), {"offset": [1.0, 2.0, 3.0]}),
    Example("after", [matrices(2)], {"offset": [1.0, -2.0]}),
    Example("before", [matrices(2, "FRC")], {"offset": [1.0, -2.0], "reverse_order": True}),
]
MATRIX = np.float32([[1, 2, 3], [4, 5, 6]])


def translation(*inputs: np.ndarray, **arguments: Any) -> np.ndarray:
    return transforms("transforms.translation", *inputs, **arguments)[0]


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=6))
def test_matrix(offset: list[float]) -> None:
    expected = np.column_stack([np.eye(len(offset)), offset])
    np.testing.assert_array_equal(translation(offset=offset), expected.astype(np.float32))


def test_order() -> None:
    moved = square(translation(offset=[10, 20]))
    check_close(translation(MATRIX, offset=[10, 20]), (moved @ square(MATRIX))[:2])
    check_close(
        translation(MATRIX, offset=[10, 20], reverse_order=True), (square(MATRIX) @ moved)[:2]
    )


def test_layouts() -> None:
    assert transforms("transforms.translation", offset=[1, 2])[1] == "**"
    assert transforms("transforms.translation", MATRIX, layouts=["RC"], offset=[1, 2])[1] == "**"


def test_value_for_each_frame() -> None:
    offsets = np.float32([[1, 2], [3, 4], [5, 6]])
    result, layout = transforms("transforms.translation", offset=(offsets, "F*"))
    assert layout == "F**"
    np.testing.assert_array_equal(result[:, :, 2], offsets)
    np.testing.assert_array_equal(result[:, :, :2], np.tile(np.eye(2, dtype=np.float32), (3, 1, 1)))
    many = np.stack([MATRIX, MATRIX * 2, MATRIX * 3])
    result = translation(many, layouts=["FRC"], offset=(offsets, "F*"))
    np.testing.assert_array_equal(result[:, :, 2], many[:, :, 2] + offsets)
    result = translation(MATRIX, offset=(offsets, "F*"))
    np.testing.assert_array_equal(result[:, :, 2], MATRIX[:, 2] + offsets)
    result = translation(many, layouts=["FRC"], offset=(offsets[:1], "F*"))
    np.testing.assert_array_equal(result[:, :, 2], many[:, :, 2] + offsets[0])


def test_offset_of_another_type() -> None:
    result = translation(offset=np.int32([1, 2]))
    np.testing.assert_array_equal(result, np.float32([[1, 0, 1], [0, 1, 2]]), strict=True)


@pytest.mark.parametrize(
    ("inputs", "arguments", "message"),
    [
        ([], {"offset": []}, r"must have 1 to 6 dimensions \(got 0\)"),
        ([], {"offset": [0] * 7}, r"must have 1 to 6 dimensions \(got 7\)"),
        ([MATRIX], {"offset": [1, 2, 3]}, r"as many dimensions as the input \(got 3 and 2\)"),
        ([MATRIX.astype(np.float64)], {"offset": [1, 2]}, r"float32 matrices .* \(got float64"),
        ([MATRIX[:, :2]], {"offset": [1, 2]}, r"\(got float32 of shape \(2, 2\)\)"),
        ([np.zeros((7, 8), np.float32)], {"offset": [0] * 6}, "with N from 1 to 6"),
        ([MATRIX[None]], {"offset": [1, 2]}, "set a layout that starts with F"),
    ],
)
def test_invalid_calls(inputs: list[np.ndarray], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        translation(*inputs, **arguments)


def test_frames_that_do_not_match() -> None:
    two, three = np.zeros((2, 2), np.float32), np.zeros((3, 2, 3), np.float32)
    with pytest.raises(SampleError, match=r"offset must have one value for each of the 3 frames"):
        translation(three, layouts=["FRC"], offset=(two, "F*"))
    with pytest.raises(SampleError, match="sequences of arguments must have a frame"):
        translation(offset=(two[:0], "F*"))
