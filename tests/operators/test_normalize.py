"""Subtracting the mean and dividing by the standard deviation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    Input,
    images,
    numbers,
    run,
    run_on,
    type_of,
)

EXAMPLES = [
    Example("whole", [images()], {"scale": 2.5, "shift": -1}),
    Example("channels", [images("HWC", "float32")], {"axes": [0, 1], "ddof": 1}),
    Example("planes", [images("CHW", "int16")], {"axis_names": "HW", "epsilon": 10.0}),
    Example("pixels", [images("HWC", extents={"C": 5})], {"axes": [-1]}),
    Example("rows", [images("FHWC")], {"axis_names": "FW"}),
    Example("columns", [images("HW", "float16")], {"axes": [0], "dtype": types.FLOAT16}),
    Example("given", [images()], {"mean": 120.0, "stddev": 33.0}),
    Example(
        "mean",
        [images("FHWC", "uint16")],
        {"mean": 3.5e4, "axes": [1, 2], "dtype": types.INT8, "scale": 60},
    ),
    Example("deviation", [images("CHW")], {"stddev": 60.0, "axes": [1, 2]}),
    Example("batch", [images()], {"batch": True, "axes": [0, 1]}, depends_on_batch=True),
]


def normalize(array: np.ndarray, layout: str = "", **arguments: Any) -> np.ndarray:
    return run_on("normalize", [array], layout, **arguments)[0]


def expected(array: np.ndarray, axes: Sequence[int] | None = None, ddof: int = 0) -> np.ndarray:
    """Normalise in double precision."""
    axis = None if axes is None else tuple(axes)
    values = array.astype(np.float64)
    mean = values.mean(axis, keepdims=True)
    variance = ((values - mean) ** 2).sum(axis, keepdims=True)
    degrees = values.size / mean.size - ddof
    variance = variance / degrees if degrees > 0 else 0 * variance
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 0, (values - mean) / np.sqrt(variance), 0)


def check_close(result: np.ndarray, wanted: np.ndarray) -> None:
    assert (result.dtype, result.shape) == (np.float32, wanted.shape)
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=2e-5)


SHAPES = st.lists(st.integers(1, 20), max_size=3) | st.lists(st.integers(1, 5), max_size=6)


@given(shape=SHAPES, data=st.data(), dtype=st.sampled_from(["uint8", "int16", "float32"]))
@settings(max_examples=80)
def test_axes(shape: list[int], data: st.DataObject, dtype: str) -> None:
    chosen = st.lists(st.sampled_from(range(len(shape))), min_size=1, unique=True)
    axes = data.draw(chosen) if shape else []
    ddof = data.draw(st.integers(0, 2))
    array = numbers(dtype, shape, 0)
    arguments: dict[str, Any] = {"axes": axes} if axes else {}
    wanted = expected(array, axes or None, ddof)
    result = normalize(array, ddof=ddof, **arguments)
    assert (result.dtype, result.shape) == (np.float32, wanted.shape)
    # Means are in single precision: where they are far from 0, few digits of a difference are left.
    deviation = array.std(tuple(axes) or None, keepdims=True, dtype=np.float64)
    lost = np.abs(array).max() / np.where(deviation > 0, deviation, np.inf)
    assert (np.abs(result - wanted) <= 1e-5 * np.abs(wanted) + 1e-6 * lost + 1e-30).all()


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 15, 16, 17, 24, 33])
@pytest.mark.parametrize("pixels", [1, 2, 5, 16, 341, 342, 3000])
def test_runs_of_all_lengths(pixels: int, channels: int) -> None:
    array = numbers("uint8", (2, pixels, channels), 0)
    for axes in ([1], [0, 1], [1, 2], [0, 2]):
        check_close(normalize(array, axes=axes), expected(array, axes))


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_input_types(dtype: str) -> None:
    array = numbers(dtype, (20, 30, 3), 0)
    check_close(normalize(array, axes=[0, 1]), expected(array, [0, 1]))


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_output_types(dtype: str) -> None:
    array = numbers("float32", (20, 30), 0)
    result = normalize(array, dtype=type_of(dtype), scale=100, shift=3)
    in_floats = normalize(array, scale=100, shift=3)
    converted = run_on("cast", [in_floats], dtype=type_of(dtype))[0]
    np.testing.assert_array_equal(result, converted, strict=True)


ARRAY = numbers("uint8", (8, 9, 3), 0).astype(np.float64)


def around(mean: Any, axes: tuple[int, ...] | None = None, ddof: int = 0) -> np.ndarray:
    """Return the deviation of `ARRAY` around a mean."""
    squares = (ARRAY - mean) ** 2
    total = squares.sum(axes, keepdims=True)
    return np.sqrt(total / (squares.size / total.size - ddof))


MEAN = np.float32([[[80, 100, 120]]])
DEVIATION = np.float32([[[30, 20, 10]]])


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"mean": 100}, (ARRAY - 100) / around(100)),
        ({"mean": 100, "axes": [0, 1]}, (ARRAY - 100) / around(100, (0, 1))),
        ({"mean": 100, "ddof": 5}, (ARRAY - 100) / around(100, ddof=5)),
        ({"stddev": 20}, (ARRAY - ARRAY.mean()) / 20),
        ({"stddev": 20, "ddof": 5}, (ARRAY - ARRAY.mean()) / 20),
        ({"mean": 100, "stddev": 20}, (ARRAY - 100) / 20),
        ({"mean": 100, "stddev": 3, "epsilon": 16}, (ARRAY - 100) / 5),
        ({"epsilon": 77}, (ARRAY - ARRAY.mean()) / np.sqrt(ARRAY.var() + 77)),
        ({"scale": 3, "shift": 9}, (ARRAY - ARRAY.mean()) / ARRAY.std() * 3 + 9),
    ],
)
def test_given_numbers(arguments: dict[str, Any], wanted: np.ndarray) -> None:
    check_close(normalize(ARRAY.astype(np.uint8), **arguments), wanted)


CHANNEL_MEAN = ARRAY.mean((0, 1), keepdims=True)
ROW_MEAN = np.float32(100 + np.arange(8)).reshape(8, 1, 1)


@pytest.mark.parametrize(
    ("given", "arguments", "wanted"),
    [
        ({"mean": MEAN}, {}, (ARRAY - MEAN) / around(MEAN, (0, 1))),
        ({"mean": MEAN}, {"axes": [0, 1]}, (ARRAY - MEAN) / around(MEAN, (0, 1))),
        ({"mean": MEAN[0, 0]}, {}, (ARRAY - MEAN) / around(MEAN, (0, 1))),
        ({"mean": MEAN.astype(np.int16)}, {}, (ARRAY - MEAN) / around(MEAN, (0, 1))),
        ({"stddev": DEVIATION}, {}, (ARRAY - CHANNEL_MEAN) / DEVIATION),
        ({"mean": MEAN, "stddev": DEVIATION}, {}, (ARRAY - MEAN) / DEVIATION),
        ({"mean": ROW_MEAN, "stddev": DEVIATION}, {}, (ARRAY - ROW_MEAN) / DEVIATION),
        ({"mean": MEAN}, {"stddev": 7}, (ARRAY - MEAN) / 7),
        ({"stddev": DEVIATION}, {"mean": 7}, (ARRAY - 7) / DEVIATION),
        ({"mean": np.float32([[[7]]])}, {}, (ARRAY - 7) / around(7)),
        ({"mean": np.float32(7)}, {"axes": [1]}, (ARRAY - 7) / around(7, (1,))),
        (
            {"mean": ARRAY.astype(np.float32) - 3, "stddev": ARRAY.astype(np.float32) + 1},
            {},
            3 / (ARRAY + 1),
        ),
    ],
)
def test_given_tensors(
    given: dict[str, np.ndarray], arguments: dict[str, Any], wanted: np.ndarray
) -> None:
    example = Example("tensors", [Input(lambda _: ARRAY.astype(np.uint8))])
    result = run("normalize", example, arguments, per_sample=given, num_samples=1)
    check_close(result.samples[0][0], wanted)


def test_no_axis_names_make_every_element_its_own_mean() -> None:
    result = normalize(ARRAY.astype(np.uint8), "HWC", axis_names="", shift=4)
    np.testing.assert_array_equal(result, np.full(ARRAY.shape, 4, np.float32))


@pytest.mark.parametrize("arguments", [{}, {"ddof": 6}, {"mean": 7}, {"stddev": 0}])
def test_zero_deviation(arguments: dict[str, Any]) -> None:
    result = normalize(np.full((2, 3), 7, np.uint8), shift=2.5, **arguments)
    np.testing.assert_array_equal(result, np.full((2, 3), 2.5, np.float32), strict=True)


def test_numbers_far_from_zero_keep_their_deviation() -> None:
    array = np.float32([1e6, 1e6 + 1, 1e6 + 2])
    check_close(normalize(array), expected(array))


def test_no_elements() -> None:
    for arguments in ({}, {"axes": [0]}, {"axes": [1]}):
        assert normalize(np.zeros((0, 3), np.uint8), **arguments).shape == (0, 3)


# Statistics of whole batches


def whole_batch(samples: list[np.ndarray], axes: tuple[int, ...] | None) -> list[np.ndarray]:
    rest = [i for i in range(samples[0].ndim) if axes is not None and i not in axes]
    rows = [np.moveaxis(s, rest, range(len(rest))) for s in samples]
    joined = np.concatenate([r.reshape(*r.shape[: len(rest)], -1) for r in rows], axis=-1)
    shape = [samples[0].shape[i] if i in rest else 1 for i in range(samples[0].ndim)]
    mean = joined.mean(-1, dtype=np.float64).reshape(shape)
    deviation = joined.std(-1, dtype=np.float64).reshape(shape)
    return [(sample - mean) / deviation for sample in samples]


@pytest.mark.parametrize("axes", [None, (0, 1), (0,), (0, 2)])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_batch(dtype: str, axes: tuple[int, ...] | None) -> None:
    samples = [numbers(dtype, (height, 7, 3), height) for height in (4, 9, 1)]
    arguments: dict[str, Any] = {} if axes is None else {"axes": axes}
    results = run_on("normalize", samples, batch=True, **arguments)
    for result, wanted in zip(results, whole_batch(samples, axes), strict=True):
        check_close(result, wanted)


def test_batch_around_a_given_mean() -> None:
    samples = [numbers("uint8", (height, 7), height).astype(np.float64) for height in (4, 9, 1)]
    results = run_on("normalize", samples, batch=True, mean=100, ddof=2)
    joined = np.concatenate([sample.ravel() for sample in samples])
    deviation = np.sqrt(((joined - 100) ** 2).sum() / (joined.size - 2))
    for result, sample in zip(results, samples, strict=True):
        check_close(result, (sample - 100) / deviation)


def test_batch_with_a_given_deviation() -> None:
    samples = [numbers("uint8", (5, 7), seed).astype(np.float64) for seed in range(2)]
    results = run_on("normalize", samples, batch=True, stddev=5, axes=[0])
    mean = np.concatenate(samples).mean(0)
    for result, sample in zip(results, samples, strict=True):
        check_close(result, (sample - mean) / 5)


def test_batch_of_which_some_are_empty() -> None:
    samples = [numbers("uint8", (height, 3), 0) for height in (0, 5)]
    results = run_on("normalize", samples, batch=True, axes=[0])
    assert results[0].shape == (0, 3)
    check_close(results[1], expected(samples[1], [0]))
    assert run_on("normalize", [np.zeros((0, 3), np.uint8)] * 2, batch=True)[0].shape == (0, 3)


def test_batch_of_different_extents() -> None:
    with pytest.raises(SampleError, match=r"sample 1.*must have the same extents") as caught:
        run_on("normalize", [np.zeros((2, 3)), np.zeros((2, 4))], batch=True, axes=[0])
    assert caught.value.operator == "normalize"
    assert caught.value.sample == 1


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": [0], "axis_names": "H"}, "'axis_names' must not be given together"),
        ({"axes": []}, "'axes' must have at least 1 number"),
        ({"axes": [0], "mean": 1, "stddev": 1}, "axes must be left out where"),
        ({"dtype": types.STRING}, "'dtype' must be a type of numbers"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    for batch in (False, True):
        with pytest.raises(ArgumentValueError, match=message):
            normalize(np.zeros((4, 4), np.uint8), "HW", batch=batch, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": [2]}, "axes must be from -2 to 1"),
        ({"axes": [0, -2]}, "axes must be named once each"),
        ({"axis_names": "HH"}, "axes must be named once each"),
        ({"axis_names": "X"}, "axis_names must be letters of the input's layout"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    for batch in (False, True):
        with pytest.raises(SampleError, match=message):
            normalize(np.zeros((4, 4), np.uint8), "HW", batch=batch, **arguments)


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        ((1, 4, 1), {}),
        ((8, 9, 3, 1), {}),
        ((1, 1, 3), {"axes": [0, 1, 2]}),
        ((1, 1, 2), {"axes": [0, 1]}),
    ],
)
def test_given_tensors_that_do_not_fit(shape: tuple[int, ...], arguments: dict[str, Any]) -> None:
    example = Example("tensors", [Input(lambda _: ARRAY)])
    for name in ("mean", "stddev"):
        given = {name: np.ones(shape, np.float32)}
        with pytest.raises(SampleError, match=f"{name} must have extents of 1"):
            run("normalize", example, arguments, per_sample=given)


def test_batch_with_given_tensors_raises() -> None:
    example = Example("tensors", [Input(lambda _: ARRAY)])
    with pytest.raises(ArgumentValueError, match="must be numbers where batch is set"):
        run("normalize", example, {"batch": True}, per_sample={"mean": MEAN})
