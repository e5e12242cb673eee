"""`fn.debayer`: colours of images that were taken through a Bayer filter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, Input, numbers, pipeline, run_on

ALGORITHMS = ("bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv")


def sensor(dtype: str = "uint8", *dims: int) -> Input:
    sizes = ((4, 6), (8, 8), (2, 10), (30, 64))
    layout = {0: "HW", 1: "HWC"}[len(dims)]
    return Input(lambda number: numbers(dtype, (*sizes[number % 4], *dims), number), layout)


EXAMPLES = [
    *(
        Example(name, (sensor(),), {"algorithm": name, "blue_position": [0, 1]})
        for name in ALGORITHMS
    ),
    Example("wide", (sensor("uint16", 1),), {"blue_position": 1}),
    Example(
        "frames",
        (Input(lambda number: numbers("uint8", (number + 1, 8, 10), number), "FHW"),),
        {"blue_position": [1, 0]},
    ),
]


def measured(image: np.ndarray, blue: tuple[int, int]) -> np.ndarray:
    """Return what a sensor measures of an image of colours."""
    rows, columns = np.indices(image.shape[:2])
    is_blue_row = rows % 2 == 1 - blue[0]
    is_blue_column = columns % 2 == 1 - blue[1]
    channel = np.where(
        is_blue_row & is_blue_column, 2, np.where(is_blue_row | is_blue_column, 1, 0)
    )
    return np.take_along_axis(image, channel[..., None], -1)[..., 0]


@pytest.mark.parametrize("algorithm", ALGORITHMS[:3])
def test_plain_colours_are_found(algorithm: str) -> None:
    image = np.empty((12, 14, 3), np.uint8)
    image[:] = 200, 100, 30
    for blue in ((0, 0), (0, 1), (1, 0), (1, 1)):
        (found,) = run_on(
            "debayer", [measured(image, blue)], blue_position=blue, algorithm=algorithm
        )
        np.testing.assert_array_equal(found, image, strict=True)


def test_slopes_are_found_by_bilinear_interpolation() -> None:
    rows, columns = np.indices((20, 24))
    image = np.stack([2 * rows + columns, rows + 3 * columns, 90 - rows - columns], -1)
    image = (4 * image).astype(np.uint16)
    (found,) = run_on("debayer", [measured(image, (1, 0))], blue_position=(1, 0))
    np.testing.assert_array_equal(found[1:-1, 1:-1], image[1:-1, 1:-1])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[:, -1], found[:, -2])


def test_grey_is_that_of_the_colours() -> None:
    image = np.empty((12, 14, 3), np.uint8)
    image[:] = 200, 100, 30
    (found,) = run_on(
        "debayer", [measured(image, (0, 0))], blue_position=(0, 0), algorithm="gray_ocv"
    )
    assert found.shape == (12, 14, 1)
    assert set(found.ravel()) == {round(0.299 * 200 + 0.587 * 100 + 0.114 * 30)}


def test_each_frame_may_have_a_position() -> None:
    clip = numbers("uint8", (3, 8, 10), 1)
    positions = np.int32([[0, 0], [1, 0], [0, 1]])
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [clip], layout="FHW")
            each = fn.per_frame(fn.external_source(source=lambda: [positions]))
            made.set_outputs(fn.debayer(data, blue_position=each))
        (batch,) = made.run()
        assert batch.layout() == "FHWC"
        for number, frame in enumerate(np.array(batch.at(0))):
            (expected,) = run_on("debayer", [clip[number]], blue_position=positions[number])
            np.testing.assert_array_equal(frame, expected, strict=True)


def test_small_images() -> None:
    for shape in ((2, 2), (2, 6), (6, 2), (0, 4), (0, 0)):
        (found,) = run_on("debayer", [np.full(shape, 9, np.uint8)], blue_position=(0, 0))
        np.testing.assert_array_equal(found, np.zeros((*shape, 3), np.uint8), strict=True)


@pytest.mark.parametrize(
    ("image", "arguments", "kind", "message"),
    [
        (np.zeros((4, 4, 3), np.uint8), {}, SampleError, "one channel"),
        (np.zeros((4, 5), np.uint8), {}, SampleError, "must be even"),
        (np.zeros((4, 4), np.int16), {}, SampleError, "uint8 or uint16"),
        (np.zeros((4, 4), np.uint16), {"algorithm": "vng_ocv"}, SampleError, "uint8 for vng_ocv"),
        (np.zeros((4, 4)), {"algorithm": "default_npp"}, ArgumentValueError, "bilinear_ocv"),
        (np.zeros((4, 4)), {"blue_position": 2}, ArgumentValueError, "from 0 to 1"),
        (np.zeros((4, 4)), {"blue_position": [0, 0, 0]}, ArgumentValueError, "1 or 2 numbers"),
    ],
)
def test_invalid_arguments_raise(
    image: np.ndarray, arguments: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        run_on("debayer", [image], **{"blue_position": (0, 0), **arguments})
