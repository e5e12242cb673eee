"""Indices in brackets: results equal NumPy's; contiguous parts are not copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dali_core
from dali_core import DataNode, Pipeline, fn, newaxis, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError, SampleError
from tests.graph.computing import ALL_TYPES, compute, compute_batch, numbers, run

IMAGE = numbers("uint8", (4, 5, 3), 1)


@st.composite
def entries(draw: st.DrawFn, extents: tuple[int, ...]) -> tuple[Any, ...]:
    """Draw an index for NumPy, in which each dimension may be sliced, indexed, or omitted."""
    result: list[Any] = []
    bounds = st.none() | st.integers(-8, 8)
    for extent in extents[: draw(st.integers(0, len(extents)))]:
        if draw(st.booleans()) and extent > 0:
            result.append(draw(st.integers(-extent, extent - 1)))
        else:
            step = draw(st.none() | st.integers(-3, 3).filter(bool))
            result.append(slice(draw(bounds), draw(bounds), step))
    if draw(st.booleans()):
        result.insert(draw(st.integers(0, len(result))), np.newaxis)
    return tuple(result)


@st.composite
def cases(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[Any, ...]]]:
    shape = tuple(draw(st.lists(st.integers(0, 6), max_size=4)))
    return shape, draw(st.lists(entries(shape), min_size=1, max_size=6))


def of_nodes(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the same index for nodes, where None means a full slice."""
    return tuple(newaxis if entry is np.newaxis else entry for entry in index)


@given(cases(), st.sampled_from(ALL_TYPES))
@settings(max_examples=80)
def test_indices_are_those_of_numpy(
    case: tuple[tuple[int, ...], list[tuple[Any, ...]]], dtype: str
) -> None:
    shape, indices = case
    values = numbers(dtype, shape, 3)
    results = compute(lambda x: [x[of_nodes(index)] for index in indices], values)
    for result, index in zip(results, indices, strict=True):
        np.testing.assert_array_equal(result, values[index], strict=True)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 6, 8, 12, 16])
@pytest.mark.parametrize("first", range(4))
def test_pixels_in_reverse_order(channels: int, first: int) -> None:
    """Wherever they begin: a part that lies in one piece is not copied before."""
    values = numbers("uint8", (first + 67 * channels,), 5)
    shape = [67, channels]

    def reverse(x: DataNode) -> list[DataNode]:
        pixels = fn.reshape(x[first:], shape=shape, layout="WC")
        return [pixels[::-1], pixels[5:60][::-1], fn.flip(pixels[newaxis("H")], horizontal=1)]

    pixels = values[first:].reshape(shape)
    results = compute(reverse, values)
    for result, expected in zip(
        results, [pixels[::-1], pixels[5:60][::-1], pixels[None, ::-1]], strict=True
    ):
        np.testing.assert_array_equal(result, expected)


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-4, 4).filter(bool))
@settings(max_examples=40)
def test_indices_of_samples(begin: int, end: int, step: int) -> None:
    values = np.arange(7, dtype=np.int16)
    dtypes = ("int32", "int8", "int64")
    scalars = [np.array(n, dtype) for n, dtype in zip((begin, end, step), dtypes, strict=True)]
    results = compute(lambda x, b, e, s: [x[b:e:s], x[b:], x[:e], x[::s]], values, *scalars)
    expected = [values[begin:end:step], values[begin:], values[:end], values[::step]]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted, strict=True)


@pytest.mark.parametrize("bound", [2**63 - 1, -(2**63), 2**40, -(2**40)])
def test_enormous_numbers(bound: int) -> None:
    slices = [slice(bound, None), slice(None, bound), slice(None, None, bound)]
    slices += [slice(bound, -bound - 1, -1), slice(5, 1, bound), slice(1, 5, bound)]
    values = np.arange(7)
    results = compute(lambda x: [x[entry] for entry in slices], values)
    for result, entry in zip(results, slices, strict=True):
        np.testing.assert_array_equal(result, values[entry], strict=True)


def test_ellipsis_and_none() -> None:
    results = compute(
        lambda x: [x[...], x[..., 0], x[1, ..., ::2], x[None], x[None, 2], x[0, 1, ..., 2], x[()]],
        IMAGE,
    )
    expected = [
        *(IMAGE, IMAGE[..., 0], IMAGE[1, ..., ::2], IMAGE, IMAGE[:, 2], IMAGE[0, 1, 2], IMAGE),
    ]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_layouts() -> None:
    def build(x: DataNode) -> list[DataNode]:
        return [
            *(x[0], x[:, 1], x[..., 0], x[0, 0, 0], x[1:, ::2]),
            *(x[newaxis], x[newaxis("F")], x[:, 0, newaxis("D")], x[..., newaxis("N")]),
        ]

    outputs, _ = run(build, [[IMAGE]], layout="HWC")
    layouts = [batch.layout() for batch in outputs]
    assert layouts == ["WC", "HC", "HW", "", "HWC", "", "FHWC", "HDC", "HWCN"]


