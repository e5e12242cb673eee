"""`fn.tensor_resize`: resampling along any dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.suite import Example, Input, numbers, run_on


def tensors(layout: str, dtype: str = "float32") -> Input:
    extents = (4, 6, 5, 3, 2)[: len(layout)]
    return Input(
        lambda number: numbers(dtype, [size + number % 3 for size in extents], number), layout
    )


EXAMPLES = [
    Example("sizes", (tensors("ABC"),), {"sizes": [6, 3, 9]}),
    Example("row", (tensors("A", "uint8"),), {"sizes": [3]}),
    Example(
        "scales",
        (tensors("ABCD", "int16"),),
        {"scales": [1.5, 0.7], "axis_names": "BD", "alignment": [0.0, 0.75]},
    ),
    Example(
        "region",
        (tensors("ABCDE"),),
        {
            "scales": [2.3],
            "axes": [-2],
            "roi_start": [0.1],
            "roi_end": [0.8],
            "roi_relative": True,
            "size_rounding": "ceil",
            "alignment": 0.25,
        },
    ),
    Example(
        "filters",
        (tensors("AB", "uint8"),),
        {
            "sizes": [3, 9],
            "interp_type": types.INTERP_NN,
            "min_filter": types.INTERP_CUBIC,
            "mag_filter": types.INTERP_LINEAR,
            "dtype": types.FLOAT,
        },
    ),
]


def resized(tensor: np.ndarray, layout: str = "", **arguments: Any) -> np.ndarray:
    return run_on("tensor_resize", [tensor], layout, **arguments)[0]


def test_dimensions_are_resized_for_themselves() -> None:
    tensor = numbers("float32", (3, 6, 5, 4), 1)
    for axis in range(4):
        found = resized(tensor, sizes=[8], axes=[axis])
        rows = np.moveaxis(tensor, axis, -1).reshape(-1, tensor.shape[axis])
        expected = np.stack([resized(row, sizes=[8]) for row in rows])
        others = [size for i, size in enumerate(tensor.shape) if i != axis]
        expected = np.moveaxis(expected.reshape(*others, 8), -1, axis)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-4)


def test_images_are_resized_as_by_resize() -> None:
    image = numbers("uint8", (11, 13, 3), 1)
    (expected,) = run_on("resize", [image], "HWC", size=[20, 7])
    for arguments in (
        {"sizes": [20, 7], "axis_names": "HW"},
        {"sizes": [7, 20], "axes": [1, 0]},
        {"sizes": [20, 7, 3]},
    ):
        np.testing.assert_array_equal(resized(image, "HWC", **arguments), expected, strict=True)


def test_whole_factors_of_nearest_pixels() -> None:
    tensor = numbers("int32", (2, 3, 4), 1)
    found = resized(tensor, scales=[2, 3, 1], interp_type=types.INTERP_NN)
    np.testing.assert_array_equal(found, tensor.repeat(2, 0).repeat(3, 1), strict=True)


def test_negative_sizes_mirror() -> None:
    tensor = numbers("float32", (3, 4), 1)
    for arguments in ({"sizes": [-3, 4]}, {"scales": [-1, 1]}):
        np.testing.assert_array_equal(resized(tensor, **arguments), tensor[::-1])


def test_rounding() -> None:
    tensor = np.zeros((5,), np.float32)
    for rounding, size in (("round", 7), ("truncate", 6), ("ceil", 7)):
        assert resized(tensor, scales=[1.3], size_rounding=rounding).shape == (size,)
    assert resized(tensor, scales=[0.1], size_rounding="truncate").shape == (1,)


def test_empty_tensors() -> None:
    assert resized(np.zeros((0, 4, 3), np.float32), sizes=[5, 2], axes=[0, 1]).shape == (0, 2, 3)
    assert resized(np.zeros((4, 0, 3), np.float32), sizes=[5], axes=[0]).shape == (5, 0, 3)
    assert resized(np.zeros((0,), np.uint8), sizes=[5]).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, ArgumentValueError, "exactly one of the arguments 'sizes' and 'scales'"),
        ({"sizes": 1, "scales": 1}, ArgumentValueError, "exactly one"),
        ({"sizes": 1, "axes": 0, "axis_names": "A"}, ArgumentValueError, "together"),
        ({"sizes": [3, 3]}, SampleError, "one for each of the 4 axes"),
        ({"sizes": 3, "axes": 4}, SampleError, "axes must be dimensions"),
        ({"sizes": 3, "axes": [1, -3]}, SampleError, "named once"),
        ({"sizes": 3, "axis_names": "X"}, SampleError, "axes must be dimensions"),
        ({"sizes": 9}, SampleError, "three consecutive"),
        ({"sizes": 9, "axes": [0, 3]}, SampleError, "three consecutive"),
        ({"sizes": 3, "size_rounding": "floor"}, ArgumentValueError, "'truncate' or 'ceil'"),
        ({"sizes": "a"}, ArgumentTypeError, "must be float"),
    ],
)
def test_invalid_arguments_raise(
    arguments: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises((kind, ValueError) if kind is ArgumentTypeError else kind, match=message):
        resized(np.zeros((2, 3, 4, 5), np.float32), "ABCD", **arguments)


def test_scalars_raise() -> None:
    with pytest.raises(SampleError, match="dimension to resize"):
        resized(np.float32(1), sizes=3)
