"""Random pixels of a mask."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.boxes import run_on_inputs
from tests.operators.suite import Example, images, run_on

OPERATOR = "segmentation.random_mask_pixel"
EXAMPLES = [
    Example("any", [images("HW")]),
    Example("above", [images("HW")], {"foreground": 1, "threshold": 100.0}),
    Example("equal", [images("HW", "int32")], {"foreground": 1, "value": 3}),
]
MASK = np.array([[0, 1, 0, 2], [0, 0, 3, 0], [3, 0, 0, 0]], np.int16)
COUNT = 2000


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, np.ones_like(MASK)),
        ({"foreground": 1}, MASK > 0),
        ({"foreground": 1, "threshold": 1.0}, MASK > 1),
        ({"foreground": 1, "value": 3}, MASK == 3),
        ({"foreground": 1, "value": 9}, np.ones_like(MASK)),
        ({"foreground": 0, "value": 3}, np.ones_like(MASK)),
    ],
)
def test_pixels_are_equally_likely(arguments: dict[str, Any], expected: np.ndarray) -> None:
    found = run_on(OPERATOR, [MASK] * COUNT, **arguments)
    counts = Counter(tuple(position.tolist()) for position in found)
    assert set(counts) == {tuple(row) for row in np.argwhere(expected).tolist()}
    mean = COUNT / len(counts)
    assert max(abs(count - mean) for count in counts.values()) <= 5 * np.sqrt(mean)


@pytest.mark.parametrize("mask", [np.zeros((0, 3)), np.float32(3)])
def test_masks_without_pixels(mask: np.ndarray) -> None:
    with pytest.raises(SampleError, match="the mask must have dimensions and elements"):
        run_on_inputs(OPERATOR, np.asarray(mask))


def test_one_kind_of_foreground() -> None:
    with pytest.raises(ArgumentValueError, match="'value' must not be given together"):
        run_on_inputs(OPERATOR, MASK, value=1, threshold=1.0)


def test_nothing_is_above_nan() -> None:
    mask = np.array([np.nan, 5, np.nan], np.float32)
    found = run_on(OPERATOR, [mask] * 20, foreground=1)
    assert {position.item() for position in found} == {1}
