"""Warping images and volumes by a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.matrices import transforms
from tests.operators.suite import Example, Input, images, numbers, pipeline, run_on, type_of
from tests.operators.warping import (
    OTHER_TYPES,
    WARP_TYPES,
    check_warped,
    linear,
    nearest,
    source_coordinates,
)

MATRIX = [0.9, 0.2, -1.337, -0.15, 1.1, 0.713]
VOLUME_MATRIX = [0.9, 0.2, 0.1, -1.337, -0.15, 1.1, 0.0, 0.713, 0.1, 0.05, 0.8, 0.431]
NN = types.INTERP_NN
EXAMPLES = [
    Example("clamped", [images()], {"matrix": MATRIX}),
    Example("filled", [images()], {"matrix": MATRIX, "fill_value": 42.0, "size": [20.0, 300.0]}),
    Example("nearest", [images()], {"matrix": MATRIX, "interp_type": NN, "fill_value": 7.0}),
    Example(
        "nearest-to-float", [images()], {"matrix": MATRIX, "interp_type": NN, "dtype": types.FLOAT}
    ),
    Example("to-float", [images()], {"matrix": MATRIX, "dtype": types.FLOAT}),
    Example("grey", [images(extents={"C": 1})], {"matrix": MATRIX, "inverse_map": False}),
    Example("four-channels", [images(extents={"C": 4})], {"matrix": MATRIX}),
    Example("five-channels", [images("FHWC", "float32", extents={"C": 5})], {"matrix": MATRIX}),
    Example("float", [images("HWC", "float32")], {"matrix": MATRIX, "dtype": types.UINT8}),
    Example("int16", [images("FHWC", "int16")], {"matrix": MATRIX, "fill_value": -7.0}),
    Example("uint16", [images("HWC", "uint16")], {"matrix": MATRIX}),
    Example("int32", [images("HWC", "int32")], {"matrix": MATRIX}),
    Example("volume", [images("DHWC")], {"matrix": VOLUME_MATRIX, "fill_value": 9.0}),
    Example(
        "volume-nearest", [images("DHWC", "int16")], {"matrix": VOLUME_MATRIX, "interp_type": NN}
    ),
    Example(
        "volumes", [images("FDHWC", "float32")], {"matrix": VOLUME_MATRIX, "size": [4.0, 5.0, 6.0]}
    ),
    Example("input", [images(), Input(lambda number: np.float32(MATRIX).reshape(2, 3))]),
]
"""Matrices shear and rotate, so that every axis changes."""


def warp(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("warp_affine", [image], layout, **arguments)[0]


@pytest.mark.parametrize("fill", [None, 3.0])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 17])
@pytest.mark.parametrize("dtype", WARP_TYPES)
def test_linear(dtype: str, channels: int, fill: float | None) -> None:
    # More than one block of pixels along a row of the output.
    image = numbers("uint8", (23, 41, channels), 1).astype(dtype)
    matrix = [0.12, 0.2, -3.3, -0.015, 1.1, 0.7]
    result = warp(image, matrix=matrix, fill_value=fill, size=(30, 300))
    check_warped(result, linear(image, source_coordinates(matrix, (30, 300)), fill), dtype)


@pytest.mark.parametrize("fill", [None, 3.0])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", WARP_TYPES)
def test_nearest(dtype: str, channels: int, fill: float | None) -> None:
    image = numbers(dtype, (23, 41, channels), 1)
    matrix = [0.125, 0.25, -3.4, -0.015625, 1.125, 0.7]
    result = warp(image, matrix=matrix, fill_value=fill, size=(30, 300), interp_type=NN)
    expected = nearest(image, source_coordinates(np.float32(matrix), (30, 300)), fill)
    np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("fill", [None, 200.0])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_volumes(channels: int, fill: float | None) -> None:
    volume = numbers("uint8", (9, 11, 13, channels), 1)
    result = warp(volume, "DHWC", matrix=VOLUME_MATRIX, fill_value=fill)
    coordinates = source_coordinates(VOLUME_MATRIX, (9, 11, 13))
    check_warped(result, linear(volume, coordinates, fill), "uint8")
    result = warp(volume, "DHWC", matrix=VOLUME_MATRIX, fill_value=fill, interp_type=NN)
    np.testing.assert_array_equal(result, nearest(volume, coordinates, fill))


@given(
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    matrix=st.lists(st.floats(-2, 2, width=16), min_size=6, max_size=6),
    offset=st.floats(-10, 10, width=16),
    fill=st.sampled_from([None, 0.0, 255.0]),
)
def test_any_matrix(
    height: int, width: int, matrix: list[float], offset: float, fill: float | None
) -> None:
    image = numbers("uint8", (height, width, 3), height * width)
    matrix[2] += offset
    matrix[5] -= offset
    result = warp(image, matrix=matrix, fill_value=fill)
    check_warped(result, linear(image, source_coordinates(matrix, (height, width)), fill), "uint8")


@pytest.mark.parametrize("target", WARP_TYPES)
@pytest.mark.parametrize("source", WARP_TYPES)
def test_types(source: str, target: str) -> None:
    image = numbers(source, (11, 13, 3), 2)
    coordinates = source_coordinates(MATRIX, (11, 13))
    result = warp(image, matrix=MATRIX, dtype=type_of(target))
    check_warped(result, linear(image, coordinates, None), target)
    result = warp(image, matrix=MATRIX, dtype=type_of(target), interp_type=NN)
    check_warped(result, nearest(image, coordinates, None).astype(np.float64), target)


def test_identity_and_whole_shifts_keep_pixels() -> None:
    for dtype in WARP_TYPES:
        image = numbers("int16", (6, 7, 3), 0).astype(dtype)
        np.testing.assert_array_equal(warp(image, matrix=[1, 0, 0, 0, 1, 0]), image)
        shifted = warp(image, matrix=[1, 0, 2, 0, 1, -1], fill_value=0)
        np.testing.assert_array_equal(shifted[1:, :-2], image[:-1, 2:])
        assert not shifted[0].any()
        assert not shifted[:, -2:].any()


def test_fill_value_blends_at_the_border() -> None:
    image = np.float32([[[10], [20], [40]]])
    result = warp(image, matrix=[1, 0, -1.25, 0, 1, 0], size=(1, 6), fill_value=100.0)
    assert result.ravel().tolist() == [100.0, 32.5, 17.5, 35.0, 85.0, 100.0]


@pytest.mark.parametrize("fill", [3.7, -5.0, 300.0, 2.5])
def test_type_of_the_fill_value(fill: float) -> None:
    image = np.zeros((1, 1, 1), np.uint8)
    call = {"matrix": [1, 0, 9, 0, 1, 0], "fill_value": fill}
    rounded = np.clip(np.floor(fill + 0.5), 0, 255)
    assert warp(image, dtype=types.FLOAT, **call).item() == rounded
    assert warp(image, dtype=types.FLOAT, interp_type=NN, **call).item() == np.float32(fill)
    assert warp(image, interp_type=NN, **call).item() == rounded
    assert warp(image.astype(np.float32), dtype=types.UINT8, **call).item() == rounded


def test_matrix_from_input_to_output() -> None:
    image = numbers("uint8", (20, 30, 3), 0)
    square = np.vstack([np.reshape(MATRIX, (2, 3)), [0, 0, 1]])
    inverse = np.linalg.inv(square)[:2].ravel().tolist()
    result = warp(image, matrix=inverse, inverse_map=False, dtype=types.FLOAT)
    expected = warp(image, matrix=MATRIX, dtype=types.FLOAT)
    np.testing.assert_allclose(result, expected, atol=0.05)


def test_matrix_as_input_and_in_other_forms() -> None:
    image = numbers("uint8", (9, 8, 3), 0)
    expected = warp(image, matrix=MATRIX)
    matrix = np.float32(MATRIX).reshape(2, 3)
    call = {"matrix": matrix}
    for result, layout in (
        transforms("warp_affine", image, layouts=["HWC"], **call),
        transforms("warp_affine", image, matrix, layouts=["HWC", ""]),
        transforms("warp_affine", image, matrix.astype("f8"), layouts=["", ""]),
    ):
        assert layout == "HWC"
        np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(warp(image, matrix=matrix.ravel()), expected)


def test_matrix_of_a_transform() -> None:
    image = numbers("uint8", (9, 8, 3), 0)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [image], layout="HWC")
            matrix = fn.transforms.translation(offset=[2.0, 1.0])
            made.set_outputs(fn.warp_affine(data, matrix, fill_value=0))
        (batch,) = made.run()
    np.testing.assert_array_equal(np.array(batch.at(0))[:-1, :-2], image[1:, 2:])


def test_matrix_for_each_frame() -> None:
    frames = numbers("uint8", (3, 9, 8, 3), 0)
    shifts = np.float32([[[1, 0, x], [0, 1, 0]] for x in range(3)])
    result, layout = transforms("warp_affine", frames, layouts=["FHWC"], matrix=(shifts, "FRC"))
    assert layout == "FHWC"
    for frame in range(3):
        expected = warp(frames[frame], matrix=shifts[frame].ravel())
        np.testing.assert_array_equal(result[frame], expected)
    one, _ = transforms("warp_affine", frames, layouts=["FHWC"], matrix=(shifts[1:2], "FRC"))
    np.testing.assert_array_equal(one[1], result[1])
    with pytest.raises(SampleError, match=r"each of the 3 frames, or one for all \(got 2\)"):
        transforms("warp_affine", frames, layouts=["FHWC"], matrix=(shifts[:2], "FRC"))


@pytest.mark.parametrize(
    ("size", "expected"), [((2, 7), (2, 7)), ((2.5, 7.49), (3, 7)), ((0.4, 1.5), (1, 2))]
)
def test_size(size: tuple[float, float], expected: tuple[int, int]) -> None:
    image = np.zeros((4, 5, 3), np.uint8)
    assert warp(image, matrix=MATRIX, size=size).shape == (*expected, 3)


def test_size_that_comes_with_the_sample_drops_its_fraction() -> None:
    image = np.zeros((4, 5, 3), np.uint8)
    call = {"matrix": MATRIX}
    result, _ = transforms("warp_affine", image, size=np.float32([2.9, 7.0]), **call)
    assert result.shape == (2, 7, 3)
    with pytest.raises(SampleError, match="size must be at least one pixel"):
        transforms("warp_affine", image, size=np.float32([0.9, 7.0]), **call)


@pytest.mark.parametrize("number", [1e30, -1e12])
@pytest.mark.parametrize("interpolation", [NN, types.INTERP_LINEAR])
def test_coordinates_far_away(number: float, interpolation: types.DALIInterpType) -> None:
    image = numbers("uint8", (4, 5, 3), 0)
    call = {"matrix": [1, 0, number, 0, 1, 0], "interp_type": interpolation}
    assert (warp(image, fill_value=7, **call) == 7).all()
    column = -1 if number > 0 else 0
    expected = np.broadcast_to(image[:, column, None], image.shape)
    np.testing.assert_array_equal(warp(image, **call), expected)


@pytest.mark.parametrize("layout", ["HWC", "FHWC", "DHWC", "FDHWC"])
def test_empty_images(layout: str) -> None:
    shape = [0] * (len(layout) - 1) + [3]
    ndim = 3 if "D" in layout else 2
    matrix = np.eye(ndim, ndim + 1).ravel().tolist()
    call: dict[str, Any] = {"matrix": matrix, "layout": layout}
    assert list(warp(np.zeros(shape, np.uint8), **call).shape) == shape
    assert list(warp(np.zeros((*shape[:-1], 0), np.uint8), **call).shape)[-1] == 0
    if layout[0] != "F":
        for interpolation in (NN, types.INTERP_LINEAR):
            call["interp_type"] = interpolation
            result = warp(np.zeros(shape, np.uint8), size=[2] * ndim, fill_value=9, **call)
            assert result.shape == (*[2] * ndim, 3)
            assert (result == 9).all()
        with pytest.raises(SampleError, match="the input must not be empty"):
            warp(np.zeros(shape, np.uint8), size=[2] * ndim, **call)


@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_other_types(dtype: str) -> None:
    with pytest.raises(SampleError, match=r"images must have type .* \(got "):
        warp(np.zeros((2, 2, 3), dtype), matrix=MATRIX)
    with pytest.raises(ArgumentValueError, match=r"'dtype' must be UINT8, .* \(got "):
        warp(np.zeros((2, 2, 3), np.uint8), matrix=MATRIX, dtype=type_of(dtype))


@pytest.mark.parametrize("layout", ["CHW", "HW", "FCHW", "DHW", "WHC", "FFHWC"])
def test_other_layouts(layout: str) -> None:
    with pytest.raises(SampleError, match="the input's layout must be"):
        warp(np.zeros([3] * len(layout), np.uint8), layout, matrix=MATRIX)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"the matrix must be given .* \(got none\)"),
        (
            {"matrix": MATRIX, "interp_type": types.INTERP_CUBIC},
            "'interp_type' must be INTERP_NN or",
        ),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        warp(np.zeros((4, 4, 3), np.uint8), **arguments)


def test_two_matrices() -> None:
    image, matrix = np.zeros((4, 4, 3), np.uint8), np.zeros((2, 3), np.float32)
    with pytest.raises(ArgumentValueError, match=r"the matrix must be given .* \(got both\)"):
        transforms("warp_affine", image, matrix, matrix=MATRIX)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": MATRIX[:5]}, r"2 rows and 3 columns \(got shape \(5,\)"),
        ({"matrix": VOLUME_MATRIX}, r"2 rows and 3 columns \(got shape \(12,\)"),
        ({"matrix": [0, 0, 1, 0, 1, 0], "inverse_map": False}, "must have an inverse"),
        ({"matrix": MATRIX, "size": [3]}, r"size must be \(height, width\) \(got 1"),
        ({"matrix": MATRIX, "size": [1, 2, 3]}, r"size must be \(height, width\) \(got 3"),
        ({"matrix": MATRIX, "size": [0, 2]}, "size must be at least one pixel"),
        ({"matrix": MATRIX, "size": [-1, 2]}, "size must be at least one pixel"),
        ({"matrix": MATRIX, "size": [5e8, 5e8]}, r"the output must have at most 2\^30 pixels"),
    ],
)
def test_invalid_samples(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        warp(np.zeros((4, 4, 3), np.uint8), **arguments)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_matrices_are_finite(number: float) -> None:
    image = np.zeros((4, 5, 3), np.uint8)
    matrix = np.float32([[1, 0, number], [0, 1, 0]])
    with pytest.raises(ArgumentValueError, match=r"'matrix', entry 2 must be finite"):
        warp(image, matrix=matrix.ravel().tolist())
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [image], layout="HWC")
            made.set_outputs(fn.warp_affine(data, fn.external_source(source=lambda: [matrix])))
        with pytest.raises(SampleError, match=rf"the matrix must be finite \(got {number}\)"):
            made.run()
