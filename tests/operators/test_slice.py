"""Slicing windows of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.generated_images import photo_like, png
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    Input,
    images,
    numbers,
    pipeline,
    run,
    run_on,
    shares_memory,
)

EXAMPLES = [
    Example("ends", [images(smallest=5)], {"start": (1, 2), "end": (4, 3), "axes": (0, 1)}),
    Example(
        "shares",
        [images("FCHW", "int16")],
        {"rel_start": (0.2, 0.1), "rel_end": (0.9, 1.0), "dtype": types.FLOAT},
    ),
    Example("extent", [images(smallest=8)], {"start": 2, "shape": (5, 3), "axis_names": "HW"}),
    Example("share", [images("CHW", "float16")], {"rel_start": 0.25, "rel_shape": 0.5}),
    Example(
        "inputs",
        [
            images(smallest=9),
            Input(lambda number: np.int64([number % 7, 1])),
            Input(lambda _: np.int64([2, 5])),
        ],
    ),
    Example(
        "padding",
        [images("HWC", "uint16")],
        {
            "start": (-3, -2, 1),
            "end": (20, 9, 3),
            "axes": (),
            "out_of_bounds_policy": "pad",
            "fill_values": [1.0, 2.0],
        },
    ),
    Example(
        "repeating",
        [images("XYZ", "int32", extents={"X": 2, "Y": 5, "Z": 1})],
        {"start": (-3, 9), "shape": (7, 4), "axes": (1, -1), "out_of_bounds_policy": "reflect"},
    ),
]

BORDERS = {
    "pad": "constant",
    "edge": "edge",
    "reflect": "symmetric",
    "reflect_101": "reflect",
    "wrap": "wrap",
}


def slice_of(array: np.ndarray, layout: str = "", **arguments: Any) -> np.ndarray:
    return run_on("slice", [array], layout, **arguments)[0]


@st.composite
def windows(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int], list[int]]:
    """A shape, and the start and extents of a window that may be out of bounds."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=7))
    first = [draw(st.integers(-6, 8)) for _ in shape]
    extent = [draw(st.integers(0, 4)) for _ in shape]
    return tuple(shape), first, extent


def window_of(array: np.ndarray, first: list[int], extent: list[int], mode: str) -> np.ndarray:
    """Slice a window of an infinitely padded array, in the modes of `numpy.pad`."""
    for axis, (start, length) in enumerate(zip(first, extent, strict=True)):
        widths = [(12, 12) if i == axis else (0, 0) for i in range(array.ndim)]
        values = {"constant_values": 1} if mode == "constant" else {}
        padded = np.pad(array, widths, mode, **values)  # type: ignore[call-overload]
        array = padded.take(range(start + 12, start + 12 + length), axis)
    return array


@given(window=windows(), policy=st.sampled_from(sorted(BORDERS)), dtype=st.sampled_from(ALL_TYPES))
@settings(max_examples=60)
def test_out_of_bounds_policies(
    window: tuple[tuple[int, ...], list[int], list[int]], policy: str, dtype: str
) -> None:
    shape, first, extent = window
    array = numbers(dtype, shape, 0)
    result = slice_of(
        array,
        start=first,
        shape=extent,
        axes=list(range(len(shape))),
        out_of_bounds_policy=policy,
        fill_values=1,
    )
    expected = window_of(array, first, extent, BORDERS[policy])
    np.testing.assert_array_equal(result, expected, strict=True)


@given(window=windows())
@settings(max_examples=20)
def test_trimming(window: tuple[tuple[int, ...], list[int], list[int]]) -> None:
    shape, first, extent = window
    array = numbers("int16", shape, 0)
    axes = list(range(len(shape)))
    inside = tuple(
        slice(max(start, 0), max(start + length, 0))
        for start, length in zip(first, extent, strict=True)
    )
    result = slice_of(
        array, start=first, shape=extent, axes=axes, out_of_bounds_policy="trim_to_shape"
    )
    np.testing.assert_array_equal(result, array[inside], strict=True)


