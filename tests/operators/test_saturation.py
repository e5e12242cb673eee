"""Changing the saturation."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import SampleError
from tests.operators.colors import COLOR_TYPES, check_rounded, turned
from tests.operators.suite import Example, images, numbers, run_on, shares_memory, type_of

EXAMPLES = [
    Example("bytes", [images()], {"saturation": 0.25}),
    Example("to-float", [images("FHWC")], {"saturation": 0.25, "dtype": types.FLOAT}),
    Example("float", [images("DHWC", "float32")], {"saturation": 0.25}),
]


@pytest.mark.parametrize("target", COLOR_TYPES)
@pytest.mark.parametrize("source", COLOR_TYPES)
def test_types(source: str, target: str) -> None:
    image = numbers("uint8", (19, 33, 3), 2).astype(source)
    (result,) = run_on("saturation", [image], "HWC", saturation=0.25, dtype=type_of(target))
    check_rounded(result, turned(image, saturation=0.25), target)


@pytest.mark.parametrize("source", COLOR_TYPES)
def test_type_is_the_input_s_by_default(source: str) -> None:
    (result,) = run_on("saturation", [np.ones((2, 2, 3), source)], "HWC", saturation=0.25)
    assert result.dtype == source


def test_each_sample_has_its_own() -> None:
    samples = [numbers("uint8", (5, 7, 3), seed) for seed in range(3)]
    together = run_on("saturation", samples, "HWC", saturation=0.25)
    for sample, result in zip(samples, together, strict=True):
        np.testing.assert_array_equal(
            run_on("saturation", [sample], "HWC", saturation=0.25)[0], result
        )


def test_zero_copy_if_unchanged() -> None:
    assert shares_memory("saturation")
    assert not shares_memory("saturation", saturation=0.25)


def test_grey_images_raise() -> None:
    with pytest.raises(SampleError, match="must have 3 channels"):
        run_on("saturation", [np.zeros((2, 2, 1), np.uint8)], "HWC")


def test_no_saturation_leaves_greys() -> None:
    (result,) = run_on("saturation", [numbers("uint8", (9, 9, 3), 4)], "HWC", saturation=0.0)
    assert (result.max(axis=-1).astype(int) - result.min(axis=-1)).max() <= 1
