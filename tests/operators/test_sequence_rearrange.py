"""Frames in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentTypeError, ArgumentValueError, DaliCoreError, SampleError
from tests.operators.matrices import transforms
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, run_on

EXAMPLES = [
    Example("reversed", [images("FHWC")], {"new_order": [2, 1, 0]}),
    Example("repeated", [images("FCHW", "float32")], {"new_order": [1, 1, 0, 2, 1]}),
    Example(
        "one", [Input(lambda number: numbers("int16", (number + 1, 2), number))], {"new_order": 0}
    ),
]


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 2, 1, 3), (4, 0)])
def test_orders(shape: tuple[int, ...], dtype: str) -> None:
    data = numbers(dtype, shape, 0)
    for order in ([3, 1], [0, 1, 2, 3], [2, 2, 2, 2, 2]):
        (result,) = run_on("sequence_rearrange", [data], new_order=order)
        np.testing.assert_array_equal(result, data[order], strict=True)


def test_layouts() -> None:
    data = numbers("uint8", (3, 2, 2), 0)
    for layout in ("", "FHW", "FXY"):
        result, after = transforms("sequence_rearrange", data, layouts=[layout], new_order=[1])
        assert after == layout
        np.testing.assert_array_equal(result, data[[1]], strict=True)


def test_order_of_each_sample() -> None:
    from dali_core import fn
    from tests.operators.suite import pipeline

    data = [numbers("uint8", (3, 2), 0), numbers("uint8", (5, 2), 1)]
    orders = [np.int32([2, 0]), np.int64([4])]
    with pipeline(batch_size=2) as made:
        with made:
            clips = fn.external_source(source=lambda: data, layout="FX")
            order = fn.external_source(source=lambda: [value.astype(np.int32) for value in orders])
            made.set_outputs(fn.sequence_rearrange(clips, new_order=order))
        (batch,) = made.run()
        for i in range(2):
            np.testing.assert_array_equal(np.array(batch.at(i)), data[i][orders[i]], strict=True)


@pytest.mark.parametrize(
    ("order", "layout", "message"),
    [
        ([3], "FX", r"new_order must have numbers of the 3 frames, from 0 on \(got 3\)"),
        ([0, -1], "FX", r"from 0 on \(got -1\)"),
        ([0], "XY", r"layout must start with F \(got \"XY\"\)"),
    ],
)
def test_invalid_samples(order: list[int], layout: str, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on("sequence_rearrange", [np.zeros((3, 2))], layout, new_order=order)


def test_scalars_have_no_frames() -> None:
    with pytest.raises(SampleError, match=r"must have a dimension of frames \(got a scalar\)"):
        run_on("sequence_rearrange", [np.float32(1)], new_order=[0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, DaliCoreError, "new_order"),
        ({"new_order": []}, ArgumentValueError, r"'new_order' must have at least 1 number"),
        ({"new_order": ["x"]}, ArgumentTypeError, "new_order"),
    ],
)
def test_invalid_orders(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run_on("sequence_rearrange", [np.zeros((3, 2))], **arguments)
