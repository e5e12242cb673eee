"""Conversion to the type of another tensor."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import fn, types
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, pipeline, type_of

EXAMPLES = [
    Example("to_float", [images(), Input(lambda _: np.zeros(1, np.float32))]),
    Example("to_bytes", [images("CHW", "float64"), images()]),
    Example("same", [images(), images("HW")]),
]


@pytest.mark.parametrize("target", ALL_TYPES)
@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_equals_cast(dtype: str, target: str) -> None:
    array = numbers(dtype, (3, 5), 0)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [array], layout="HW")
            like = fn.external_source(source=lambda: [np.zeros(0, target)])
            made.set_outputs(fn.cast_like(data, like), fn.cast(data, dtype=type_of(target)))
        converted, expected = made.run()
        np.testing.assert_array_equal(
            np.array(converted.at(0)), np.array(expected.at(0)), strict=True
        )
        assert converted.layout() == "HW"
        assert converted.dtype == type_of(target)


def test_zero_copy_where_the_type_is_the_same() -> None:
    arrays = [numbers("uint8", (height, 3), 0) for height in (4, 5)]
    with pipeline(batch_size=2) as made:
        with made:
            data = fn.external_source(source=lambda: arrays)
            flags = fn.cast(data, dtype=types.BOOL)
            made.set_outputs(data, fn.cast_like(data, data), fn.cast_like(data, flags))
        before, same, other = made.run()
        assert [tensor.data_ptr() for tensor in same] == [tensor.data_ptr() for tensor in before]
        assert [tensor.data_ptr() for tensor in other] != [tensor.data_ptr() for tensor in before]
