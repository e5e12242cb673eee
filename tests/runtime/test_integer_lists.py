"""Arrays of lists of integers are those that NumPy makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core._runtime.integer_lists import integers


@given(st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_values_are_those_of_numpy(numbers: list[int]) -> None:
    for dtype in (np.int32, np.int64):
        found = integers(numbers, dtype)
        np.testing.assert_array_equal(found, np.array(numbers, dtype), strict=True)


@pytest.mark.parametrize(
    ("numbers", "dtype", "error"),
    [
        ([0, 2**31], np.int32, OverflowError),
        ([-(2**31) - 1], np.int32, OverflowError),
        ([2**63], np.int64, OverflowError),
        ([2**63], np.int32, OverflowError),
        ([1.5], np.int32, TypeError),
        (["1"], np.int64, TypeError),
    ],
)
def test_others_are_errors(numbers: list[object], dtype: type, error: type[Exception]) -> None:
    with pytest.raises(error):
        integers(numbers, dtype)  # type: ignore[arg-type]