ARRAY = numbers("uint8", (6, 8, 3), 0)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"start": (3, 2)}, ARRAY[2:, 3:]),
        ({"end": (3, 2)}, ARRAY[:2, :3]),
        ({"shape": (5, 4)}, ARRAY[:4, :5]),
        ({"start": 3, "end": 5}, ARRAY[3:5, 3:5]),
        ({"rel_start": (0.5, 0.25)}, ARRAY[2:, 4:]),
        ({"rel_end": 0.5}, ARRAY[:3, :4]),
        ({"rel_start": (0.3, 0.3), "shape": (2, 2)}, ARRAY[2:4, 2:4]),
        ({"start": (1, 2), "rel_shape": (0.5, 0.5)}, ARRAY[2:5, 1:5]),
        ({"start": 1, "end": 2, "axes": -1}, ARRAY[:, :, 1:2]),
        ({"start": 1, "end": 2, "axes": []}, ARRAY[1:2, 1:2, 1:2]),
        ({"start": 1, "end": 2, "axis_names": ""}, ARRAY[1:2, 1:2, 1:2]),
        ({"start": (2, 0), "end": (3, 5), "axis_names": "CH"}, ARRAY[:5, :, 2:3]),
        ({"start": [], "end": []}, ARRAY),
        ({"start": (2, 2), "end": (2, 6)}, ARRAY[2:6, 2:2]),
    ],
)
def test_ways_to_give_the_window(arguments: dict[str, Any], expected: np.ndarray) -> None:
    np.testing.assert_array_equal(slice_of(ARRAY, "HWC", **arguments), expected, strict=True)


def slice_by_inputs(*window: np.ndarray, **arguments: Any) -> np.ndarray:
    inputs = [ARRAY, *window]
    example = Example("inputs", [Input(lambda _, i=i: inputs[i]) for i in range(len(inputs))])
    return run("slice", example, arguments, batch_size=1, num_samples=1).samples[0][0]


@pytest.mark.parametrize(
    ("start", "shape", "arguments", "expected"),
    [
        (np.int32([3, 2]), np.int32([5, 4]), {}, ARRAY[2:6, 3:8]),
        (np.int64([3, 2]), np.int64([3, 1]), {"axes": [0, 2]}, ARRAY[3:6, :, 2:3]),
        (np.int32(3), np.int32(2), {}, ARRAY[3:5, 3:5]),
        (np.int32([[3, 2]]), np.int32([[5, 4]]), {}, ARRAY[2:6, 3:8]),
        (np.float32([0.25, 0.5]), np.float32([0.5, 0.5]), {}, ARRAY[3:6, 2:6]),
        (
            np.float32([1.5, 1.4]),
            np.float32([2, 2]),
            {"normalized_anchor": False, "normalized_shape": False},
            ARRAY[1:3, 2:4],
        ),
        (
            np.float32([1.5, 1.4]),
            np.float32([0.5, 0.5]),
            {"normalized_anchor": False},
            ARRAY[1:4, 2:6],
        ),
    ],
)
def test_window_by_inputs(
    start: np.ndarray, shape: np.ndarray, arguments: dict[str, Any], expected: np.ndarray
) -> None:
    np.testing.assert_array_equal(slice_by_inputs(start, shape, **arguments), expected)


def test_window_and_axes_of_each_sample() -> None:
    with pipeline(batch_size=2) as made:
        with made:
            data, start, axes = (
                fn.external_source(source=iter([values]))
                for values in (
                    [ARRAY, ARRAY],
                    [np.int32([1]), np.int32([2, 1])],
                    [np.int32([0]), np.int32([-1, 0])],
                )
            )
            made.set_outputs(fn.slice(data, start=start, axes=axes))
        (batch,) = made.run()
        np.testing.assert_array_equal(np.array(batch.at(0)), ARRAY[1:])
        np.testing.assert_array_equal(np.array(batch.at(1)), ARRAY[1:, :, 2:])


