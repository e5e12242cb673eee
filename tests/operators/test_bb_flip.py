"""Boxes mirrored with their image."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core.errors import SampleError
from tests.operators.boxes import BOXES, boxes_of, run_on_inputs
from tests.operators.suite import Example

EXAMPLES = [
    Example("plain", [BOXES]),
    Example("corners", [BOXES], {"ltrb": True, "horizontal": 0, "vertical": 1}),
]


@pytest.mark.parametrize("ltrb", [False, True])
def test_flipping_twice_is_the_identity(ltrb: bool) -> None:
    boxes = boxes_of(0, count=5)
    both = {"horizontal": 1, "vertical": 1, "ltrb": ltrb}
    (once,) = run_on_inputs("bb_flip", boxes, **both)
    (twice,) = run_on_inputs("bb_flip", once, **both)
    assert not np.allclose(once, boxes)
    np.testing.assert_allclose(twice, boxes, atol=1e-6)


def test_pixels_move_with_the_image() -> None:
    image = np.zeros((20, 40), np.uint8)
    image[4:8, 10:30] = 1
    flipped = np.argwhere(image[::-1])
    box = np.array([[10 / 40, 4 / 20, 30 / 40, 8 / 20]], np.float32)
    (found,) = run_on_inputs("bb_flip", box, horizontal=0, vertical=1, ltrb=True)
    corners = [*(flipped.min(0)[::-1] / [40, 20]), *((flipped.max(0) + 1)[::-1] / [40, 20])]
    np.testing.assert_allclose(found[0], corners, atol=1e-6)


@pytest.mark.parametrize(
    "boxes", [np.zeros((2, 4)), np.zeros((4, 3), np.float32), np.float32(1), np.zeros(4, np.int32)]
)
@pytest.mark.parametrize("operator", ["bb_flip", "bbox_paste"])
def test_invalid_boxes_raise(operator: str, boxes: np.ndarray) -> None:
    ratio = {"ratio": 2.0} if operator == "bbox_paste" else {}
    with pytest.raises(SampleError, match="boxes must be float32 with four numbers in a row"):
        run_on_inputs(operator, np.asarray(boxes), **ratio)
