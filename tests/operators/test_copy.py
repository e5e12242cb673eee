"""Copying tensors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.operators.suite import ALL_TYPES, Example, images, numbers, run_on, shares_memory

EXAMPLES = [Example("image", [images()]), Example("frames", [images("FHWC", "float32")])]


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_elements(dtype: str) -> None:
    values = [numbers(dtype, shape, 0) for shape in ((3, 5), (0, 2), (1, 1))]
    for result, expected in zip(run_on("copy", values), values, strict=True):
        np.testing.assert_array_equal(result, expected, strict=True)


def test_copy_owns_its_memory() -> None:
    assert not shares_memory("copy")
