"""The same tensor for every sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError
from tests.operators.suite import ALL_TYPES, Example, pipeline, type_of

EXAMPLES = [
    Example("floats", (), {"fdata": (1.5, 2.5)}),
    Example("integers", (), {"idata": (1, 2, 3, 4), "shape": (2, 2), "layout": "HW"}),
    Example("number", (), {"idata": 7, "shape": (2, 3), "dtype": types.UINT8}),
]


def constant(**arguments: Any) -> tuple[np.ndarray, str]:
    with pipeline() as made:
        with made:
            made.set_outputs(fn.constant(**arguments))
        (batch,) = made.run()
        first = np.array(batch.at(0))
        for number in range(3):
            np.testing.assert_array_equal(np.array(batch.at(number)), first, strict=True)
        return first, batch.layout()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"fdata": 2.5}, np.float32([2.5])),
        ({"fdata": [1, 2.5]}, np.float32([1, 2.5])),
        ({"fdata": 2.5, "shape": []}, np.float32(2.5)),
        ({"fdata": 2.5, "shape": [2, 3]}, np.full((2, 3), 2.5, np.float32)),
        ({"idata": list(range(6)), "shape": [2, 3]}, np.arange(6, dtype=np.int32).reshape(2, 3)),
        ({"idata": [2**31 - 1, -(2**31), 2**33]}, np.int32([2**31 - 1, -(2**31), 2**31 - 1])),
        ({"idata": 2**33, "dtype": types.INT64}, np.int64([2**33])),
        ({"idata": [1, 300, -5], "dtype": types.UINT8}, np.uint8([1, 255, 0])),
        ({"fdata": [2.5, 300, -1.5], "dtype": types.INT8}, np.int8([3, 127, -2])),
        ({"fdata": [0.3, 0.5, 0], "dtype": types.BOOL}, np.array([False, True, False])),
        ({"fdata": [], "shape": [0, 2]}, np.zeros((0, 2), np.float32)),
        ({"fdata": []}, np.zeros(0, np.float32)),
        ({"fdata": 1, "shape": [0, 2]}, np.zeros((0, 2), np.float32)),
    ],
)
def test_values(arguments: dict[str, Any], expected: np.ndarray) -> None:
    result, layout = constant(**arguments)
    np.testing.assert_array_equal(result, expected, strict=True)
    assert layout == ""


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    for data in ({"fdata": [0, 1]}, {"idata": [0, 1]}):
        result, _ = constant(**data, dtype=type_of(dtype))
        np.testing.assert_array_equal(result, np.array([0, 1], dtype), strict=True)


def test_layout() -> None:
    assert constant(idata=[1, 2], layout="X")[1] == "X"


def test_each_sample_has_its_own_memory() -> None:
    with pipeline() as made:
        with made:
            made.set_outputs(fn.constant(idata=[1, 2]))
        batches = [made.run()[0] for _ in range(2)]
        places = {tensor.data_ptr() for batch in batches for tensor in batch}
        assert len(places) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of the arguments 'fdata' and 'idata' must be"),
        ({"fdata": 1, "idata": 1}, "one of the arguments 'fdata' and 'idata' must be"),
        ({"fdata": [1, 2, 3], "shape": [2, 3]}, "must be one number or as many as shape has"),
        ({"fdata": 1, "shape": [-1]}, "'shape', entry 0 must be at least 0"),
        ({"fdata": [1, 2], "layout": "XY"}, "layout must have one letter a dimension"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        constant(**arguments)