@pytest.mark.parametrize(
    ("arguments", "window"),
    [
        ({"start": 1, "axes": -1}, np.s_[:, :, 1:]),
        ({"start": 1, "end": 3, "axes": []}, np.s_[1:3, 1:3, 1:3]),
        ({"start": (1, 2), "end": (3, 7), "axes": [2, 0]}, np.s_[2:7, :, 1:3]),
        ({"start": (1, 2), "end": (9, 7), "axes": [-2, 0]}, np.s_[2:7, 1:9]),
        ({"rel_start": (0.5, 0), "axis_names": "HC"}, np.s_[10:]),
    ],
)
def test_windows_of_decoded_images(arguments: dict[str, Any], window: Any) -> None:
    image = photo_like(20, 30)
    file = np.frombuffer(png(image), np.uint8)
    with pipeline(batch_size=1) as made:
        with made:
            decoded = fn.decoders.image(fn.external_source(source=lambda: [file]))
            made.set_outputs(fn.slice(decoded, **arguments))
        (batch,) = made.run()
    np.testing.assert_array_equal(np.array(batch.at(0)), image[window])


def test_conversion_saturates_and_drops_the_fraction() -> None:
    values = np.float32([-1.5, 0.5, 1.5, 254.9, 255.4, 300, np.nan, np.inf, -np.inf])
    result = slice_of(values, start=0, axes=0, dtype=types.UINT8)
    assert result.tolist() == [0, 0, 1, 254, 255, 255, 0, 255, 0]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7, 300])
