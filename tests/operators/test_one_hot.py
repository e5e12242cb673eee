"""Class numbers as vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, pipeline, run_on, type_of


def class_numbers(*shape: int) -> Input:
    return Input(lambda number: np.random.default_rng(number).integers(-1, 6, shape))


EXAMPLES = [
    Example("scalars", [class_numbers()], {"num_classes": 5}),
    Example("single_numbers", [class_numbers(1, 1)], {"num_classes": 5, "axis_name": "C"}),
    Example(
        "matrices",
        [Input(class_numbers(2, 3).make, "HW")],
        {
            "num_classes": 4,
            "axis": 1,
            "on_value": 2.5,
            "off_value": -1,
            "dtype": types.INT16,
            "axis_name": "C",
        },
    ),
    Example("appended", [class_numbers(4)], {"num_classes": 6, "axis": -1}),
    Example(
        "lists",
        [Input(lambda number: np.arange(1 + number % 4) % 3)],
        {"num_classes": 3},
        depends_on_batch=True,
    ),
]


def one_hot(*samples: Any, layout: str = "", **arguments: Any) -> list[np.ndarray]:
    return run_on("one_hot", [np.asarray(sample) for sample in samples], layout, **arguments)


@given(
    numbers=arrays.arrays(
        st.sampled_from([np.int8, np.uint16, np.int64, np.float32]),
        arrays.array_shapes(min_dims=0, max_dims=4, max_side=3),
        elements=st.integers(0, 9),
    ),
    num_classes=st.integers(0, 7),
    data=st.data(),
)
@settings(max_examples=60)
def test_definition(numbers: np.ndarray, num_classes: int, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, numbers.ndim))
    (result,) = one_hot(numbers, num_classes=num_classes, axis=axis)
    expected = np.stack([numbers == i for i in range(num_classes)], axis) if num_classes else 0
    shape = (*numbers.shape[:axis], num_classes, *numbers.shape[axis:])
    assert result.shape == shape
    np.testing.assert_array_equal(result, np.broadcast_to(expected, shape))


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_input_types(dtype: str) -> None:
    (result,) = one_hot(np.array([1, 0], dtype), num_classes=2)
    np.testing.assert_array_equal(result, np.float32([[0, 1], [1, 0]]), strict=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_output_types(dtype: str) -> None:
    (result,) = one_hot([1], num_classes=2, dtype=type_of(dtype), on_value=3.5)
    on_value = 3.5 if dtype.startswith("float") else 1 if dtype == "bool" else 3
    np.testing.assert_array_equal(result, np.array([0, on_value], dtype), strict=True)


def test_values_of_integers_wrap_around() -> None:
    (result,) = one_hot([0], num_classes=2, dtype=types.UINT8, on_value=300.7, off_value=-1.5)
    assert result.tolist() == [44, 255]


@pytest.mark.parametrize(
    "numbers",
    [
        np.int64([-1, 3, 2**40, -(2**63)]),
        np.uint64([3, 2**63, 2**64 - 1, 4]),
        np.float32([-1, 3, np.nan, np.inf]),
        np.float16([-2, 3, np.nan, -np.inf]),
    ],
)
def test_numbers_that_are_no_class(numbers: np.ndarray) -> None:
    (result,) = one_hot(numbers, num_classes=3, on_value=1, off_value=0.5)
    np.testing.assert_array_equal(result, np.full((4, 3), 0.5))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
def test_many_numbers(dtype: str) -> None:
    classes = np.random.default_rng(0).integers(-2, 9, (37, 45))
    for axis in (0, 1, 2):
        (result,) = one_hot(classes, num_classes=7, axis=axis, dtype=type_of(dtype), on_value=3)
        expected = np.stack([classes == i for i in range(7)], axis) * 3
        np.testing.assert_array_equal(result, expected.astype(dtype), strict=True)


def test_fractions_are_dropped() -> None:
    (result,) = one_hot(np.float32([0.9, 1.9, -0.9]), num_classes=2)
    np.testing.assert_array_equal(result, [[1, 0], [0, 1], [1, 0]])


def test_single_numbers_are_scalars_if_the_whole_batch_is() -> None:
    assert [r.shape for r in one_hot([[1]], [[2]], num_classes=3)] == [(3,), (3,)]
    assert [r.shape for r in one_hot([1], [2, 1], num_classes=3)] == [(1, 3), (2, 3)]
    assert [r.shape for r in one_hot([1], [2], num_classes=3, axis=-1)] == [(1, 3), (1, 3)]


@pytest.mark.parametrize(
    ("shape", "layout", "arguments", "expected"),
    [
        ((2, 3), "HW", {}, ""),
        ((2, 3), "HW", {"axis_name": "C"}, "HWC"),
        ((2, 3), "HW", {"axis_name": "C", "axis": 0}, "CHW"),
        ((2, 3), "HW", {"axis_name": "C", "axis": 1}, "HCW"),
        ((), "", {"axis_name": "C"}, "C"),
        ((1,), "X", {"axis_name": "C"}, "C"),
        ((1,), "X", {"axis_name": "C", "axis": 1}, "XC"),
    ],
)
def test_layout(
    shape: tuple[int, ...], layout: str, arguments: dict[str, Any], expected: str
) -> None:
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [np.zeros(shape)], layout=layout or None)
            made.set_outputs(fn.one_hot(data, num_classes=2, **arguments))
        (batch,) = made.run()
    assert batch.layout() == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_classes": -1}, "'num_classes' must be at least 0"),
        ({"axis_name": "CC"}, "axis_name must be one letter"),
        ({"dtype": types.STRING}, "'dtype' must be a type of numbers"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        one_hot([1, 2], **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axis": 2}, "axis must be from -1 to 1"),
        ({"axis": -2}, "axis must be from -1 to 1"),
        ({"axis_name": "C"}, "must go with an input that has a layout"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        one_hot([1, 2], num_classes=3, **arguments)
