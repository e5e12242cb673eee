"""Pasting images on larger canvases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, images, numbers, run_on, shares_memory

EXAMPLES = [
    Example(
        "colours",
        [images()],
        {
            "ratio": 1.75,
            "fill_value": [10, 20, 300],
            "paste_x": 0.25,
            "paste_y": 1.0,
            "min_canvas_size": 20.5,
        },
    ),
    Example("grey", [images(extents={"C": 1})], {"ratio": 3.0, "fill_value": 7, "n_channels": 1}),
]


def paste(image: np.ndarray, **arguments: Any) -> np.ndarray:
    return run_on("paste", [image], "HWC", **{"ratio": 2.0, "fill_value": 9, **arguments})[0]


@pytest.mark.parametrize(
    ("arguments", "shape", "start"),
    [
        ({"ratio": 2.0}, (8, 12), (2, 3)),
        ({"ratio": 2.0, "paste_x": 0.0, "paste_y": 1.0}, (8, 12), (4, 0)),
        ({"ratio": 2.3, "paste_x": 0.3, "paste_y": 0.7}, (9, 13), (3, 2)),
        ({"ratio": 1.3}, (5, 7), (0, 0)),
        ({"ratio": 1.0, "min_canvas_size": 5.7}, (5, 6), (0, 0)),
        ({"ratio": 1.5, "min_canvas_size": 20.0}, (20, 20), (8, 7)),
    ],
)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_places(
    arguments: dict[str, Any], shape: tuple[int, int], start: tuple[int, int], channels: int
) -> None:
    image = numbers("uint8", (4, 6, channels), 0)
    color = [50, 300, -5, 7][:channels]
    expected = np.empty((*shape, channels), np.uint8)
    expected[:] = np.array(color).astype(np.uint8)
    expected[start[0] : start[0] + 4, start[1] : start[1] + 6] = image
    np.testing.assert_array_equal(paste(image, fill_value=color, **arguments), expected)


def test_one_value_for_all_channels() -> None:
    result = paste(np.zeros((1, 1, 3), np.uint8), fill_value=9)
    assert result.sum() == 3 * 3 * 9


def test_zero_copy_if_the_canvas_is_not_larger() -> None:
    assert shares_memory("paste", ratio=1.0, fill_value=0)
    assert not shares_memory("paste", ratio=2.0, fill_value=0)


def test_empty_arrays() -> None:
    assert paste(np.zeros((0, 3, 3), np.uint8)).shape == (0, 6, 3)
    assert (paste(np.zeros((0, 3, 3), np.uint8), min_canvas_size=4.0) == 9).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ratio": 0.5}, "'ratio' must be at least 1"),
        ({"paste_x": 1.5}, "'paste_x' must be from 0 to 1"),
        ({"paste_y": -0.5}, "'paste_y' must be from 0 to 1"),
        ({"fill_value": [1, 2]}, "one for each of the 3 channels"),
        ({"ratio": 1e9}, "the canvas must have extents below"),
        ({"min_canvas_size": float("inf")}, "'min_canvas_size' must be at least 0 and finite"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        paste(np.zeros((4, 6, 3), np.uint8), **arguments)


def test_invalid_samples() -> None:
    with pytest.raises(SampleError, match="the input must be of type uint8"):
        paste(np.zeros((4, 6, 3), np.int16))
    with pytest.raises(SampleError, match='the input\'s layout must be "HWC"'):
        run_on("paste", [np.zeros((3, 4, 6), np.uint8)], "CHW", ratio=2.0, fill_value=0)
