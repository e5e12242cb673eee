"""Affine transforms between ranges of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core.errors import SampleError
from tests.operators.matrices import check_close, matrices, square, transforms
from tests.operators.suite import Example

EXAMPLES = [
    Example(
        "alone",
        (),
        {"from_start": [1.0, 2.0], "from_end": [3.0, 5.0], "to_start": [4.0], "to_end": [8.0]},
    ),
    Example("nothing", ()),
    Example("after", [matrices(3)], {"from_start": [5.0], "from_end": [1.0], "absolute": True}),
    Example("before", [matrices(2, "FRC")], {"to_end": [10.0, 1.0], "reverse_order": True}),
]


def crop(*inputs: np.ndarray, **arguments: Any) -> np.ndarray:
    return transforms("transforms.crop", *inputs, **arguments)[0]


coordinates = st.lists(st.integers(-100, 100), min_size=3, max_size=3)


@given(from_start=coordinates, extents=coordinates, to_start=coordinates, to_end=coordinates)
def test_ends_of_the_ranges(
    from_start: list[int], extents: list[int], to_start: list[int], to_end: list[int]
) -> None:
    from_end = [start + (extent or 1) for start, extent in zip(from_start, extents, strict=True)]
    arguments = {"from_start": from_start, "from_end": from_end}
    matrix = square(crop(**arguments, to_start=to_start, to_end=to_end))
    np.testing.assert_allclose(matrix @ [*from_start, 1], [*to_start, 1], atol=0.01)
    np.testing.assert_allclose(matrix @ [*from_end, 1], [*to_end, 1], atol=0.01)


def test_defaults() -> None:
    check_close(crop(), [[1, 0]])
    check_close(crop(to_end=[4, 5]), [[4, 0, 0], [0, 5, 0]])
    matrix = np.float32([[1, 2, 3], [4, 5, 6]])
    check_close(crop(matrix, to_end=2), matrix * 2)


def test_ranges_that_run_backwards() -> None:
    call = {"from_start": [3, 2], "from_end": [1, 5]}
    check_close(crop(**call), [[-0.5, 0, 1.5], [0, 1 / 3, -2 / 3]])
    check_close(crop(**call, absolute=True), [[0.5, 0, -0.5], [0, 1 / 3, -2 / 3]])
    call = {"from_end": [1, 1], "to_start": [9, 0], "to_end": [1, 1]}
    check_close(crop(**call, absolute=True), [[8, 0, 1], [0, 1, 0]])


def test_order() -> None:
    matrix = np.float32([[1, 2, 3], [4, 5, 6]])
    call = {"from_start": [1, 2], "from_end": [3, 5]}
    cropped, before = square(crop(**call)), square(matrix)
    check_close(crop(matrix, **call), (cropped @ before)[:2])
    check_close(crop(matrix, **call, reverse_order=True), (before @ cropped)[:2])


def test_value_for_each_frame() -> None:
    result = crop(from_end=(np.float32([[2, 4], [4, 8]]), "F*"))
    np.testing.assert_array_equal(result[:, [0, 1], [0, 1]], [[0.5, 0.25], [0.25, 0.125]])


def test_invalid_calls() -> None:
    with pytest.raises(SampleError, match=r"from_end must .* each of 3 dimensions \(got 2\)"):
        crop(from_start=[1, 2, 3], from_end=[7, 8])
    with pytest.raises(SampleError, match=r"\(got 2 and 3\)"):
        crop(np.zeros((3, 4), np.float32), from_end=[3, 5])
