"""Tensors of the shape of others, filled with zeros."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import fn, types
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    images,
    numbers,
    pipeline,
    run_on,
    type_of,
)

EXAMPLES = [
    Example("type", [images("CHW", "int16")]),
    Example("other_type", [images()], {"dtype": types.FLOAT}),
]


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    sample = numbers(dtype, (2, 5), 0)
    (result,) = run_on("zeros_like", [sample])
    np.testing.assert_array_equal(result, np.zeros_like(sample), strict=True)
    (result,) = run_on("zeros_like", [np.float32([[2.5]])], dtype=type_of(dtype))
    np.testing.assert_array_equal(result, np.zeros((1, 1), dtype), strict=True)


@pytest.mark.parametrize("shape", [(), (3,), (0, 4), (2, 1, 3, 2)])
def test_shapes(shape: tuple[int, ...]) -> None:
    (result,) = run_on("zeros_like", [numbers("int32", shape, 0)])
    np.testing.assert_array_equal(result, np.zeros(shape, np.int32), strict=True)


def test_layout_is_that_of_the_input() -> None:
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [np.zeros((2, 3))], layout="HW")
            made.set_outputs(fn.zeros_like(data, dtype=types.UINT8))
        assert made.run()[0].layout() == "HW"
