"""Equalizing histograms."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core.errors import SampleError
from tests.operators.suite import Example, images, numbers, run_on

EXAMPLES = [
    Example("pixels", [images()]),
    Example("planes", [images("FCHW")]),
    Example("grey", [images("HW")]),
]


def equalized(channel: np.ndarray) -> np.ndarray:
    histogram = np.bincount(channel.ravel(), minlength=256)
    lowest = np.flatnonzero(histogram)[0]
    above = np.cumsum(histogram) - histogram[lowest]
    if above[-1] == 0:
        return channel
    levels = np.rint(above.astype(np.float32) * (np.float32(255) / np.float32(above[-1])))
    return levels.astype(np.uint8)[channel]


@pytest.mark.parametrize("layout", ["", "HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"])
def test_layouts(layout: str) -> None:
    extents = {"H": 13, "W": 22, "C": 3}
    image = numbers("uint8", [extents.get(letter, 2) for letter in layout or "HWC"], 5) // 3 + 40
    (result,) = run_on("equalize", [image], layout)
    # Flatten all dimensions except height and width.
    others = [i for i, letter in enumerate(layout or "HWC") if letter not in "HW"]
    planes, results = (
        np.moveaxis(array, others, range(len(others))).reshape(-1, 13, 22)
        for array in (image, result)
    )
    for plane, changed in zip(planes, results, strict=True):
        np.testing.assert_array_equal(changed, equalized(plane))
        assert (changed.min(), changed.max()) == (0, 255)


@pytest.mark.parametrize("channels", [1, 2, 4, 5])
def test_any_number_of_channels(channels: int) -> None:
    image = numbers("uint8", (9, 11, channels), 5) // 2
    (result,) = run_on("equalize", [image], "HWC")
    for c in range(channels):
        np.testing.assert_array_equal(result[..., c], equalized(image[..., c]))


def test_one_level_stays() -> None:
    image = np.full((5, 7), 7, np.uint8)
    np.testing.assert_array_equal(run_on("equalize", [image], "HW")[0], image)


def test_empty_arrays() -> None:
    assert run_on("equalize", [np.zeros((0, 5, 3), np.uint8)], "HWC")[0].shape == (0, 5, 3)


def test_errors() -> None:
    with pytest.raises(SampleError, match="the input must be of type uint8"):
        run_on("equalize", [np.zeros((4, 5, 3), np.int16)], "HWC")
    for layout in ("DHWC", "WHC", "HWCF"):
        with pytest.raises(SampleError, match="layout must be HW, HWC or CHW"):
            run_on("equalize", [np.zeros([3] * len(layout), np.uint8)], layout)
