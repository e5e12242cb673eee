"""Changing the type of elements."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import types
from dali_core.errors import ArgumentValueError
from tests.operators.suite import (
    FLOATS,
    INTEGERS,
    Example,
    images,
    run_on,
    shares_memory,
    type_of,
)

EXAMPLES = [
    Example("widening", [images()], {"dtype": types.FLOAT}),
    Example("narrowing", [images("FCHW", "float32")], {"dtype": types.INT8}),
    Example("half", [images("CHW", "float32")], {"dtype": types.FLOAT16}),
    Example("same", [images()], {"dtype": types.UINT8}),
]


def cast(values: np.ndarray, dtype: str) -> np.ndarray:
    return run_on("cast", [values], dtype=type_of(dtype))[0]


def rounded(value: float, dtype: str) -> int:
    """Round half away from zero, exactly, and saturate."""
    limits = np.iinfo(dtype)
    if np.isnan(value):
        return 0
    if np.isinf(value):
        return int(limits.max if value > 0 else limits.min)
    magnitude = int(abs(Fraction(float(value))) + Fraction(1, 2))
    return int(np.clip(magnitude if value > 0 else -magnitude, int(limits.min), int(limits.max)))


def edges(dtype: str) -> list[float]:
    """Return numbers around all relevant limits and halves."""
    centres = [
        sign * 2.0**power
        for power in (0, 7, 8, 15, 16, 23, 24, 31, 32, 53, 63, 64)
        for sign in (1, -1)
    ]
    steps = [0.0, 0.25, 0.5, 1.0, 1.5]
    values = [centre + sign * step for centre in centres for step in steps for sign in (1, -1)]
    with np.errstate(over="ignore"):
        exact = np.array([*values, 0.0, np.nan, np.inf, -np.inf, 0.49999997, -0.49999997]).astype(
            dtype
        )
        near = np.concatenate([exact, np.nextafter(exact, np.inf), np.nextafter(exact, -np.inf)])
    return [float(value) for value in near]


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_numbers_to_integers(source: str, target: str) -> None:
    values = np.array(edges(source), dtype=source)
    expected = [rounded(float(value), target) for value in values]
    result = cast(values, target)
    assert result.dtype == target
    assert [int(value) for value in result] == expected


@pytest.mark.parametrize("source", [*INTEGERS, "bool"])
@pytest.mark.parametrize("target", INTEGERS)
def test_integers_to_integers(source: str, target: str) -> None:
    limits = [0, 1] if source == "bool" else [int(np.iinfo(source).min), int(np.iinfo(source).max)]
    numbers = {
        0,
        1,
        -1,
        *(sign * 2**n + k for n in range(65) for k in (-1, 0, 1) for sign in (1, -1)),
    }
    values = sorted(number for number in numbers if limits[0] <= number <= limits[1])
    result = cast(np.array(values, dtype=source), target)
    least, most = int(np.iinfo(target).min), int(np.iinfo(target).max)
    assert result.dtype == target
    assert [int(value) for value in result] == [min(max(value, least), most) for value in values]


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS, "bool"])
@pytest.mark.parametrize("target", FLOATS)
def test_to_floating_point(source: str, target: str) -> None:
    if source in FLOATS:
        values = np.array(edges(source), dtype=source)
    else:
        values = np.arange(2) > 0 if source == "bool" else np.linspace(0, 127, 100).astype(source)
    with np.errstate(over="ignore"):
        expected = (
            values.astype(np.float32).astype(target)
            if target == "float16"
            else values.astype(target)
        )
    np.testing.assert_array_equal(cast(values, target), expected, strict=True)


def test_every_half_survives() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    single = cast(halves, "float32")
    np.testing.assert_array_equal(single, halves.astype(np.float32))
    back = cast(single, "float16")
    numbers = ~np.isnan(halves)
    np.testing.assert_array_equal(back.view(np.uint16)[numbers], halves.view(np.uint16)[numbers])
    assert np.isnan(back[~numbers]).all()


@given(bits=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=100))
@settings(max_examples=50, deadline=None)
def test_halves_round_to_even(bits: list[int]) -> None:
    values = np.array(bits, dtype=np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    np.testing.assert_array_equal(cast(values, "float16"), expected)


def test_truth_of_numbers() -> None:
    values = np.float32([0, -0.0, 0.49, -0.49, 0.5, -0.5, 3, np.nan, np.inf])
    expected = [False, False, False, False, True, True, True, True, True]
    assert cast(values, "bool").tolist() == expected
    assert cast(values.astype(np.float64), "bool").tolist() == expected
    assert cast(np.array([0, 1, 2, 256]), "bool").tolist() == [False, True, True, True]


def test_zero_copy_for_the_same_type() -> None:
    assert shares_memory("cast", dtype=types.UINT8)
    assert not shares_memory("cast", dtype=types.INT8)


def test_scalars_and_nothing() -> None:
    assert cast(np.float32(2.5), "int32").shape == ()
    assert cast(np.zeros((0, 3), np.float32), "int32").shape == (0, 3)


def test_type_that_has_no_numbers() -> None:
    with pytest.raises(ArgumentValueError, match="'dtype' must be UINT8, UINT16"):
        run_on("cast", [np.zeros(3)], dtype=types.STRING)


def test_numbers_of_enumerations_are_integers() -> None:
    (number,) = run_on("cast", [np.float32(3)], dtype=types.INTERP_TYPE)
    assert number.dtype == np.int32
    assert number == 3
