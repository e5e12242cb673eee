"""Reductions: integers as in NVIDIA DALI, floating point numbers within its rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.comparing import (
    INTEGERS,
    Samples,
    always,
    numbers,
    reference,
    run,
)

TYPES = [*INTEGERS, "float32"]
SUMS = ["reductions.sum", "reductions.mean", "reductions.mean_square", "reductions.rms"]
EXTREMES = ["reductions.min", "reductions.max"]
DEVIATIONS = ["reductions.variance", "reductions.std_dev"]
AXES: list[dict[str, Any]] = [
    {},
    {"axes": 0},
    {"axes": 1},
    {"axes": -1},
    {"axes": [0, 1]},
    {"axes": [2, 0]},
    {"axes": [-2, -1]},
    {"axes": [0, 1, 2]},
    {"axes": []},
    {"axis_names": "H"},
    {"axis_names": "CH"},
    {"axis_names": "HWC"},
    {"axis_names": ""},
]


def samples_of(dtype: str, *, small: bool = False) -> Samples:
    """Return images of several sizes; squares of small numbers can be summed in the dtype."""
    shapes = ((7, 5, 3), (1, 1, 1), (40, 33, 2), (3, 1, 6))
    samples = [numbers(dtype, shape) for shape in shapes]
    if small and dtype != "float32":
        samples = [(sample % 11).astype(dtype) for sample in samples]
    return samples


def check(operator: str, *inputs: tuple[Samples, str], **constants: Any) -> None:
    """Both return the same, within the rounding errors of sums in float32."""
    (theirs,), (ours,) = (
        run(library, operator, inputs, {}, constants) for library in (reference, dali_core)
    )
    assert (ours.layout, ours.dtype) == (theirs.layout, theirs.dtype)
    data = inputs[0][0]
    for sample, mine, expected in zip(data, ours.samples, theirs.samples, strict=True):
        assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
        if mine.dtype.kind in "iu":
            np.testing.assert_array_equal(mine, expected)
        else:
            # Terms may cancel: errors depend on their size.
            size = np.nan_to_num(np.abs(sample.astype(np.float64))).max(initial=0) ** (
                2 if operator.endswith(("square", "variance")) else 1
            )
            count = sample.size if operator.endswith("sum") else 1
            np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=3e-6 * size * count)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operator", [*SUMS, *EXTREMES])
def test_types(operator: str, dtype: str) -> None:
    # The reference squares and adds wide integers in their own type, where results wrap around.
    small = operator in SUMS[2:] and dtype not in ("uint8", "int8", "int16")
    for arguments in AXES[:9]:
        check(operator, (samples_of(dtype, small=small), "HWC"), **arguments)


@pytest.mark.parametrize("arguments", AXES)
@pytest.mark.parametrize("operator", [*SUMS, *EXTREMES])
def test_axes(operator: str, arguments: dict[str, Any]) -> None:
    for keep_dims in (False, True):
        inputs = (samples_of("int16"), "HWC")
        check(operator, inputs, keep_dims=keep_dims, **arguments)


def own_type(dtype: str) -> str:
    return {"float32": "FLOAT"}.get(dtype, dtype.upper())


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operator", SUMS)
def test_output_types(operator: str, dtype: str) -> None:
    small = operator != "reductions.sum"
    inputs = (samples_of(dtype, small=small), "HWC")
    if operator == "reductions.mean_square":
        wide = "FLOAT" if dtype == "float32" else "UINT64" if dtype[0] == "u" else "INT64"
        targets = [wide, "FLOAT"]
    else:
        targets = [own_type(dtype), "FLOAT"]
    for target in targets:
        if operator == "reductions.sum" and target == "FLOAT" and dtype.endswith("int64"):
            continue  # rejected there
        for axes in ({}, {"axes": [0]}, {"axes": [2]}, {"axes": [0, 1]}):
            check(operator, inputs, dtype=target, **axes)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32"])
@pytest.mark.parametrize("operator", ["reductions.sum", "reductions.mean", "reductions.rms"])
def test_sums_wrap_around_in_narrow_types(operator: str, dtype: str) -> None:
    if operator == "reductions.rms" and dtype in ("int8", "int16", "int32"):
        return  # roots of sums that wrapped around to negative numbers are meaningless
    # A power of two, by which the reference divides without rounding in float32.
    samples = [numbers(dtype, (256,)) >> (8 if dtype == "int32" else 0), numbers(dtype, (32,), 1)]
    check(operator, (samples[:1] if dtype == "int32" else samples, ""), dtype=own_type(dtype))


@pytest.mark.parametrize("operator", SUMS)
def test_means_are_cut_to_whole_numbers(operator: str) -> None:
    for values in ([1, 2], [0, 1], [1, 2, 2], [3, 4], [7, 7, 7], [-1, -2], [-3, -4, -4]):
        dtype = "UINT8" if min(values) >= 0 else "INT8"
        sample = np.array(values, dtype.lower())
        target = {"reductions.mean_square": dtype.replace("8", "64")}.get(operator, dtype)
        check(operator, ([sample], ""), dtype=target)


@pytest.mark.parametrize("operator", [*SUMS, *EXTREMES])
def test_numbers_without_dimensions(operator: str) -> None:
    samples = [np.float32(-3), np.float32(0.5)]
    for arguments in ({}, {"keep_dims": True}, {"axes": []}):
        check(operator, (samples, ""), **arguments)


@pytest.mark.parametrize("operator", [*SUMS, *EXTREMES])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
def test_empty_arrays(operator: str, dtype: str) -> None:
    check(operator, ([np.zeros((0,), dtype)], ""))
    for shape in ((0, 3), (3, 0)):
        for axis in (0, 1):
            check(operator, ([np.zeros(shape, dtype)], ""), axes=axis)


@pytest.mark.parametrize("operator", EXTREMES)
def test_nan_is_passed_over(operator: str) -> None:
    samples = [np.float32(values) for values in ([1, np.nan, 3], [np.nan, 1, 3], [2, 1, np.nan])]
    check(operator, (samples, ""))


def means_of(samples: Samples, axes: tuple[int, ...], *, keep_dims: bool) -> Samples:
    return [
        np.asarray(sample.mean(axis=axes, keepdims=keep_dims, dtype=np.float64), np.float32)
        for sample in samples
    ]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operator", DEVIATIONS)
def test_deviation_types(operator: str, dtype: str) -> None:
    # Squares of the largest ones exceed the range of sums in float32.
    samples = samples_of(dtype, small=dtype.endswith("int64"))
    for axes in ((0, 1, 2), (0,), (2,), (0, 1), (1, 2), (0, 2)):
        means = means_of(samples, axes, keep_dims=False)
        check(operator, (samples, "HWC"), (means, ""), axes=list(axes))


@pytest.mark.parametrize("keep_dims", [False, True])
@pytest.mark.parametrize("operator", DEVIATIONS)
def test_deviation_arguments(operator: str, keep_dims: bool) -> None:
    samples = samples_of("uint8")
    for keep_dims_of_means in (False, True):
        means = means_of(samples, (0, 1), keep_dims=keep_dims_of_means)
        inputs = ((samples, "HWC"), (means, ""))
        check(operator, *inputs, axes=[0, 1], keep_dims=keep_dims)
        check(operator, *inputs, axis_names="WH", keep_dims=keep_dims)
    everything = means_of(samples, (0, 1, 2), keep_dims=keep_dims)
    for ddof in (0, 1, 5, -1):
        samples_and_means = ((samples[::2], "HWC"), (everything[::2], ""))
        check(operator, *samples_and_means, ddof=ddof, keep_dims=keep_dims)
    check(operator, (samples, "HWC"), (samples_of("float32"), ""), axes=[], ddof=1)


@pytest.mark.parametrize("operator", DEVIATIONS)
def test_deviations_of_one_number(operator: str) -> None:
    for mean in (5.0, 4.0):
        for ddof in (0, 1):
            check(operator, ([np.float32([5])], ""), ([np.float32(mean)], ""), ddof=ddof)


@pytest.mark.parametrize("operator", ["std_dev", "variance"])
def test_mean_as_a_number(operator: str) -> None:
    results = []
    for library in (reference, dali_core):
        pipeline = library.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipeline:
            data = library.fn.external_source(source=always([numbers("float32", (5, 6))]))
            pipeline.set_outputs(getattr(library.fn.reductions, operator)(data, 2.5))
        pipeline.build()
        results.append(np.array(pipeline.run()[0].at(0)))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": [0, 0]},
        {"axes": [0, -3]},
        {"axes": 3},
        {"axes": -4},
        {"axis_names": "X"},
        {"axis_names": "hw"},
        {"axes": [0], "axis_names": "W"},
        {"axes": [0], "axis_names": ""},
    ],
)
@pytest.mark.parametrize("operator", [*SUMS, *EXTREMES])
def test_wrong_axes(operator: str, arguments: dict[str, Any]) -> None:
    check_refused(operator, (samples_of("uint8"), "HWC"), arguments)


def test_no_names_without_a_layout() -> None:
    check_refused("reductions.sum", (samples_of("uint8"), ""), {"axis_names": "H"})
    check_refused("reductions.sum", ([np.int32(5)], ""), {"axes": 0})


def check_refused(operator: str, data: tuple[Samples, str], arguments: dict[str, Any]) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, IndexError)):
            run(library, operator, [data], {}, arguments)
