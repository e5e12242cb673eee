"""Shared parts of tests of reductions: samples, axes and comparison with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, Input, images, numbers, run, run_on

Exact = Callable[[np.ndarray, tuple[int, ...] | None], np.ndarray]

SHAPES = [(7, 300, 3), (1, 1, 1), (260, 5), (1000,), (2, 33, 4, 5), (3, 40, 70), (5, 3, 2000)]
EXAMPLES = [
    Example("everything", [images()]),
    Example("channels", [images("HWC", "int16")], {"axes": [0, 1]}),
    Example("pixels", [images("HWC", "float32")], {"axes": -1, "keep_dims": True}),
    Example("rows", [images("FHWC", "int32")], {"axis_names": "FW"}),
    Example("halves", [images("CHW", "float16")], {"axes": [1, 2]}),
    Example("nothing", [images("HW", "int8")], {"axes": []}),
]


def reduce_one(operator: str, values: np.ndarray, *more: np.ndarray, **arguments: Any) -> Any:
    """Run a reduction on one sample."""
    inputs = [Input(lambda _, array=array: array) for array in (values, *more)]
    example = Example("one", inputs)
    return run(operator, example, arguments, num_samples=1, batch_size=1).samples[0][0]


def all_axes(ndim: int) -> list[tuple[int, ...] | None]:
    """Return every set of axes."""
    subsets = [tuple(i for i in range(ndim) if number >> i & 1) for number in range(2**ndim)]
    return [None, *subsets]


def check_axes(operator: str, dtype: str, exact: Exact, *, modest: bool = False) -> None:
    """Reduce samples of many shapes along every set of axes; compare with float64.

    `exact` returns the result in float64 or in integers; with `modest`, the results fit in float32.
    """
    for number, shape in enumerate(SHAPES):
        values = numbers(dtype, shape, number)
        if modest and np.dtype(dtype).kind in "iu":
            values = (values % 100).astype(dtype)
        for axes in all_axes(len(shape)):
            arguments = {} if axes is None else {"axes": list(axes)}
            expected = exact(values, axes)
            for keep_dims in (False, True):
                result = reduce_one(operator, values, keep_dims=keep_dims, **arguments)
                assert result.ndim == (len(shape) if keep_dims else expected.ndim)
                check_equal(result.reshape(expected.shape), expected)


def check_equal(result: np.ndarray, expected: np.ndarray) -> None:
    if result.dtype.kind == "f":
        np.testing.assert_allclose(
            result.astype(np.float64),
            expected,
            rtol=1e-6 if result.dtype != np.float16 else 2e-3,
            atol=1e-6 * np.abs(expected.astype(np.float64)).max(initial=0),
        )
    else:
        np.testing.assert_array_equal(result, expected)


def check_layouts(operator: str, *more: Input) -> None:
    """Letters are removed with their dimensions."""
    for arguments, expected in (
        ({}, ""),
        ({"axes": [0]}, "WC"),
        ({"axes": [-1, 0]}, "W"),
        ({"axes": [0], "keep_dims": True}, "HWC"),
        ({"axis_names": "WH"}, "C"),
        ({"axis_names": ""}, "HWC"),
    ):
        example = Example("layout", [Input(lambda _: np.ones((2, 3, 4)), "HWC"), *more])
        assert run(operator, example, arguments).layouts == [{expected}]


def check_wrong_axes(operator: str) -> None:
    """Invalid axes raise an error that names them."""

    def call(values: np.ndarray, layout: str = "", **arguments: Any) -> None:
        run_on(operator, [values], layout, **arguments)

    image = np.zeros((2, 3, 4), np.uint8)
    with pytest.raises(
        ArgumentValueError, match="'axis_names' must not be given together with 'axes'"
    ):
        call(image, "HWC", axes=[0], axis_names="W")
    with pytest.raises(SampleError, match=r"axes must be from -3 to 2 \(got 3"):
        call(image, axes=[3])
    with pytest.raises(SampleError, match="axes must be from -3 to 2"):
        call(image, axes=[-4])
    with pytest.raises(SampleError, match=r"each dimension must be listed once \(got -3 again"):
        call(image, axes=[0, -3])
    with pytest.raises(SampleError, match=r"axis_names must be in the input's layout \(got 'X'"):
        call(image, "HWC", axis_names="X")
    with pytest.raises(SampleError, match="axis_names must be in the input's layout"):
        call(image, axis_names="H")
    with pytest.raises(SampleError, match="each dimension must be listed once"):
        call(image, "HWC", axis_names="HH")


def check_no_bool_output(operator: str) -> None:
    with pytest.raises(ArgumentValueError, match="'dtype' must be UINT8, UINT16"):
        reduce_one(operator, np.zeros(3, np.uint8), dtype=types.BOOL)
