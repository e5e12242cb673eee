"""Boxes rotated with their image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.boxes import BOXES, LABELS, boxes_of, run_on_inputs
from tests.operators.suite import Example

SHAPE = {"angle": 33.0, "input_shape": [60, 80]}
EXAMPLES = [
    Example("boxes", [BOXES], SHAPE),
    Example("labels", [BOXES, LABELS], {**SHAPE, "keep_size": True, "mode": "halfway"}),
    Example("size", [BOXES, LABELS], {**SHAPE, "size": [40.0, 100.0], "bbox_layout": "xyWH"}),
]


@pytest.mark.parametrize("keep_size", [False, True])
@pytest.mark.parametrize("angle", [0.0, 20.0, 90.0, 145.0, -70.0])
def test_boxes_hold_the_rotated_pixels(angle: float, keep_size: bool) -> None:
    image = np.zeros((60, 80, 1), np.uint8)
    image[20:30, 30:60] = 255
    box = np.array([[30 / 80, 20 / 60, 60 / 80, 30 / 60]], np.float32)
    (rotated,) = run_on_inputs("rotate", image, angle=angle, keep_size=keep_size, fill_value=0.0)
    (found,) = run_on_inputs(
        "bbox_rotate", box, angle=angle, keep_size=keep_size, input_shape=[60, 80]
    )
    height, width = rotated.shape[:2]
    pixels = np.argwhere(rotated[..., 0] > 127)
    expected = np.concatenate([pixels.min(0)[::-1], pixels.max(0)[::-1] + 1])
    np.testing.assert_allclose(found[0] * [width, height, width, height], expected, atol=1.5)


def test_labels_vanish_with_their_boxes() -> None:
    boxes = np.array([[0.4, 0.4, 0.6, 0.6], [0.0, 0.0, 0.1, 0.1]], np.float32)
    labels = np.array([[3, 4], [5, 6]], np.int64)
    found, left = run_on_inputs(
        "bbox_rotate", boxes, labels, angle=45.0, input_shape=[50, 50], keep_size=True
    )
    assert found.shape == (1, 4)
    np.testing.assert_array_equal(left, [[3, 4]])
    found, left = run_on_inputs(
        *("bbox_rotate", boxes, labels),
        angle=45.0,
        input_shape=[50, 50],
        keep_size=True,
        remove_threshold=0.0,
    )
    assert len(found) == len(left) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape_layout": "CD"}, "shape_layout must have the letters H and W"),
        ({"size": [9.0, 9.0], "keep_size": True}, "size and keep_size must not"),
        ({"input_shape": [0, 4]}, "input_shape"),
        ({"remove_threshold": 1.5}, "remove_threshold"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on_inputs("bbox_rotate", boxes_of(1), **{**SHAPE, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input_shape": [9]}, "input_shape must have the height and the width"),
        ({"size": [9.0]}, "size must be the height and the width"),
        ({"shape_layout": "CHW"}, "input_shape must have the height and the width"),
    ],
)
def test_shapes_that_do_not_fit(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on_inputs("bbox_rotate", boxes_of(1), **{**SHAPE, **arguments})


def test_boxes_must_be_finite() -> None:
    for number in (np.nan, np.inf, 3e38):
        with pytest.raises(SampleError, match="boxes must be finite"):
            run_on_inputs("bbox_rotate", np.full((1, 4), number, np.float32), **SHAPE)
    with pytest.raises(SampleError, match="labels must be one for each"):
        run_on_inputs("bbox_rotate", boxes_of(1), np.zeros(5), **SHAPE)