def test_channels(dtype: str, channels: int) -> None:
    image = numbers(dtype, (5, 700 // channels + 3, channels + 2), channels)
    arguments: dict[str, Any] = {"start": [1], "end": [channels + 1], "axes": [2]}
    result = slice_of(image, "HWC", **arguments)
    np.testing.assert_array_equal(result, image[:, :, 1:-1], strict=True)
    converted = slice_of(image, "HWC", dtype=types.FLOAT, **arguments)
    np.testing.assert_array_equal(converted, image[:, :, 1:-1].astype("float32"), strict=True)


def test_fill_values_belong_to_the_channels_of_the_window() -> None:
    pixel = numbers("uint8", (1, 1, 3), 0)
    pad = {"out_of_bounds_policy": "pad"}
    result = slice_of(pixel, "HWC", start=(-1, 1), shape=2, axes=(0, 2), **pad, fill_values=[7, 9])
    assert result[:, 0].tolist() == [[7, 9], pixel[0, 0, 1:].tolist()]
    result = slice_of(pixel, "HWC", start=2, end=5, axes=2, **pad, fill_values=[7, 8, 9])
    assert result.ravel().tolist() == [pixel[0, 0, 2], 8, 9]
    planes = pixel.reshape(3, 1, 1)
    result = slice_of(planes, "CXY", start=-1, end=4, axes=0, **pad, fill_values=[1, 2, 3, 4, 5])
    assert result.ravel().tolist() == [1, *planes.ravel().tolist(), 5]


@pytest.mark.parametrize(
    ("shape", "names"), [((5, 6), "WH"), ((5, 6, 2), "CW"), ((2, 5, 6, 1), "DW")]
)
def test_names_where_there_is_no_layout(shape: tuple[int, ...], names: str) -> None:
    array = numbers("uint8", shape, 0)
    layouts = {2: "HW", 3: "HWC", 4: "DHWC"}
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [array])
            made.set_outputs(fn.slice(data, start=1, axis_names=names))
        (batch,) = made.run()
    expected = array[tuple(slice(letter in names, None) for letter in layouts[len(shape)])]
    np.testing.assert_array_equal(np.array(batch.at(0)), expected)
    assert batch.layout() == ""


def test_scalar_is_its_own_window() -> None:
    assert slice_of(np.float32(2.5), start=[], axes=[], dtype=types.UINT8) == 2


def test_zero_copy_of_the_whole_tensor() -> None:
    assert shares_memory("slice", start=0, end=[7, 7], out_of_bounds_policy="trim_to_shape")
    assert not shares_memory("slice", start=1)
    assert not shares_memory("slice", start=0, dtype=types.FLOAT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "the window must be given by arguments or by two more inputs"),
        ({"start": 1, "rel_start": 0.1}, "'start' must not be given together with 'rel_start'"),
        ({"end": 9, "shape": 3}, "'end' must not be given together with 'shape'"),
        ({"start": 1, "axes": 0, "axis_names": "W"}, "'axis_names' must not be given together"),
        ({"start": 1, "out_of_bounds_policy": "grow"}, "out_of_bounds_policy must be"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        slice_of(ARRAY, "HWC", **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"start": (-1, 2), "end": 7},
            r"inside the input \(got a window of shape \(5, 8, 3\) from \(2, -1, 0\) on",
        ),
        ({"start": 3, "end": 2}, "the window must not end before its start"),
        ({"shape": -1}, "the window must not end before its start"),
        ({"start": (1, 2, 3)}, "start must be one number or one for each of the 2 axes"),
        ({"start": 0, "axes": 3}, "axes must be from -3 to 2"),
        ({"start": 0, "axes": (0, -3)}, "axes must be named once each"),
        ({"start": 0, "axis_names": "X"}, "axis_names must be letters of the input's layout"),
        ({"start": 0, "dtype": types.INT16}, "dtype must be UINT8, FLOAT16, FLOAT"),
        (
            {"start": -1, "out_of_bounds_policy": "pad", "fill_values": [1, 2]},
            "each of the 3 channels",
        ),
        (
            {"start": -1, "end": 10**7, "axes": [], "out_of_bounds_policy": "wrap"},
            "at most 140737488355328 bytes",
        ),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        slice_of(ARRAY, "HWC", **arguments)


def test_windows_that_are_not_finite() -> None:
    with pytest.raises(ArgumentValueError, match=r"'rel_start', entry 0 must be finite"):
        slice_of(ARRAY, "HWC", rel_start=float("nan"))
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [ARRAY], layout="HWC")
            start = fn.external_source(source=lambda: [np.float32([np.nan, 0])])
            made.set_outputs(fn.slice(data, start, np.float32([0.5, 0.5])))
        with pytest.raises(SampleError, match="the window must have finite ends"):
            made.run()


def test_channels_without_name() -> None:
    with pytest.raises(SampleError, match="where the layout has no C"):
        slice_of(ARRAY, "XYZ", start=-1, axes=0, out_of_bounds_policy="pad", fill_values=[1, 2, 3])


def test_nothing_to_repeat() -> None:
    with pytest.raises(SampleError, match="must not be empty"):
        slice_of(ARRAY[:0], "HWC", start=-1, out_of_bounds_policy="edge")


@pytest.mark.parametrize(
    ("window", "arguments", "error", "message"),
    [
        ([np.int32([1, 1])], {}, ArgumentValueError, "by two more inputs"),
        ([np.int32([1, 1])] * 2, {"end": 2}, ArgumentValueError, "not be combined with inputs"),
        ([np.int32([1, 1]), np.float32([0.5, 0.5])], {}, SampleError, "have the same type"),
        ([np.uint8([1, 1])] * 2, {}, SampleError, "must have type INT32, INT64 or FLOAT"),
        ([np.int32([1, 1, 1])] * 2, {}, SampleError, "one for each of the 2 axes"),
        ([np.int32([])] * 2, {}, SampleError, "one number for each axis"),
    ],
)
def test_invalid_inputs(
    window: list[np.ndarray], arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        slice_by_inputs(*window, **arguments)
