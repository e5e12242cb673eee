"""Affine transforms that scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.matrices import check_close, matrices, square, transforms
from tests.operators.suite import Example

EXAMPLES = [
    Example("alone", (), {"scale": [2.0, 0.5], "center": [10.0, -3.0]}),
    Example("one-factor", (), {"scale": [2.0], "center": [1.0], "ndim": 3}),
    Example("after", [matrices(3)], {"scale": [2.0]}),
    Example("before", [matrices(2, "FRC")], {"scale": [2.0, 3.0], "reverse_order": True}),
]


def scale(*inputs: np.ndarray, **arguments: Any) -> np.ndarray:
    return transforms("transforms.scale", *inputs, **arguments)[0]


def test_matrix() -> None:
    check_close(scale(scale=[2, 3]), [[2, 0, 0], [0, 3, 0]])
    check_close(scale(scale=[2, 3], center=[10, 20]), [[2, 0, -10], [0, 3, -40]])
    check_close(scale(scale=[2, 3], center=10), [[2, 0, -10], [0, 3, -20]])


def test_dimensions() -> None:
    assert scale(scale=2).shape == (1, 2)
    assert scale(scale=2, ndim=4).shape == (4, 5)
    assert scale(scale=[2, 3], ndim=4).shape == (2, 3)
    matrix = np.float32([[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(scale(matrix, scale=2, ndim=3), matrix * 2)


def test_order() -> None:
    matrix = np.float32([[1, 2, 3], [4, 5, 6]])
    scaled = square(scale(scale=[2, 3], center=[1, 1]))
    arguments = {"scale": [2, 3], "center": [1, 1]}
    check_close(scale(matrix, **arguments), (scaled @ square(matrix))[:2])
    check_close(scale(matrix, reverse_order=True, **arguments), (square(matrix) @ scaled)[:2])


def test_value_for_each_frame() -> None:
    factors = np.float32([[1, 2], [3, 4]])
    result = scale(scale=(factors, "F*"), center=[1, 1])
    np.testing.assert_array_equal(result[:, [0, 1], [0, 1]], factors)
    np.testing.assert_array_equal(result[:, :, 2], 1 - factors)
    result = scale(scale=2, center=(factors, "F*"), ndim=2)
    np.testing.assert_array_equal(result[:, :, 2], -factors)


def test_invalid_calls() -> None:
    with pytest.raises(ArgumentValueError, match=r"'ndim' must be from 1 to 6 \(got 7\)"):
        scale(scale=1, ndim=7)
    with pytest.raises(SampleError, match="center must have one number, or one for each of 2"):
        scale(scale=[2, 3], center=[1, 2, 3])
    with pytest.raises(SampleError, match=r"center must .* each of 1 dimensions \(got 2\)"):
        scale(scale=2, center=[1, 2])
