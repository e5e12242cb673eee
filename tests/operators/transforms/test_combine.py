"""Affine transforms one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from tests.operators.matrices import check_close, matrices, square, transforms
from tests.operators.suite import Example, numbers

EXAMPLES = [
    Example("two", [matrices(2), matrices(2)]),
    Example("three", [matrices(3), matrices(3), matrices(3)], {"reverse_order": True}),
    Example("frames", [matrices(2), matrices(2, "FRC")]),
]


def combine(*inputs: np.ndarray, **arguments: Any) -> np.ndarray:
    return transforms("transforms.combine", *inputs, **arguments)[0]


@pytest.mark.parametrize("ndim", range(1, 7))
def test_order(ndim: int) -> None:
    first, second, third = (numbers("float32", (ndim, ndim + 1), i) / 100 for i in range(3))
    expected = square(third) @ square(second) @ square(first)
    check_close(combine(first, second, third), expected[:ndim])
    expected = square(first) @ square(second) @ square(third)
    check_close(combine(first, second, third, reverse_order=True), expected[:ndim])


def test_layouts() -> None:
    matrix = numbers("float32", (2, 3), 0)
    assert transforms("transforms.combine", matrix, matrix, layouts=["AB", ""])[1] == "**"


def test_one_for_each_frame() -> None:
    one, many = numbers("float32", (2, 3), 0), numbers("float32", (4, 2, 3), 1)
    result, layout = transforms("transforms.combine", one, many, layouts=["", "FAB"])
    assert layout == "F**"
    for frame in range(4):
        np.testing.assert_array_equal(result[frame], combine(one, many[frame]))
    with pytest.raises(SampleError, match="input 1 must have one value for each of the 4 frames"):
        combine(many, many[:3], layouts=["FAB", "FAB"])


def test_transforms_of_different_spaces() -> None:
    with pytest.raises(SampleError, match=r"\(got shapes \(2, 3\) and \(3, 4\)\)"):
        combine(np.zeros((2, 3), np.float32), np.zeros((3, 4), np.float32))
    with pytest.raises(SampleError, match="float32 matrices of N rows"):
        combine(np.zeros((2, 3), np.float32), np.zeros((2, 2), np.float32))


def test_a_chain() -> None:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        chain = fn.transforms.scale(scale=[2.0, 3.0])
        chain = fn.transforms.rotation(chain, angle=30.0)
        chain = fn.transforms.translation(chain, offset=[5.0, 6.0])
        combined = fn.transforms.combine(
            fn.transforms.scale(scale=[2.0, 3.0]),
            fn.transforms.rotation(angle=30.0),
            fn.transforms.translation(offset=[5.0, 6.0]),
        )
        pipeline.set_outputs(chain, combined)
    step_by_step, at_once = (np.array(batch.at(0)) for batch in pipeline.run())
    pipeline.close()
    check_close(at_once, step_by_step)
