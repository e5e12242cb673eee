"""Turning the hue."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import SampleError
from tests.operators.colors import COLOR_TYPES, check_rounded, turned
from tests.operators.suite import Example, images, numbers, run_on, shares_memory, type_of

EXAMPLES = [
    Example("bytes", [images()], {"hue": 60.0}),
    Example("to-float", [images("FHWC")], {"hue": 60.0, "dtype": types.FLOAT}),
    Example("float", [images("DHWC", "float32")], {"hue": 60.0}),
]


@pytest.mark.parametrize("target", COLOR_TYPES)
@pytest.mark.parametrize("source", COLOR_TYPES)
def test_types(source: str, target: str) -> None:
    image = numbers("uint8", (19, 33, 3), 2).astype(source)
    (result,) = run_on("hue", [image], "HWC", hue=60.0, dtype=type_of(target))
    check_rounded(result, turned(image, 60.0), target)


@pytest.mark.parametrize("source", COLOR_TYPES)
def test_type_is_the_input_s_by_default(source: str) -> None:
    (result,) = run_on("hue", [np.ones((2, 2, 3), source)], "HWC", hue=60.0)
    assert result.dtype == source


def test_each_sample_has_its_own() -> None:
    samples = [numbers("uint8", (5, 7, 3), seed) for seed in range(3)]
    together = run_on("hue", samples, "HWC", hue=60.0)
    for sample, result in zip(samples, together, strict=True):
        np.testing.assert_array_equal(run_on("hue", [sample], "HWC", hue=60.0)[0], result)


def test_zero_copy_if_unchanged() -> None:
    assert shares_memory("hue")
    assert not shares_memory("hue", hue=60.0)


def test_grey_images_raise() -> None:
    with pytest.raises(SampleError, match="must have 3 channels"):
        run_on("hue", [np.zeros((2, 2, 1), np.uint8)], "HWC")


def test_half_a_turn_and_back() -> None:
    image = np.random.default_rng(5).uniform(0, 1, (9, 9, 3)).astype(np.float32)
    (there,) = run_on("hue", [image], "HWC", hue=180.0)
    (back,) = run_on("hue", [there], "HWC", hue=-180.0)
    np.testing.assert_allclose(back, image, atol=1e-5)
    assert np.abs(there - image).max() > 0.1
