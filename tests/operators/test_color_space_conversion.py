"""Converting between colour spaces."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.colors import check_rounded
from tests.operators.suite import Example, images, numbers, run_on, shares_memory

SPACES = {"RGB": types.RGB, "BGR": types.BGR, "GRAY": types.GRAY, "YCbCr": types.YCbCr}
PAIRS = list(itertools.product(SPACES, repeat=2))
EXAMPLES = [
    Example(
        f"{source}-to-{target}",
        [images(layout, extents={"C": 1 if source == "GRAY" else 3})],
        {"image_type": SPACES[source], "output_type": SPACES[target]},
    )
    for (source, target), layout in zip(
        PAIRS, itertools.cycle(["HWC", "FHWC", "DHWC", "FDHWC"]), strict=False
    )
]


def converted(image: np.ndarray, source: str, target: str, layout: str = "HWC") -> np.ndarray:
    return run_on(
        "color_space_conversion",
        [image],
        layout,
        image_type=SPACES[source],
        output_type=SPACES[target],
    )[0]


def luma(image: np.ndarray) -> np.ndarray:
    return image.astype(np.float64) @ [0.299, 0.587, 0.114]


def test_grey() -> None:
    # More than one block of pixels, and a remainder that does not fill a vector register.
    image = numbers("uint8", (37, 41, 3), 1)
    check_rounded(converted(image, "RGB", "GRAY")[..., 0], luma(image), "uint8")
    check_rounded(converted(image[..., ::-1], "BGR", "GRAY")[..., 0], luma(image), "uint8")
    grey = image[..., :1]
    for target in ("RGB", "BGR"):
        np.testing.assert_array_equal(converted(grey, "GRAY", target), np.repeat(grey, 3, axis=-1))


def test_order_of_channels() -> None:
    image = numbers("uint8", (37, 41, 3), 1)
    np.testing.assert_array_equal(converted(image, "RGB", "BGR"), image[..., ::-1])
    np.testing.assert_array_equal(converted(image, "BGR", "RGB"), image[..., ::-1])


def test_studio_ranges() -> None:
    # Luma between 16 and 235; differences of colours between 16 and 240, in the middle for greys.
    image = numbers("uint8", (37, 41, 3), 1)
    y = luma(image)
    blue = (image[..., 2] - y) / (255 * (1 - 0.114)) * 112 + 128
    red = (image[..., 0] - y) / (255 * (1 - 0.299)) * 112 + 128
    exact = np.stack([y / 255 * 219 + 16, blue, red], axis=-1)
    result = converted(image, "RGB", "YCbCr")
    # The published coefficients have three decimals.
    assert np.abs(result - exact).max() <= 0.5 + 1e-2
    np.testing.assert_array_equal(converted(image[..., ::-1], "BGR", "YCbCr"), result)
    white_and_black = np.uint8([[[255] * 3, [0] * 3]])
    assert converted(white_and_black, "RGB", "YCbCr").tolist() == [
        [[235, 128, 128], [16, 128, 128]]
    ]


def test_there_and_back() -> None:
    image = numbers("uint8", (37, 41, 3), 1)
    back = converted(converted(image, "RGB", "YCbCr"), "YCbCr", "RGB")
    assert np.abs(back.astype(int) - image).max() <= 2
    grey = np.arange(256, dtype=np.uint8).reshape(1, 256, 1)
    back = converted(converted(grey, "GRAY", "YCbCr"), "YCbCr", "GRAY")
    assert np.abs(back.astype(int) - grey).max() <= 1


def test_colors_that_rgb_does_not_have_saturate() -> None:
    extreme = np.uint8([[[0, 0, 0], [255, 255, 255]]])
    assert converted(extreme, "YCbCr", "RGB").tolist() == [[[0, 136, 0], [255, 125, 255]]]
    assert converted(extreme, "YCbCr", "GRAY").tolist() == [[[0], [255]]]


@pytest.mark.parametrize("layout", ["HWC", "FHWC", "DHWC", "FDHWC"])
def test_layouts(layout: str) -> None:
    image = numbers("uint8", [2, 3, 4, 5, 3][5 - len(layout) :], 0)
    result = converted(image, "RGB", "GRAY", layout)
    assert result.shape == (*image.shape[:-1], 1)
    check_rounded(result[..., 0], luma(image), "uint8")


def test_zero_copy_for_the_same_space() -> None:
    assert shares_memory("color_space_conversion", image_type=types.RGB, output_type=types.RGB)
    assert not shares_memory("color_space_conversion", image_type=types.RGB, output_type=types.BGR)


@pytest.mark.parametrize("argument", ["image_type", "output_type"])
def test_any_data_is_no_color_space(argument: str) -> None:
    arguments = {"image_type": types.RGB, "output_type": types.GRAY, argument: types.ANY_DATA}
    with pytest.raises(ArgumentValueError, match=f"{argument!r} must be RGB"):
        run_on("color_space_conversion", [np.zeros((2, 2, 3), np.uint8)], "HWC", **arguments)


def test_unsuitable_images() -> None:
    with pytest.raises(SampleError, match="must be of type uint8 \\(got float32\\)"):
        converted(np.zeros((2, 2, 3), np.float32), "RGB", "GRAY")
    with pytest.raises(SampleError, match="must have 3 channels \\(got 1 "):
        converted(np.zeros((2, 2, 1), np.uint8), "YCbCr", "RGB")
    with pytest.raises(SampleError, match="must have 1 channel \\(got 3 "):
        converted(np.zeros((2, 2, 3), np.uint8), "GRAY", "RGB")
    with pytest.raises(SampleError, match="the input's layout must be"):
        converted(np.zeros((3, 2, 2), np.uint8), "RGB", "GRAY", "CHW")
