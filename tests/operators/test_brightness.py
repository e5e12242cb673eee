"""Changing the brightness."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from tests.operators.colors import COLOR_TYPES
from tests.operators.suite import Example, images, numbers, run_on, shares_memory

ALL = {"brightness": 0.75, "brightness_shift": 0.125}
EXAMPLES = [
    Example("bytes", [images()], ALL),
    Example("to-float", [images("FHWC")], {**ALL, "dtype": types.FLOAT}),
    Example("float", [images("DHWC", "float32")], ALL),
]


@pytest.mark.parametrize("dtype", COLOR_TYPES)
def test_equals_brightness_contrast(dtype: str) -> None:
    image = numbers("uint8", (9, 21, 3), 0).astype(dtype)
    (expected,) = run_on("brightness_contrast", [image], "HWC", **ALL)
    (result,) = run_on("brightness", [image], "HWC", **ALL)
    np.testing.assert_array_equal(result, expected, strict=True)
    assert not np.array_equal(result, image)


def test_numbers() -> None:
    image = np.uint8([[[0, 10, 200]]])
    assert run_on("brightness", [image], "HWC", brightness=2.0)[0].tolist() == [[[0, 20, 255]]]
    assert run_on("brightness", [image], "HWC", brightness_shift=0.2)[0].tolist() == [
        [[51, 61, 251]]
    ]


def test_zero_copy_if_unchanged() -> None:
    assert shares_memory("brightness")
    assert not shares_memory("brightness", brightness=0.5)
