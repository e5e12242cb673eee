"""Shapes of tensors."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError
from tests.operators.suite import Example, images, run_on, type_of

EXAMPLES = [
    Example("image", [images()]),
    Example("frames", [images("FHWC", "float32")], {"dtype": types.FLOAT}),
]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_types(dtype: str) -> None:
    arrays = [np.zeros(shape) for shape in ((2, 300), (0, 1))]
    results = run_on("shapes", arrays, dtype=type_of(dtype))
    for result, array in zip(results, arrays, strict=True):
        np.testing.assert_array_equal(result, np.array(array.shape, dtype), strict=True)


def test_defaults() -> None:
    assert run_on("shapes", [np.zeros((2, 3))])[0].dtype == np.int64
    assert run_on("shapes", [np.int32(2)])[0].shape == (0,)


def test_former_name_of_the_type() -> None:
    with pytest.warns(DeprecationWarning, match="'type' is deprecated"):
        (result,) = run_on("shapes", [np.zeros((2, 3))], type=types.INT32)
    assert result.dtype == np.int32


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "bool"])
def test_other_types(dtype: str) -> None:
    with pytest.raises(ArgumentValueError, match="'dtype' must be INT64"):
        run_on("shapes", [np.zeros(3)], dtype=type_of(dtype))
