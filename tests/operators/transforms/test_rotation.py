"""Affine transforms that rotate."""

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
    Example("plane", (), {"angle": 30.0, "center": [10.0, -3.0]}),
    Example("space", (), {"angle": 30.0, "axis": [1.0, 2.0, 3.0], "center": [1.0]}),
    Example("after", [matrices(2)], {"angle": -100.0}),
    Example(
        "before", [matrices(3, "FRC")], {"angle": 5.0, "axis": [0, 0, 1], "reverse_order": True}
    ),
]


def rotation(*inputs: np.ndarray, **arguments: Any) -> np.ndarray:
    return transforms("transforms.rotation", *inputs, **arguments)[0]


@given(angle=st.floats(-720, 720, width=32))
def test_plane(angle: float) -> None:
    turn = np.exp(1j * np.deg2rad(angle))
    check_close(rotation(angle=angle), [[turn.real, -turn.imag, 0], [turn.imag, turn.real, 0]])


@given(
    angle=st.floats(-720, 720, width=32),
    axis=st.tuples(*[st.floats(-1, 1, width=32)] * 3).filter(lambda v: np.hypot.reduce(v) > 0.1),
)
def test_space(angle: float, axis: tuple[float, ...]) -> None:
    result = rotation(angle=angle, axis=axis)[:, :3].astype(np.float64)
    direction = np.array(axis) / np.linalg.norm(axis)
    np.testing.assert_allclose(result @ result.T, np.eye(3), atol=1e-5)
    np.testing.assert_allclose(np.linalg.det(result), 1, atol=1e-5)
    np.testing.assert_allclose(result @ direction, direction, atol=1e-5)
    np.testing.assert_allclose(np.trace(result), 1 + 2 * np.cos(np.deg2rad(angle)), atol=1e-4)
    # The part of the matrix whose sign depends on the direction of the rotation.
    skew = np.array([result[2, 1] - result[1, 2], result[0, 2] - result[2, 0]])
    np.testing.assert_allclose(skew, 2 * np.sin(np.deg2rad(angle)) * direction[:2], atol=1e-4)


def test_axis_z_is_the_plane() -> None:
    check_close(rotation(angle=33, axis=[0, 0, 7])[:2, :2], rotation(angle=33)[:, :2])
    check_close(rotation(angle=33, axis=[0, 0, -7]), rotation(angle=-33, axis=[0, 0, 1]))


def test_center_stays() -> None:
    center = np.array([10, -3])
    check_close(square(rotation(angle=77, center=center.tolist())) @ [*center, 1], [*center, 1])


def check_close_order(reverse_order: bool) -> None:
    matrix = np.float32([[1, 2, 3], [4, 5, 6]])
    turned, before = square(rotation(angle=30)), square(matrix)
    expected = before @ turned if reverse_order else turned @ before
    check_close(rotation(matrix, angle=30, reverse_order=reverse_order), expected[:2])


def test_order() -> None:
    check_close_order(False)
    check_close_order(True)


def test_value_for_each_frame() -> None:
    angles = np.float32([0, 90, 180])
    result, layout = transforms("transforms.rotation", angle=(angles, "F"))
    assert layout == "F**"
    np.testing.assert_allclose(result[:, 0, 0], [1, 0, -1], atol=1e-6)
    axes = np.float32([[0, 0, 1], [1, 0, 0]])
    result = rotation(angle=90.0, axis=(axes, "F*"))
    np.testing.assert_allclose(result[0, :, :3] @ [1, 0, 0], [0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(result[1, :, :3] @ [0, 1, 0], [0, 0, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"angle": 30, "axis": [0, 0, 0]}, r"axis must have a length above 0 \(got \(0.0"),
        ({"angle": 30, "axis": [1, 2]}, r"axis must .* one for each of 3 dimensions \(got 2\)"),
        ({"angle": 30, "center": [1, 2, 3]}, "center must .* each of 2 dimensions"),
        ({"angle": np.float32([1, 2])}, r"angle must be one number \(got shape \(2,\)\)"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        rotation(**arguments)


def test_input_of_other_dimensions() -> None:
    with pytest.raises(SampleError, match=r"\(got 2 and 3\)"):
        rotation(np.zeros((3, 4), np.float32), angle=30)
