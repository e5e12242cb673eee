"""Affine transforms that shear."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.matrices import check_close, matrices, square, transforms
from tests.operators.suite import Example

EXAMPLES = [
    Example("plane", (), {"shear": [2.0, 0.5], "center": [10.0, -3.0]}),
    Example("space", (), {"angles": [10.0, 20.0, -30.0, 5.0, 0.0, 45.0]}),
    Example("after", [matrices(2)], {"shear": [1.0, -2.0]}),
    Example("before", [matrices(2, "FRC")], {"angles": [10.0, 1.0], "reverse_order": True}),
]


def shear(*inputs: np.ndarray, **arguments: Any) -> np.ndarray:
    return transforms("transforms.shear", *inputs, **arguments)[0]


def test_matrix() -> None:
    check_close(shear(shear=[2, 3]), [[1, 2, 0], [3, 1, 0]])
    check_close(shear(shear=[2, 3], center=[10, 20]), [[1, 2, -40], [3, 1, -30]])
    space = [[1, 2, 3, 0], [4, 1, 5, 0], [6, 7, 1, 0]]
    check_close(shear(shear=[2, 3, 4, 5, 6, 7]), space)
    check_close(shear(shear=np.float32([[2, 3], [4, 5], [6, 7]])), space)


def test_angles() -> None:
    angles = np.array([10, 20, -30, 5, 0, 45])
    check_close(shear(angles=angles.tolist()), shear(shear=np.tan(np.deg2rad(angles)).tolist()))


def test_center_stays() -> None:
    check_close(square(shear(shear=[2, 3], center=[5, 7])) @ [5, 7, 1], [5, 7, 1])


def test_order() -> None:
    matrix = np.float32([[1, 2, 3], [4, 5, 6]])
    sheared, before = square(shear(shear=[2, 3])), square(matrix)
    check_close(shear(matrix, shear=[2, 3]), (sheared @ before)[:2])
    check_close(shear(matrix, shear=[2, 3], reverse_order=True), (before @ sheared)[:2])


def test_value_for_each_frame() -> None:
    result = shear(shear=(np.float32([[1, 2], [3, 4]]), "F*"))
    np.testing.assert_array_equal(result[:, 0, 1], [1, 3])
    np.testing.assert_array_equal(result[:, 1, 0], [2, 4])


def test_shear_or_angles() -> None:
    with pytest.raises(ArgumentValueError, match=r"exactly one .* \(got none"):
        shear()
    with pytest.raises(ArgumentValueError, match=r"exactly one .* \(got 'shear' and 'angles'"):
        shear(shear=[1, 2], angles=[1, 2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shear": 2}, r"shear must be 2 numbers for two dimensions or 6 for three \(got 1\)"),
        ({"angles": [1, 2, 3]}, r"angles must be 2 numbers .* \(got 3\)"),
        ({"angles": [91, 0]}, r"'angles', entry .* must be from -90 to 90 \(got 91"),
        ({"shear": [1, 2], "center": [1, 2, 3]}, "center must .* each of 2 dimensions"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        shear(**arguments)