def test_contiguous_views_are_zero_copy() -> None:
    # Outputs of one shape would be gathered in contiguous memory afterwards.
    small = [numbers("uint8", (size, size + 1, 3), 0) for size in (4, 6)]
    large = [numbers("uint8", (size, size + 1, 3), 0) for size in (90, 60)]
    for samples, is_small in ((small, True), (large, False)):
        pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipeline:
            x = fn.external_source(source=[samples], cycle="quiet")
            pipeline.set_outputs(x, x[1:], x[1], x[:, 1:], x[1:2, 2:-1], x[::-1])
        whole, *parts = pipeline.run()
        for i, sample in enumerate(samples):
            array = np.asarray(whole[i])
            views = [np.shares_memory(array, np.asarray(part[i])) for part in parts]
            # A small part of a large tensor is copied, which would keep the whole alive otherwise.
            assert views == [True, is_small, False, is_small, False]
            np.testing.assert_array_equal(np.asarray(parts[0][i]), sample[1:])
        pipeline.close()


def test_samples_of_several_shapes() -> None:
    samples = [[numbers("float32", (n, 3), n), np.array(n - 1)] for n in (1, 4, 2)]
    results = compute_batch(lambda x, last: [x[last], x[last:], x[-1] + x[last, 0]], samples)
    for (values, _), (one, other, total) in zip(samples, results, strict=True):
        np.testing.assert_array_equal(one, values[-1])
        np.testing.assert_array_equal(other, values[-1:])
        np.testing.assert_array_equal(total, values[-1] + values[-1, 0])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x, i: x[4], r"from -extent to extent - 1 \(got 4 for dimension 0 of shape \(4, 5"),
        (lambda x, i: x[:, -6], "got -6 for dimension 1"),
        (lambda x, i: x[0, 0, 0, 0], "at most one index for each dimension .got 4"),
        (lambda x, i: x[:: i * 0], "must not be 0"),
        (lambda x, i: x[i * 9], "got 9 for dimension 0"),
        (lambda x, i: x[x], "indices must be scalars"),
        (lambda x, i: x[i * 1.0], "indices must be integers .got type float32"),
        (lambda x, i: x[i == 1], "indices must be integers .got type bool"),
        (lambda x, i: x[newaxis("C")], "only where the other dimensions have one"),
        (lambda x, i: i[0], "at most one index"),
    ],
)
def test_samples_that_do_not_fit(build: Callable[..., DataNode], message: str) -> None:
    with pytest.raises(SampleError, match=message) as caught:
        compute(lambda x, i: [build(x, i)], IMAGE, np.array(1))
    assert caught.value.operator in ("operator []",)
    assert caught.value.location.startswith(__file__)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda x: x[1.5], ArgumentTypeError, r"operator \[\] at .*indices must be integers.*1.5"),
        (lambda x: x["a"], ArgumentTypeError, "indices must be integers"),
        (lambda x: x[[0, 1]], ArgumentTypeError, "indices must be integers"),
        (lambda x: x[np.array([0, 1])], ArgumentTypeError, "indices must be integers"),
        (lambda x: x[..., ...], ArgumentValueError, "at most one ellipsis"),
        (lambda x: x[::0], ArgumentValueError, "must not be 0"),
        (lambda x: x[2**63], ArgumentValueError, "64 bits"),
        (lambda x: x[newaxis("AB")], ArgumentValueError, "must be one letter"),
        (lambda x: x[newaxis("A"), newaxis], ArgumentValueError, "all new axes must have names"),
        (lambda x: list(x), GraphError, "cannot be unpacked"),
    ],
)
def test_wrong_indices(build: Callable[[DataNode], Any], error: type, message: str) -> None:
    with (
        Pipeline(batch_size=1, num_threads=1, device_id=None),
        pytest.raises(error, match=message) as caught,
    ):
        build(fn.external_source(source=lambda: [IMAGE]))
    assert __file__ in str(caught.value)


def test_constants_are_indices() -> None:
    entries = [True, np.int64(2), np.array(1), np.array([3]), types.Constant(2)]
    results = compute(lambda x: [x[entry] for entry in entries], IMAGE)
    for result, index in zip(results, (1, 2, 1, 3, 2), strict=True):
        np.testing.assert_array_equal(result, IMAGE[index])


def test_newaxis_repr() -> None:
    assert repr(dali_core.newaxis) == "newaxis"
    assert repr(dali_core.newaxis("C")) == "newaxis('C')"
