"""decoders.image_slice: a slice of the decoded image, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.generated_images import (
    SAMPLINGS,
    encode,
    jpeg,
    photo_like,
    png,
    sampled_jpeg,
    with_orientation,
)
from tests.operators.decoders.decoding import (
    JPEG_LIBRARIES,
    decode,
    decode_one,
    failure,
    file_examples,
    use_jpeg_library,
)
from tests.operators.suite import Example, Input, pipeline

FILES = [
    *(jpeg(photo_like(30 + 9 * i, 61 - 5 * i, 3, i)) for i in range(3)),
    with_orientation(jpeg(photo_like(40, 50)), 6),
    png(photo_like(33, 20)),
]
HEIGHT, WIDTH = 41, 67
FILE = jpeg(photo_like(HEIGHT, WIDTH))

EXAMPLES = [
    file_examples(FILES, start=(2, 3), end=(15, 17), axes=(0, 1)),
    file_examples(FILES, rel_start=(0.1, 0.2), rel_end=(0.7, 0.9), dtype=types.FLOAT),
    file_examples(FILES, rel_start=(0.1, 0.2), rel_shape=0.3, axis_names="HW"),
    file_examples(FILES, start=5, shape=(9, 14)),
    Example(
        "inputs",
        [
            *file_examples(FILES).inputs,
            Input(lambda number: np.float32([0.1, 0.02 * number])),
            Input(lambda number: np.float32([0.5, 0.3])),
        ],
    ),
]


@pytest.fixture(params=JPEG_LIBRARIES)
def jpeg_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    use_jpeg_library(request.param, monkeypatch)
    return str(request.param)


def check(files: list[bytes], rows: slice, columns: slice, **arguments: Any) -> None:
    """Slices of files, given as ends, equal slices of the decoded images."""
    window = {"start": (columns.start, rows.start), "end": (columns.stop, rows.stop)}
    parts = decode(files, "image_slice", **window, **arguments)
    for part, whole in zip(parts, decode(files, **arguments), strict=True):
        np.testing.assert_array_equal(part, whole[rows, columns], strict=True)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_samplings(sampling: str) -> None:
    files = [
        sampled_jpeg(37, 53, sampling),
        sampled_jpeg(130, 61, sampling, progressive=True),
        sampled_jpeg(45, 70, sampling, restart_interval=3),
    ]
    check(files, slice(0, 1), slice(52, 53))
    check(files, slice(17, 37), slice(3, 41))
    check(files, slice(5, 6), slice(0, 53))


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("value", range(1, 9))
def test_turned_images(value: int) -> None:
    files = [with_orientation(jpeg(photo_like(57, 91)), value)]
    check(files, slice(11, 50), slice(3, 40))
    check(files, slice(11, 50), slice(3, 40), adjust_orientation=False)


@pytest.mark.parametrize("output_type", ["BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_other_colours_and_formats(output_type: str) -> None:
    image = photo_like(45, 60)
    files = [jpeg(image), png(image), encode(image, "BMP"), encode(image, "WEBP")]
    check(files, slice(11, 30), slice(3, 40), output_type=getattr(types, output_type))


@pytest.mark.parametrize(
    ("arguments", "rows", "columns"),
    [
        ({"start": (3, 2)}, (2, HEIGHT), (3, WIDTH)),
        ({"end": (3, 2)}, (0, 2), (0, 3)),
        ({"shape": (9, 7)}, (0, 7), (0, 9)),
        ({"start": 3, "end": 7}, (3, 7), (3, 7)),
        ({"rel_start": (0.1, 0.25)}, (10, HEIGHT), (7, WIDTH)),
        ({"rel_end": (0.5, 1.0)}, (0, HEIGHT), (0, 34)),
        ({"rel_start": (0.1, 0.25), "shape": (9, 7)}, (10, 17), (7, 16)),
        ({"start": (1, 2), "rel_shape": (0.5, 0.5)}, (2, 23), (1, 35)),
        ({"start": 3, "end": 7, "axes": 0}, (3, 7), (0, WIDTH)),
        ({"start": 3, "end": 7, "axes": -1}, (0, HEIGHT), (3, 7)),
        ({"start": (3, 4), "end": (7, 9), "axes": (0, 1)}, (3, 7), (4, 9)),
        ({"start": (3, 4), "end": (7, 9), "axis_names": "HW"}, (3, 7), (4, 9)),
        ({"start": 3, "end": 7, "axis_names": "W"}, (0, HEIGHT), (3, 7)),
    ],
)
def test_windows(
    arguments: dict[str, Any], rows: tuple[int, int], columns: tuple[int, int]
) -> None:
    part = decode_one(FILE, "image_slice", **arguments)
    np.testing.assert_array_equal(part, decode_one(FILE)[slice(*rows), slice(*columns)])


def slice_by_inputs(start: np.ndarray, shape: np.ndarray, **arguments: Any) -> np.ndarray:
    with pipeline(batch_size=1) as made:
        with made:
            data, *window = (
                fn.external_source(source=iter([[value]]))
                for value in (np.frombuffer(FILE, np.uint8), start, shape)
            )
            made.set_outputs(fn.decoders.image_slice(data, *window, **arguments))
        return np.array(made.run()[0].at(0))


@pytest.mark.parametrize(
    ("start", "shape", "arguments", "rows", "columns"),
    [
        (np.int32([3, 4]), np.int32([9, 7]), {}, (4, 11), (3, 12)),
        (np.int64([3, 4]), np.int64([9, 7]), {"axis_names": "HW"}, (3, 12), (4, 11)),
        (np.float32([0.1, 0.25]), np.float32([0.5, 0.5]), {}, (10, 31), (7, 40)),
        (
            np.float32([1.6, 2.4]),
            np.float32([0.5, 0.5]),
            {"normalized_anchor": False},
            (2, 23),
            (2, 35),
        ),
        (
            np.float32([0.1, 0.25]),
            np.float32([6.5, 5.4]),
            {"normalized_shape": False},
            (10, 16),
            (7, 13),
        ),
    ],
)
def test_window_by_inputs(
    start: np.ndarray,
    shape: np.ndarray,
    arguments: dict[str, Any],
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> None:
    part = slice_by_inputs(start, shape, **arguments)
    np.testing.assert_array_equal(part, decode_one(FILE)[slice(*rows), slice(*columns)])


def test_windows_of_random_crop_generator() -> None:
    samples = [np.frombuffer(file, np.uint8) for file in FILES]
    with pipeline(batch_size=len(samples)) as made:
        with made:
            data = fn.external_source(source=lambda: samples)
            start, shape = fn.random_crop_generator(fn.peek_image_shape(data))
            part = fn.decoders.image_slice(data, start=start, shape=shape, axes=[0, 1])
            made.set_outputs(part, start, shape, fn.decoders.image(data))
        parts, starts, shapes, wholes = made.run()
        for number in range(len(samples)):
            y, x = np.array(starts.at(number))
            height, width = np.array(shapes.at(number))
            expected = np.array(wholes.at(number))[y : y + height, x : x + width]
            np.testing.assert_array_equal(np.array(parts.at(number)), expected)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": (3, 3), "end": (WIDTH + 1, 7)}, "the region must lie inside the image"),
        ({"start": (-3, 3), "end": (7, 7)}, "the region must lie inside the image"),
        ({"start": (3, 3), "end": (3, 7)}, "the region must lie inside the image"),
        ({"start": (3, 3), "end": (2, 7)}, "the window must not end before its start"),
        ({"start": (1, 2, 3)}, "start must be one number or one for each of the 2 axes"),
        ({"start": 3, "axes": 2}, "axes must be from -2 to 1"),
        ({"start": 3, "axes": (0, -2)}, "axes must be named once each"),
        ({"start": 3, "axis_names": "C"}, "axis_names must be letters of the input's layout"),
        ({"start": 3, "axis_names": "HH"}, "axes must be named once each"),
    ],
)
def test_invalid_windows(arguments: dict[str, Any], message: str) -> None:
    assert message in failure(FILE, "image_slice", **arguments)


def test_window_without_ends() -> None:
    with pytest.raises(ArgumentValueError, match="'rel_start', entry 0 must be finite"):
        decode([FILE], "image_slice", rel_start=float("nan"))


@pytest.mark.parametrize(
    ("start", "shape", "message"),
    [
        (np.int32([1, 1]), np.float32([0.5, 0.5]), "must have the same type"),
        (np.uint8([1, 1]), np.uint8([5, 5]), "must have type INT32, INT64 or FLOAT"),
        (np.int32([]), np.int32([]), "must be given by one number for each axis"),
        (np.int32([1, 2, 3]), np.int32([5, 5, 5]), "must be one number or one for each of the 2"),
    ],
)
def test_invalid_inputs(start: np.ndarray, shape: np.ndarray, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        slice_by_inputs(start, shape)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "the window must be given by arguments or by two more inputs"),
        ({"start": 1, "rel_start": 0.1}, "'start' must not be given together with 'rel_start'"),
        ({"end": 9, "shape": 3}, "'end' must not be given together with 'shape'"),
        ({"start": 1, "axes": 0, "axis_names": "W"}, "'axis_names' must not be given together"),
    ],
)
def test_contradictions(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        decode_one(FILE, "image_slice", **arguments)


def test_inputs_exclude_arguments() -> None:
    with pytest.raises(ArgumentValueError, match="must not be combined with inputs"):
        slice_by_inputs(np.int32([1, 1]), np.int32([5, 5]), end=9)
