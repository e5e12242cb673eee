"""Multiplying points by a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.matrices import transforms
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, run_on, type_of

EXAMPLES = [
    Example("colors", [images()], {"M": [0.3, 0.6, 0.1], "dtype": types.UINT8}),
    Example("points", [images("HW", "float32", extents={"W": 2})], {"MT": [1, 2, 3, 4, 5, 6]}),
    Example("space", [images("HWC", "int16")], {"M": list(range(9)), "T": [1, 2, 3]}),
    Example("four", [images("HWC", extents={"C": 4})], {"M": [0.5], "T": [7.0]}),
    Example("to-space", [images("HW", "float32", extents={"W": 2})], {"M": [1, 2, 3, 4, 5, 6]}),
    Example("nothing", [Input(lambda number: numbers("float64", (3, 7), number))]),
]


def transform(points: np.ndarray, layout: str = "", **arguments: Any) -> np.ndarray:
    return run_on("coord_transform", [points], layout, **arguments)[0]


@given(
    rows=st.integers(1, 7),
    columns=st.integers(1, 7),
    count=st.sampled_from([0, 1, 5, 33, 1000]),
    translated=st.booleans(),
)
def test_matrix(rows: int, columns: int, count: int, translated: bool) -> None:
    points = numbers("float32", (count, columns), rows) / 100
    matrix = numbers("float32", (rows, columns), columns) / 100
    offset = numbers("float32", (rows,), 1) * translated
    if rows * columns == 1:
        matrix[:] = 2
    expected = points.astype(np.float64) @ matrix.T.astype(np.float64) + offset
    result = transform(points, M=matrix.ravel(), T=offset)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, atol=1e-4)
    if rows * (columns + 1) > 1:
        both = np.column_stack([matrix, offset])
        np.testing.assert_array_equal(transform(points, MT=both.ravel()), result)


@pytest.mark.parametrize("source", ALL_TYPES)
@pytest.mark.parametrize("target", ALL_TYPES)
def test_types(source: str, target: str) -> None:
    points = numbers("uint8", (300, 3), 0).astype(source)
    result = transform(points, M=[0.25, 0.5, 0.0], T=-20, dtype=type_of(target))
    exact = points @ np.array([[0.25], [0.5], [0.0]]) - 20
    assert result.dtype == target
    if target == "bool":
        np.testing.assert_array_equal(result, np.abs(exact) >= 0.5)
        return
    if result.dtype.kind != "f":
        exact = np.trunc(exact + np.copysign(0.5, exact))
        exact = np.clip(exact, np.iinfo(target).min, np.iinfo(target).max)
    np.testing.assert_array_equal(result, exact.astype(target))


def test_single_numbers() -> None:
    points = np.float32([[1, 2], [3, 4]])
    np.testing.assert_array_equal(transform(points), points)
    np.testing.assert_array_equal(transform(points, M=3), points * 3)
    np.testing.assert_array_equal(transform(points, MT=3), points * 3)
    np.testing.assert_array_equal(transform(points, T=3), points + 3)
    np.testing.assert_array_equal(transform(points, M=[1, 1], T=3), [[6], [10]])


def test_forms_of_the_matrix() -> None:
    points, matrix = np.float32([[1, 2], [3, 4]]), np.float32([[1, 2], [3, 4], [5, 6]])
    expected = points @ matrix.T
    for form in (matrix, matrix.ravel(), matrix.astype(np.int32)):
        result, _ = transforms("coord_transform", points, M=form)
        np.testing.assert_array_equal(result, expected)
    result, _ = transforms("coord_transform", points, M=np.float32(3), T=np.float32([1, 2]))
    np.testing.assert_array_equal(result, points * 3 + [1, 2])


def test_layout_stays() -> None:
    image = numbers("uint8", (2, 3, 3), 0)
    assert transforms("coord_transform", image, layouts=["HWC"], M=[1, 1, 1])[1] == "HWC"


def test_value_for_each_frame() -> None:
    points = np.float32([[1, 2], [3, 4], [5, 6]])
    frames = np.stack([points, points * 10])
    factors, offsets = np.float32([2, 3]), np.float32([[1, 2], [3, 4]])
    result, layout = transforms(
        "coord_transform", frames, layouts=["FNC"], M=(factors, "F"), T=(offsets, "F*")
    )
    assert layout == "FNC"
    np.testing.assert_array_equal(result, frames * factors[:, None, None] + offsets[:, None])
    result, _ = transforms("coord_transform", frames, layouts=["FNC"], T=(offsets[:1], "F*"))
    np.testing.assert_array_equal(result, frames + offsets[0])
    result, layout = transforms("coord_transform", points, layouts=["NC"], T=(offsets, "F*"))
    assert layout == "FNC"
    np.testing.assert_array_equal(result, points + offsets[:, None])
    result, layout = transforms("coord_transform", frames[:1], layouts=["FNC"], T=(offsets, "F*"))
    np.testing.assert_array_equal(result, points + offsets[:, None])
    result, _ = transforms("coord_transform", frames[:0], layouts=["FNC"], T=(offsets, "F*"))
    assert result.shape == (0, 3, 2)
    three = np.zeros((3, 2), np.float32)
    with pytest.raises(SampleError, match="T must have one value for each of the 2 frames"):
        transforms("coord_transform", frames, layouts=["FNC"], T=(three, "F*"))


def test_points_of_no_components() -> None:
    assert transform(np.zeros((4, 0), np.float32)).shape == (4, 0)
    assert transform(np.float32([1, 2]), M=[1, 1]).tolist() == [3]


def test_combining_arguments() -> None:
    for name in ("M", "T"):
        with pytest.raises(ArgumentValueError, match="'MT' must not be given together"):
            transform(np.zeros((4, 2), np.float32), MT=2, **{name: 1})
    with pytest.raises(ArgumentValueError, match="'dtype' must be a type of numbers"):
        transform(np.zeros((4, 2), np.float32), dtype=types.STRING)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"M": [1, 2, 3]}, r"M must have 2 columns for points of 2 components \(got shape \(3,\)"),
        ({"MT": [1, 2, 3, 4]}, r"MT must have 3 columns .* \(got shape \(4,\)"),
        ({"T": [1, 2, 3]}, r"T must have one number, or one for each of the 2 rows"),
        ({"M": [1, 2, 3, 4, 5, 6], "T": [1, 2]}, r"each of the 3 rows .* \(got shape \(2,\)"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        transform(np.zeros((4, 2), np.float32), **arguments)


def test_input_without_points() -> None:
    with pytest.raises(SampleError, match="must consist of points along its last dimension"):
        transform(np.float32(1))
