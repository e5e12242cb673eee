"""Changing the contrast."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from tests.operators.colors import COLOR_TYPES
from tests.operators.suite import Example, images, numbers, run_on, shares_memory

ALL = {"contrast": 1.5, "contrast_center": 100.0}
EXAMPLES = [
    Example("bytes", [images()], ALL),
    Example("to-float", [images("FHWC")], {**ALL, "dtype": types.FLOAT}),
    Example("float", [images("DHWC", "float32")], ALL),
    Example("middle", [images()], {"contrast": 0.5}),
]


@pytest.mark.parametrize("arguments", [ALL, {"contrast": 0.25}])
@pytest.mark.parametrize("dtype", COLOR_TYPES)
def test_equals_brightness_contrast(dtype: str, arguments: dict[str, float]) -> None:
    image = numbers("uint8", (9, 21, 3), 0).astype(dtype)
    (expected,) = run_on("brightness_contrast", [image], "HWC", **arguments)
    (result,) = run_on("contrast", [image], "HWC", **arguments)
    np.testing.assert_array_equal(result, expected, strict=True)
    assert not np.array_equal(result, image)


def test_numbers() -> None:
    image = np.uint8([[[0, 100, 200]]])
    assert run_on("contrast", [image], "HWC", contrast=0.5)[0].tolist() == [[[64, 114, 164]]]
    assert run_on("contrast", [image], "HWC", **ALL)[0].tolist() == [[[0, 100, 250]]]


def test_zero_copy_if_unchanged() -> None:
    assert shares_memory("contrast")
    assert not shares_memory("contrast", contrast=0.5)
