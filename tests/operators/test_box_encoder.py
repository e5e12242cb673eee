"""Boxes matched with anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.boxes import BOXES, LABELS, boxes_of, run_on_inputs
from tests.operators.suite import Example

ANCHORS = boxes_of(0, seed=1, count=20)
EXAMPLES = [
    Example("boxes", [BOXES, LABELS], {"anchors": ANCHORS.ravel().tolist(), "criteria": 0.25}),
    Example(
        "deltas",
        [BOXES, LABELS],
        {
            "anchors": ANCHORS.ravel().tolist(),
            "offset": True,
            "scale": 300.0,
            "means": [0.0, 0.1, 0.2, 0.3],
            "stds": [0.1, 0.1, 0.2, 0.2],
        },
    ),
]


def overlaps(boxes: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """Return the intersection over union of every box with every anchor."""
    low = np.maximum(boxes[:, None, :2], anchors[:, :2])
    high = np.minimum(boxes[:, None, 2:], anchors[:, 2:])
    shared = np.clip(high - low, 0, None).prod(-1)
    areas = [(one[:, 2:] - one[:, :2]).prod(-1) for one in (boxes, anchors)]
    return shared / (areas[0][:, None] + areas[1] - shared)


@pytest.mark.parametrize("criteria", [0.1, 0.3, 0.5, 0.9])
def test_matches(criteria: float) -> None:
    boxes, labels = boxes_of(0, count=6), np.arange(1, 7, dtype=np.int32)
    found, numbers = run_on_inputs(
        "box_encoder", boxes, labels, anchors=ANCHORS.ravel().tolist(), criteria=criteria
    )
    table = overlaps(boxes, ANCHORS)
    expected = np.where(table.max(0) > criteria, table.argmax(0) + 1, 0)
    expected[table.argmax(1)] = labels
    np.testing.assert_array_equal(numbers, expected)
    corners = np.where(numbers[:, None] > 0, boxes[numbers - 1], ANCHORS)
    center = (corners[:, :2] + corners[:, 2:]) / 2
    np.testing.assert_allclose(found[:, :2], center, atol=1e-6)
    np.testing.assert_allclose(found[:, 2:], corners[:, 2:] - corners[:, :2], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchors": []}, "anchors"),
        ({"anchors": [0.0, 0.0, 1.0, 1.0, 2.0]}, "anchors must be four numbers each"),
        ({"stds": [0.0, 1.0, 1.0, 1.0]}, "stds"),
        ({"means": [0.0]}, "means"),
        ({"scale": 0.0}, "scale"),
        ({"criteria": float("nan")}, "criteria"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on_inputs(
            *("box_encoder", boxes_of(1), np.zeros(1, np.int32)),
            **{"anchors": ANCHORS.ravel().tolist(), **arguments},
        )


@pytest.mark.parametrize(
    ("boxes", "labels", "message"),
    [
        (np.full((1, 4), np.nan, "f4"), np.zeros(1, "i4"), "boxes must be finite"),
        (np.zeros((1, 3), "f4"), np.zeros(1, "i4"), "boxes must be float32 of shape"),
        (np.zeros((2, 4), "f4"), np.zeros(1, "i4"), "labels must be one for each"),
        (np.zeros((2, 4), "f4"), np.zeros((2, 2), "i4"), "labels must be one int32"),
        (np.zeros((2, 4), "f4"), np.zeros(2, "i8"), "labels must be one int32"),
    ],
)
def test_inputs_that_do_not_fit(boxes: np.ndarray, labels: np.ndarray, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on_inputs("box_encoder", boxes, labels, anchors=ANCHORS.ravel().tolist())


def test_logarithms() -> None:
    """Widths of all magnitudes have the logarithms that NumPy finds."""
    widths = np.float32(10.0) ** np.arange(-12, 12, dtype=np.float32) * np.float32(1.37)
    for width in widths:
        box = np.float32([[0, 0, width, 1]])
        deltas, _ = run_on_inputs(
            "box_encoder", box, np.int32([1]), anchors=[0.0, 0.0, 1.0, 1.0], offset=True
        )
        np.testing.assert_allclose(deltas[0, 2], np.log(np.float64(width)), rtol=1e-7)
        assert deltas[0, 3] == 0
