"""Points mirrored coordinate by coordinate."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.boxes import run_on_inputs
from tests.operators.suite import Example, Input, numbers

EVERYTHING = {
    "flip_x": 0,
    "flip_y": 1,
    "flip_z": 1,
    "center_x": 1.0,
    "center_y": 2.0,
    "center_z": -3.0,
}
EXAMPLES = [
    Example("plane", [Input(lambda number: numbers("float32", (number % 3, 2), number))]),
    Example("space", [Input(lambda number: numbers("float32", (4, 3), number))], EVERYTHING),
]
POINTS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def test_coordinates_follow_the_layout() -> None:
    (found,) = run_on_inputs("coord_flip", POINTS, layout="zyx", **EVERYTHING)
    np.testing.assert_array_equal(found, [[-7, 2, 3], [-10, -1, 6]])


@pytest.mark.parametrize("layout", ["xx", "ab", "xyzx"])
def test_layout_must_name_coordinates(layout: str) -> None:
    with pytest.raises(ArgumentValueError, match="letters x, y and z once each"):
        run_on_inputs("coord_flip", POINTS, layout=layout)


@pytest.mark.parametrize("points", [POINTS[0], POINTS.astype(np.int32), np.zeros((2, 4), "f4")])
def test_invalid_points_raise(points: np.ndarray) -> None:
    with pytest.raises(SampleError, match="points must be float32 of shape"):
        run_on_inputs("coord_flip", points)
