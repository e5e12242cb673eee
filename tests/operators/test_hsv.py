"""Changing hue, saturation and value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import SampleError
from tests.operators.colors import COLOR_TYPES, check_rounded, turned
from tests.operators.suite import Example, images, numbers, run_on, shares_memory, type_of

ALL = {"hue": -75.0, "saturation": 0.5, "value": 1.25}
EXAMPLES = [
    Example("bytes", [images()], ALL),
    Example("to-float", [images("FHWC")], {**ALL, "dtype": types.FLOAT}),
    Example("from-float", [images("DHWC", "float32")], ALL),
]


def hsv(image: np.ndarray, **arguments: Any) -> np.ndarray:
    return run_on("hsv", [image], "HWC", **arguments)[0]


@pytest.mark.parametrize("target", COLOR_TYPES)
@pytest.mark.parametrize("source", COLOR_TYPES)
def test_types(source: str, target: str) -> None:
    image = numbers("uint8", (19, 33, 3), 2).astype(source)
    exact = 1.25 * turned(image, -75.0, 0.5)
    check_rounded(hsv(image, dtype=type_of(target), **ALL), exact, target)


@pytest.mark.parametrize("source", COLOR_TYPES)
def test_output_is_in_bytes_by_default(source: str) -> None:
    assert hsv(np.ones((2, 2, 3), source), value=2.0).tolist() == [[[2] * 3] * 2] * 2
    assert hsv(np.ones((2, 2, 3), source)).dtype == np.uint8


def test_hue_is_an_angle() -> None:
    image = numbers("uint8", (9, 9, 3), 3)
    near = hsv(image, hue=40.0).astype(int) - hsv(image, hue=400.0)
    assert np.abs(near).max() <= 1
    assert not np.array_equal(hsv(image, hue=40.0), hsv(image, hue=-40.0))


def test_zero_copy_if_unchanged() -> None:
    assert shares_memory("hsv")
    assert not shares_memory("hsv", value=0.5)


def test_grey_images_raise() -> None:
    with pytest.raises(SampleError, match="must have 3 channels"):
        hsv(np.zeros((2, 2, 1), np.uint8))
