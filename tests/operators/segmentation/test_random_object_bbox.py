"""Random objects of a mask."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.boxes import run_on_inputs
from tests.operators.suite import Example, Input, run_on

OPERATOR = "segmentation.random_object_bbox"


def mask_of(number: int) -> np.ndarray:
    """Return a mask with small objects of four labels; 0 is the background."""
    random = np.random.default_rng(number)
    return random.integers(0, 5, (5 + number, 7)).astype(np.uint8)


MASKS = Input(mask_of)
EXAMPLES = [
    Example("extents", [MASKS], {"foreground_prob": 0.75, "threshold": [1, 2]}),
    Example("ends", [MASKS], {"format": "start_end", "classes": [1, 3], "output_class": True}),
    Example(
        "box",
        [MASKS],
        {"format": "box", "class_weights": [1.0, 3.0, 2.0], "background": 1, "k_largest": 2},
    ),
    Example("objects", [MASKS], {"format": "box", "ignore_class": True}),
]


def objects_in(mask: np.ndarray) -> Counter[tuple[int, ...]]:
    """Find objects by spreading from element to element; count their boxes."""
    left = {tuple(place): mask[tuple(place)] for place in np.argwhere(mask).tolist()}
    found: Counter[tuple[int, ...]] = Counter()
    while left:
        waiting = [next(iter(left))]
        label = left.pop(waiting[0])
        part = []
        while waiting:
            part.append(waiting.pop())
            for axis in range(mask.ndim):
                for step in (-1, 1):
                    near = tuple(x + step * (i == axis) for i, x in enumerate(part[-1]))
                    if left.get(near) == label:
                        del left[near]
                        waiting.append(near)
        places = np.array(part)
        found[(*places.min(0).tolist(), *(places.max(0) + 1).tolist())] += 1
    return found


@pytest.mark.parametrize("shape", [(40,), (9, 8), (5, 4, 6), (3, 3, 3, 3)])
def test_objects_are_equally_likely(shape: tuple[int, ...]) -> None:
    mask = (np.random.default_rng(len(shape)).random(shape) < 0.4).astype(np.int32)
    mask *= np.random.default_rng(9).integers(1, 3, shape, dtype=np.int32)
    expected = objects_in(mask)
    count = 100 * sum(expected.values())
    found = run_on(OPERATOR, [mask] * count, ignore_class=True, format="box")
    counts = Counter(tuple(box.tolist()) for box in found)
    assert set(counts) == set(expected)
    for box, number in counts.items():
        mean = 100 * expected[box]
        assert abs(number - mean) <= 5 * np.sqrt(mean)


def test_long_objects_are_one() -> None:
    spiral = np.ones((41, 41), np.uint8)
    for ring in range(1, 20, 2):
        spiral[ring : 41 - ring, ring : 41 - ring] = 0
        spiral[ring, ring - 1] = 0
        spiral[ring + 1 : 40 - ring, ring + 1 : 40 - ring] = 1
        spiral[ring + 1, ring] = 1
    expected = objects_in(spiral)
    found = run_on(OPERATOR, [spiral] * 200, format="box")
    assert {tuple(box.tolist()) for box in found} <= set(expected)


def test_masks_without_objects_are_whole() -> None:
    for shape in ((4, 5), (0, 5)):
        start, extent, label = run_on_inputs(OPERATOR, np.zeros(shape, np.uint8), output_class=True)
        np.testing.assert_array_equal(start, np.zeros(2, np.int32), strict=True)
        np.testing.assert_array_equal(extent, np.array(shape, np.int32), strict=True)
        assert (label.shape, label) == ((), 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ignore_class": True, "classes": [1]}, "ignore_class must not be given together"),
        ({"k_largest": 0}, "k_largest"),
        ({"foreground_prob": 1.5}, "foreground_prob"),
        ({"format": "other"}, "format"),
        ({"class_weights": [-1.0]}, "class_weights"),
        ({"background": 2**31}, "background"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on_inputs(OPERATOR, mask_of(1), **arguments)


@pytest.mark.parametrize(
    ("mask", "arguments", "message"),
    [
        (np.zeros((2, 2), np.float32), {}, "the mask must have an integer type"),
        (np.uint8(1), {}, "the mask must have dimensions"),
        (mask_of(1), {"threshold": [1, 1, 1]}, "threshold must be one number, or one for each"),
        (mask_of(1), {"classes": [0, 1], "background": 1}, "classes must not have the background"),
        (mask_of(1), {"classes": [1], "class_weights": [1.0, 2.0]}, "class_weights must be one"),
        (np.uint32([2**31]), {"output_class": True}, r"labels must be int32.*\(got 2147483648\)"),
        (np.int64([-(2**31) - 1]), {"output_class": True}, "labels must be int32"),
    ],
)
def test_inputs_that_do_not_fit(mask: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on_inputs(OPERATOR, np.asarray(mask), **arguments)
