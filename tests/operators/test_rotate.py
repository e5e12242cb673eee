"""Rotating images and volumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.matrices import transforms
from tests.operators.suite import Example, images, numbers, run_on, type_of
from tests.operators.warping import OTHER_TYPES, check_warped, linear, source_coordinates

NN = types.INTERP_NN
EXAMPLES = [
    Example("clamped", [images()], {"angle": 30.0, "keep_size": True}),
    Example("filled", [images()], {"angle": -33.3, "fill_value": 42.0}),
    Example("sized", [images("FHWC", "int16")], {"angle": 200.0, "size": [9.0, 20.0]}),
    Example("nearest", [images()], {"angle": 45.0, "interp_type": NN, "fill_value": 0.0}),
    Example("to-float", [images(extents={"C": 1})], {"angle": 10.0, "dtype": types.FLOAT}),
    Example("volume", [images("DHWC")], {"angle": 30.0, "axis": [1.0, 2.0, 3.0]}),
]


def rotate(image: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("rotate", [image], layout, **arguments)[0]


def matrix_of(angle: float, axis: tuple[float, ...] | None) -> np.ndarray:
    """Return the matrix from directions in the output to directions in the input."""
    if axis is None:
        turn = np.exp(1j * np.deg2rad(angle))
        return np.array([[turn.real, -turn.imag], [turn.imag, turn.real]])
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.deg2rad(-angle)
    return np.eye(3) + np.sin(turn) * cross + (1 - np.cos(turn)) * cross @ cross


def expected_of(
    image: np.ndarray, size: tuple[int, ...], angle: float, axis: Any, fill: float | None
) -> np.ndarray:
    turn = matrix_of(angle, axis)
    middle = np.array(image.shape[-2::-1]) / 2 - turn @ np.array(size[::-1]) / 2
    return linear(image, source_coordinates(np.column_stack([turn, middle]), size), fill)


@pytest.mark.parametrize("quarters", range(-4, 5))
@pytest.mark.parametrize("interpolation", [NN, types.INTERP_LINEAR])
@pytest.mark.parametrize("fill", [None, 0.0])
def test_quarters_only_move_pixels(
    quarters: int, interpolation: types.DALIInterpType, fill: float | None
) -> None:
    for height, width in ((6, 7), (7, 7), (6, 6), (1, 4)):
        image = numbers("uint8", (height, width, 3), 0)
        call = {"interp_type": interpolation, "fill_value": fill}
        result = rotate(image, angle=quarters * 90.0, **call)
        np.testing.assert_array_equal(result, np.rot90(image, quarters), strict=True)


@given(
    height=st.integers(1, 20),
    width=st.integers(1, 20),
    angle=st.floats(-400, 400, width=32),
    fill=st.sampled_from([None, 0.0]),
)
def test_images(height: int, width: int, angle: float, fill: float | None) -> None:
    image = numbers("uint8", (height, width, 3), height)
    result = rotate(image, angle=angle, fill_value=fill)
    exact = expected_of(image, result.shape[:2], angle, None, fill)
    check_warped(result, exact, "uint8")
    cosine, sine = np.abs(np.cos(np.deg2rad(angle))), np.abs(np.sin(np.deg2rad(angle)))
    needed = np.array([height * cosine + width * sine, width * cosine + height * sine])
    room = np.array(result.shape[:2]) - needed
    assert (room > -0.011).all()
    assert (room < 2).all()


@given(
    angle=st.floats(-400, 400, width=32),
    axis=st.tuples(*[st.floats(-1, 1, width=16)] * 3).filter(lambda v: np.hypot.reduce(v) > 0.1),
    fill=st.sampled_from([None, 0.0]),
)
def test_volumes(angle: float, axis: tuple[float, ...], fill: float | None) -> None:
    volume = numbers("uint8", (4, 5, 6, 1), 0)
    result = rotate(volume, "DHWC", angle=angle, axis=axis, fill_value=fill)
    check_warped(result, expected_of(volume, result.shape[:3], angle, axis, fill), "uint8")
    needed = np.abs(matrix_of(angle, axis)).T @ np.array([6, 5, 4])
    room = np.array(result.shape[2::-1]) - needed
    assert (room > -0.011).all()
    assert (room < 2).all()


def test_quarters_of_volumes() -> None:
    volume = numbers("uint8", (4, 5, 6, 2), 0)
    for axis, planes in (((0, 0, 1), (2, 1)), ((1, 0, 0), (1, 0)), ((0, 1, 0), (0, 2))):
        result = rotate(volume, "DHWC", angle=90.0, axis=axis, fill_value=0)
        np.testing.assert_array_equal(result, np.rot90(volume, -1, axes=planes[::-1]))
        opposite = rotate(volume, "DHWC", angle=-90.0, axis=[-n for n in axis], fill_value=0)
        np.testing.assert_array_equal(opposite, result)


@pytest.mark.parametrize(
    ("size", "angle", "expected"),
    [
        ((10, 11), 10.0, (12, 13)),
        ((10, 11), 45.0, (15, 16)),
        ((10, 11), 135.0, (16, 15)),
        ((10, 11), 60.0, (15, 16)),
        ((100, 61), 89.99, (63, 102)),
        ((100, 61), 0.001, (100, 61)),
        ((1, 5), 0.5, (3, 5)),
        ((10, 11), -450.0, (11, 10)),
    ],
)
def test_canvas(size: tuple[int, int], angle: float, expected: tuple[int, int]) -> None:
    assert rotate(np.zeros((*size, 1), np.uint8), angle=angle).shape[:2] == expected


def test_size_of_the_canvas() -> None:
    image = numbers("uint8", (20, 30, 3), 0)
    kept = rotate(image, angle=30.0, keep_size=True, fill_value=0)
    check_warped(kept, expected_of(image, (20, 30), 30.0, None, 0.0), "uint8")
    for keep_size in (False, True):
        given_size = rotate(image, angle=30.0, size=(7.5, 99), keep_size=keep_size)
        check_warped(given_size, expected_of(image, (8, 99), 30.0, None, None), "uint8")


def test_frames_have_one_canvas() -> None:
    frames = numbers("uint8", (2, 4, 5, 3), 0)
    assert rotate(frames, "FHWC", angle=30.0).shape == (2, 6, 7, 3)
    call = {"layouts": ["FHWC"]}
    result, layout = transforms("rotate", frames, angle=(np.float32([30, 90]), "F"), **call)
    assert layout == "FHWC"
    assert result.shape == (2, 6, 8, 3)
    for frame, angle in enumerate((30.0, 90.0)):
        expected = rotate(frames[frame], angle=angle, size=(6, 8))
        np.testing.assert_array_equal(result[frame], expected)
    # Most frames have an odd height and an even width.
    angles = np.float32([60, 225, 270])
    result, _ = transforms("rotate", np.zeros((3, 2, 5, 1), np.uint8), angle=(angles, "F"), **call)
    assert result.shape == (3, 7, 6, 1)


def test_axis_for_each_frame() -> None:
    frames = numbers("uint8", (2, 3, 4, 5, 1), 0)
    axes = np.float32([[0, 0, 1], [1, 0, 0]])
    call = {"angle": 30.0, "keep_size": True}
    result, _ = transforms(
        "rotate", frames, layouts=["FDHWC"], axis=(axes, "F*"), dtype=types.UINT8, **call
    )
    for frame in range(2):
        expected = rotate(frames[frame], "DHWC", axis=axes[frame], **call)
        np.testing.assert_array_equal(result[frame], expected)


def test_axis_has_no_effect_on_images() -> None:
    image = numbers("uint8", (9, 8, 3), 0)
    np.testing.assert_array_equal(
        rotate(image, angle=30.0, axis=[1, 2, 3]), rotate(image, angle=30.0)
    )


def test_empty_images() -> None:
    empty = np.zeros((0, 5, 3), np.uint8)
    assert rotate(empty, angle=0.0).shape == (0, 5, 3)
    assert rotate(empty, angle=30.0, keep_size=True).shape == (0, 5, 3)
    assert (rotate(empty, angle=30.0, size=(2, 2), fill_value=3) == 3).all()


@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_other_types(dtype: str) -> None:
    with pytest.raises(SampleError, match=r"images must have type .* \(got "):
        rotate(np.zeros((2, 2, 3), dtype), angle=1.0)
    with pytest.raises(ArgumentValueError, match=r"'dtype' must be UINT8, .* \(got "):
        rotate(np.zeros((2, 2, 3), np.uint8), angle=1.0, dtype=type_of(dtype))


@pytest.mark.parametrize(
    ("layout", "arguments", "message"),
    [
        ("CHW", {"angle": 1.0}, "the input's layout must be"),
        ("HWC", {"angle": float("nan")}, r"'angle' must be finite \(got nan"),
        ("HWC", {"angle": 1.0, "size": [1, 2, 3]}, r"size must be \(height, width\)"),
        ("DHWC", {"angle": 1.0}, "axis must be a direction"),
        ("DHWC", {"angle": 1.0, "axis": [1, 2]}, r"axis must be a direction .* \(got 2"),
        ("DHWC", {"angle": 1.0, "axis": [0, 0, 0]}, "axis must have a length above 0"),
    ],
)
def test_invalid_samples(layout: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        rotate(np.zeros([3] * len(layout), np.uint8), layout, **arguments)


def test_other_interpolations() -> None:
    with pytest.raises(ArgumentValueError, match="'interp_type' must be INTERP_NN or"):
        rotate(np.zeros((2, 2, 3), np.uint8), angle=1.0, interp_type=types.INTERP_CUBIC)


def test_angles_that_do_not_match_the_frames() -> None:
    frames = np.zeros((3, 4, 5, 1), np.uint8)
    with pytest.raises(SampleError, match="angle must have one value for each of the 3 frames"):
        transforms("rotate", frames, layouts=["FHWC"], angle=(np.float32([1, 2]), "F"))
    with pytest.raises(SampleError, match=r"angle must be one number \(got shape \(2,\)\)"):
        transforms("rotate", frames, layouts=["FHWC"], angle=np.float32([1, 2]))
