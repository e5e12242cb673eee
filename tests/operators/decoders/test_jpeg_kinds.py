"""Kinds of JPEG beyond sequential and progressive: lossless, and those that are not supported."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import SampleError
from tests.generated_images import jpeg, photo_like, with_segment
from tests.lossless_jpeg import write_lossless_jpeg
from tests.operators.decoders.decoding import decode, decode_one
from tests.operators.suite import run_on
from tests.operators.test_peek_image_shape import peek

PHOTO = photo_like(24, 41)


@pytest.mark.parametrize("predictor", range(1, 8))
@pytest.mark.parametrize("channels", [1, 3])
def test_lossless(channels: int, predictor: int) -> None:
    """The pixels are those that were written, whole and in part."""
    image = PHOTO[..., :channels]
    file = write_lossless_jpeg(image, predictor)
    expected = np.broadcast_to(image, PHOTO.shape)
    np.testing.assert_array_equal(decode_one(file), expected)
    assert peek([file]).tolist() == [[24, 41, 3]]
    data = [np.frombuffer(file, np.uint8)]
    (part,) = run_on("decoders.image_crop", data, crop=(10, 20), crop_pos_x=0.0, crop_pos_y=1.0)
    np.testing.assert_array_equal(part, expected[14:, :20])


def test_lossless_types() -> None:
    file = write_lossless_jpeg(PHOTO)
    swapped = decode_one(file, output_type=types.BGR, dtype=types.FLOAT)
    np.testing.assert_allclose(swapped, PHOTO[..., ::-1] / 255, atol=1e-6)
    grey = write_lossless_jpeg(PHOTO[..., :1])
    for colour in (types.GRAY, types.ANY_DATA):
        decoded = decode_one(grey, output_type=colour)
        np.testing.assert_array_equal(decoded, PHOTO[..., :1])
    assert decode_one(file, output_type=types.GRAY).shape == (24, 41, 1)
    with pytest.raises(SampleError):
        decode_one(file[: len(file) // 2])


def unsupported() -> dict[str, bytes]:
    plain = jpeg(PHOTO)
    place = plain.index(b"\xff\xc0")

    def with_frame(marker: int, precision: int) -> bytes:
        return (
            plain[: place + 1]
            + bytes([marker])
            + plain[place + 2 : place + 4]
            + bytes([precision])
            + plain[place + 5 :]
        )

    frame = plain[place + 4 : place + 2 + int.from_bytes(plain[place + 2 : place + 4], "big")]
    return {
        "12-bit samples": with_frame(0xC1, 12),
        "16-bit samples": write_lossless_jpeg(PHOTO.astype(np.int64) * 250, precision=16),
        "JPEG-LS": with_frame(0xF7, 8),
        "a hierarchical one": with_segment(plain, 0xDE, frame, 0xC0),
        "hierarchical": with_frame(0xC5, 8),
    }


@pytest.mark.parametrize("kind", list(unsupported()))
def test_other_kinds_are_not_called_damaged(kind: str) -> None:
    for read in (decode_one, lambda file: peek([file])):
        with pytest.raises(SampleError) as caught:
            read(unsupported()[kind])
        message = caught.value.message
        assert kind in message
        assert "not supported" in message
        assert "is damaged" not in message


@pytest.mark.parametrize("shape", [(1, -1), (-1, 1), (1, 1, -1)])
@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("image", {}),
        ("image_crop", {"crop": (8, 9)}),
        ("image_slice", {"rel_start": [0.1, 0.1], "rel_shape": [0.5, 0.5], "axis_names": "HW"}),
        ("image_random_crop", {"seed": 3}),
    ],
)
def test_bytes_in_further_dimensions(
    operator: str, arguments: dict[str, object], shape: tuple[int, ...]
) -> None:
    """Dimensions of one element change nothing; rows of bytes are no file."""
    data = np.frombuffer(jpeg(PHOTO) + b"\0" * (len(jpeg(PHOTO)) % 2), np.uint8)
    (expected,) = run_on(f"decoders.{operator}", [data], **arguments)
    (found,) = run_on(f"decoders.{operator}", [data.reshape(shape)], **arguments)
    np.testing.assert_array_equal(found, expected)
    for wrong in (data.reshape(2, -1), data[:0].reshape(1, 0), np.uint8(3)):
        with pytest.raises(SampleError):
            run_on(f"decoders.{operator}", [wrong], **arguments)


def test_all_kinds_in_a_batch() -> None:
    files = [jpeg(PHOTO), write_lossless_jpeg(PHOTO), jpeg(PHOTO, progressive=True)]
    assert [image.shape for image in decode(files)] == [(24, 41, 3)] * 3
