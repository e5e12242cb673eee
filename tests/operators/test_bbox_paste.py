"""Boxes on a larger canvas."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError
from tests.operators.boxes import BOXES, boxes_of, run_on_inputs
from tests.operators.suite import Example

EXAMPLES = [
    Example("centre", [BOXES], {"ratio": 2.5}),
    Example("corner", [BOXES], {"ratio": 1.5, "paste_x": 1.0, "paste_y": 0.25, "ltrb": True}),
]


def test_boxes_stay_on_their_pixels() -> None:
    image = np.zeros((20, 40, 3), np.uint8)
    image[4:8, 10:30] = 1
    box = np.array([[10 / 40, 4 / 20, 30 / 40, 8 / 20]], np.float32)
    place = {"ratio": 3.0, "paste_x": 0.25, "paste_y": 0.75}
    (canvas,) = run_on_inputs("paste", image, fill_value=0, **place)
    (found,) = run_on_inputs("bbox_paste", box, ltrb=True, **place)
    pixels = np.argwhere(canvas.max(-1))
    expected = np.concatenate([pixels.min(0)[::-1], pixels.max(0)[::-1] + 1])
    np.testing.assert_allclose(found[0] * [120, 60, 120, 60], expected, atol=1e-3)


def test_ratio_of_one_changes_nothing() -> None:
    boxes = boxes_of(0, count=5)
    (found,) = run_on_inputs("bbox_paste", boxes, ratio=1.0)
    np.testing.assert_array_equal(found, boxes)


@pytest.mark.parametrize(
    ("name", "value"), [("ratio", 0.5), ("ratio", float("nan")), ("paste_x", 1.5), ("paste_y", -1)]
)
def test_places_beside_the_canvas(name: str, value: float) -> None:
    with pytest.raises(ArgumentValueError, match=name):
        run_on_inputs("bbox_paste", boxes_of(0), **{"ratio": 2.0, name: float(value)})
