"""Adding dimensions of extent 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, Input, images, run, run_on, shares_memory

EXAMPLES = [
    Example("first", [images()], {"axes": 0, "new_axis_names": "F"}),
    Example("several", [images("HW", "float32")], {"axes": [3, 0], "new_axis_names": "CF"}),
    Example("without_layout", [images()], {"axes": [1]}),
    Example("nothing", [images()], {"axes": []}),
]


def expand(values: np.ndarray, layout: str, **arguments: Any) -> tuple[tuple[int, ...], str]:
    example = Example("expand", [Input(lambda _: values, layout)])
    result = run("expand_dims", example, arguments, num_samples=1)
    (output_layout,) = result.layouts[0]
    return result.samples[0][0].shape, output_layout


def test_shapes_and_layouts() -> None:
    image = np.zeros((2, 3, 4))
    assert expand(image, "HWC", axes=0) == ((1, 2, 3, 4), "")
    assert expand(image, "HWC", axes=0, new_axis_names="F") == ((1, 2, 3, 4), "FHWC")
    assert expand(image, "HWC", axes=[0, 3], new_axis_names="FX") == ((1, 2, 3, 1, 4), "FHWXC")
    assert expand(image, "HWC", axes=[3, 0], new_axis_names="FX") == ((1, 2, 3, 1, 4), "XHWFC")
    assert expand(image, "HWC", axes=[3, 4], new_axis_names="FX") == ((2, 3, 4, 1, 1), "HWCFX")
    assert expand(image, "HWC", axes=[]) == ((2, 3, 4), "HWC")
    assert expand(np.array(3), "", axes=[0, 1], new_axis_names="AB") == ((1, 1), "AB")


def test_elements_stay() -> None:
    values = np.arange(6).reshape(2, 3)
    (result,) = run_on("expand_dims", [values], axes=1)
    np.testing.assert_array_equal(result, values[:, None], strict=True)
    assert shares_memory("expand_dims", axes=[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": [-1]}, "'axes', entry 0 must be from 0 to 7"),
        ({"axes": [8]}, "'axes', entry 0 must be from 0 to 7"),
        ({"axes": [0, 0]}, "axes must be different from each other"),
        ({"axes": [1], "new_axis_names": "FX"}, "new_axis_names must have a letter for each"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        expand(np.zeros((2, 3, 4)), "HWC", **arguments)


def test_invalid_samples() -> None:
    with pytest.raises(SampleError, match="axes must lie among the 4 dimensions"):
        expand(np.zeros((2, 3, 4)), "HWC", axes=[4])
    with pytest.raises(SampleError, match="new_axis_names must go into a layout of the input"):
        expand(np.zeros((2, 3, 4)), "", axes=[1], new_axis_names="F")
    with pytest.raises(SampleError, match="at most 8"):
        expand(np.zeros((1,) * 8), "", axes=[1])
