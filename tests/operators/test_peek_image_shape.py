"""peek_image_shape: the shape of the decoded image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.generated_images import (
    cmyk_jpeg,
    encode,
    jpeg,
    photo_like,
    png,
    pnm,
    with_orientation,
)
from tests.operators.decoders.decoding import decode, file_examples
from tests.operators.suite import run_on

COLOURS = [types.RGB, types.BGR, types.GRAY, types.YCbCr, types.ANY_DATA]
FILES = [
    jpeg(photo_like(37, 53)),
    jpeg(photo_like(20, 31, 1)),
    cmyk_jpeg(23, 17),
    *(with_orientation(jpeg(photo_like(14, 21)), value) for value in range(1, 9)),
    png(photo_like(20, 31)),
    png(photo_like(9, 4, 1)),
    png(photo_like(9, 5, 4)),
    encode(photo_like(8, 7), "BMP"),
    encode(photo_like(8, 9), "TIFF"),
    encode(photo_like(8, 10), "WEBP"),
    encode(photo_like(18, 10), "JPEG2000"),
    pnm(photo_like(6, 7)),
]

EXAMPLES = [
    file_examples(FILES),
    file_examples(FILES, image_type=types.ANY_DATA, dtype=types.FLOAT, adjust_orientation=False),
]


def peek(files: list[bytes], **arguments: Any) -> np.ndarray:
    samples = [np.frombuffer(file, np.uint8) for file in files]
    return np.stack(run_on("peek_image_shape", samples, **arguments))


@pytest.mark.parametrize("adjust_orientation", [True, False])
@pytest.mark.parametrize("colour", COLOURS)
def test_shape_is_that_of_decoding(colour: types.DALIImageType, adjust_orientation: bool) -> None:
    arguments = {"adjust_orientation": adjust_orientation}
    decoded = decode(FILES, output_type=colour, **arguments)
    shapes = peek(FILES, image_type=colour, **arguments)
    assert shapes.dtype == np.int64
    assert shapes.tolist() == [list(image.shape) for image in decoded]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_types(dtype: str) -> None:
    shapes = peek(FILES, dtype=types.to_dali_type(np.dtype(dtype)))
    assert shapes.dtype == dtype
    assert shapes[0].tolist() == [37, 53, 3]


@pytest.mark.parametrize("dtype", [types.UINT8, types.INT16, types.FLOAT16, types.BOOL])
def test_types_that_are_too_small(dtype: types.DALIDataType) -> None:
    with pytest.raises(ArgumentValueError, match="'dtype' must be INT64, "):
        peek(FILES, dtype=dtype)


def test_only_the_header_is_read() -> None:
    assert peek([FILES[0][:700]]).tolist() == [[37, 53, 3]]


@pytest.mark.parametrize("file", [b"This is not an image.", jpeg(photo_like(9, 9))[:30]])
def test_files_without_header(file: bytes) -> None:
    with pytest.raises(SampleError) as caught:
        peek([file])
    assert caught.value.operator == "peek_image_shape"


def test_input_of_numbers() -> None:
    with pytest.raises(SampleError, match="the input must be the bytes of an image file"):
        run_on("peek_image_shape", [np.zeros((3, 3), np.float32)])
