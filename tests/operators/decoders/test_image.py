"""decoders.image: pixels of all formats, colour models, types and orientations."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.generated_images import (
    SAMPLINGS,
    bmp,
    cmyk_jpeg,
    encode,
    grid_of_sizes,
    jpeg,
    orient,
    photo_like,
    png,
    pnm,
    sampled_jpeg,
    with_orientation,
)
from tests.operators.decoders.decoding import (
    JPEG_LIBRARIES,
    decode,
    decode_one,
    file_examples,
    use_jpeg_library,
)
from tests.operators.suite import pipeline

HEIGHT, WIDTH = 37, 53
PHOTO = photo_like(HEIGHT, WIDTH)

EXAMPLES = [
    file_examples([sampled_jpeg(9 + 7 * i, 21 - 5 * i, "420", i) for i in range(4)]),
    file_examples(
        [png(PHOTO), bmp(PHOTO), with_orientation(sampled_jpeg(HEIGHT, WIDTH, "420"), 6)],
        output_type=types.YCbCr,
        dtype=types.FLOAT,
    ),
]


@pytest.fixture(params=JPEG_LIBRARIES)
def jpeg_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    use_jpeg_library(request.param, monkeypatch)
    return str(request.param)


def pillow() -> Any:
    return pytest.importorskip("PIL.Image", reason="not available: Pillow")


def by_pillow(file: bytes, mode: str | None = None) -> np.ndarray:
    picture = pillow().open(io.BytesIO(file))
    if mode is not None:
        picture.draft(mode, picture.size)
    pixels = np.array(picture)
    return pixels if pixels.ndim == 3 else pixels[..., None]


# JPEG


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_jpeg_equals_pillow(sampling: str) -> None:
    files = [
        sampled_jpeg(*size, sampling, progressive=progressive, restart_interval=interval)
        for size in (*grid_of_sizes((1, 8, 17)), (33, 70))
        for progressive, interval in ((False, 0), (True, 0), (False, 2))
    ]
    files += [sampled_jpeg(33, 70, sampling, interleaved=False)]
    for decoded, file in zip(decode(files), files, strict=True):
        np.testing.assert_array_equal(decoded, by_pillow(file), strict=True)


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("quality", [5, 60, 100])
def test_jpeg_of_each_quality_equals_pillow(quality: int) -> None:
    files = [
        jpeg(photo_like(70, 91), quality, subsampling, progressive=progressive)
        for subsampling in (0, 1, 2)
        for progressive in (False, True)
    ]
    for decoded, file in zip(decode(files), files, strict=True):
        np.testing.assert_array_equal(decoded, by_pillow(file))


@pytest.mark.usefixtures("jpeg_library")
def test_grey_jpeg() -> None:
    file = jpeg(photo_like(HEIGHT, WIDTH, 1))
    expected = by_pillow(file)
    np.testing.assert_array_equal(decode_one(file), np.repeat(expected, 3, axis=2))
    for output_type in (types.GRAY, types.ANY_DATA):
        np.testing.assert_array_equal(decode_one(file, output_type=output_type), expected)


@pytest.mark.usefixtures("jpeg_library")
def test_grey_of_colour_jpeg_is_its_luma() -> None:
    file = jpeg(PHOTO)
    np.testing.assert_array_equal(decode_one(file, output_type=types.GRAY), by_pillow(file, "L"))


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("transform", [None, 0, 2])
@pytest.mark.parametrize("subsampled", [False, True])
def test_jpeg_of_four_components(transform: int | None, subsampled: bool) -> None:
    file = cmyk_jpeg(HEIGHT, WIDTH, transform=transform, subsampled=subsampled)
    # Pillow treats every such file as one of Adobe's, in which ink is stored inverted.
    inverted = by_pillow(file).astype(int)
    light = inverted if transform is None else 255 - inverted
    expected = light[..., :3] * light[..., 3:] // 255
    for output_type in (types.RGB, types.ANY_DATA):
        np.testing.assert_array_equal(decode_one(file, output_type=output_type), expected)
    reverse = decode_one(file, output_type=types.BGR)
    np.testing.assert_array_equal(reverse, expected[..., ::-1])
    grey = decode_one(file, output_type=types.GRAY)[..., 0]
    np.testing.assert_array_equal(grey, (expected @ [0.299, 0.587, 0.114] + 1e-4).astype(int))


@pytest.mark.usefixtures("jpeg_library")
def test_fast_inverse_transform_differs_little() -> None:
    file = jpeg(photo_like(70, 91), 95)
    accurate, fast = decode_one(file), decode_one(file, use_fast_idct=True)
    difference = np.abs(accurate.astype(int) - fast)
    assert 0 < difference.max() < 12
    assert difference.mean() < 2


# Orientation


@pytest.mark.usefixtures("jpeg_library")
@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_orientation_of_jpeg(byte_order: str) -> None:
    plain = jpeg(PHOTO)
    stored = by_pillow(plain)
    files = [with_orientation(plain, value, byte_order) for value in range(10)]
    for value, decoded in enumerate(decode(files)):
        expected = orient(stored, value) if 1 <= value <= 8 else stored
        np.testing.assert_array_equal(decoded, expected)
    for decoded in decode(files, adjust_orientation=False):
        np.testing.assert_array_equal(decoded, stored)


def test_orientation_with_other_type_and_colours() -> None:
    plain = jpeg(PHOTO)
    arguments = {"dtype": types.FLOAT, "output_type": types.YCbCr}
    stored = decode_one(plain, **arguments)
    for value in range(1, 9):
        decoded = decode_one(with_orientation(plain, value), **arguments)
        np.testing.assert_array_equal(decoded, orient(stored, value))


@pytest.mark.parametrize("file_format", ["PNG", "WEBP", "TIFF"])
def test_orientation_of_other_formats(file_format: str) -> None:
    exif = pillow().Exif()
    exif[0x0112] = 1
    stored = decode_one(encode(PHOTO, file_format, exif=exif))
    for value in range(1, 9):
        exif[0x0112] = value
        file = encode(PHOTO, file_format, exif=exif)
        np.testing.assert_array_equal(decode_one(file), orient(stored, value))


# Other formats

LOSSLESS: dict[str, Callable[[], bytes]] = {
    "png": lambda: png(PHOTO),
    "png palette": lambda: encode(PHOTO, "PNG", "P"),
    "bmp": lambda: encode(PHOTO, "BMP"),
    "bmp palette": lambda: encode(PHOTO, "BMP", "P"),
    "tiff": lambda: encode(PHOTO, "TIFF"),
    "tiff lzw": lambda: encode(PHOTO, "TIFF", compression="tiff_lzw"),
    "tiff deflate": lambda: encode(PHOTO, "TIFF", compression="tiff_adobe_deflate"),
    "webp": lambda: encode(PHOTO, "WEBP", lossless=True),
    "ppm": lambda: pnm(PHOTO),
    "jpeg 2000": lambda: encode(PHOTO, "JPEG2000"),
    "jpeg 2000 codestream": lambda: encode(PHOTO, "JPEG2000", no_jp2=True),
}


@pytest.mark.parametrize("name", LOSSLESS)
def test_lossless_formats(name: str) -> None:
    file = LOSSLESS[name]()
    expected = np.array(pillow().open(io.BytesIO(file)).convert("RGB"))
    np.testing.assert_array_equal(decode_one(file), expected, strict=True)
    reverse = decode_one(file, output_type=types.BGR)
    np.testing.assert_array_equal(reverse, expected[..., ::-1], strict=True)


def test_lossy_webp_equals_pillow() -> None:
    file = encode(PHOTO, "WEBP", quality=80)
    difference = np.abs(decode_one(file).astype(int) - by_pillow(file))
    assert difference.max() <= 3


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_channels_of_png(dtype: str) -> None:
    scale = np.iinfo(dtype).max // 255
    image = photo_like(HEIGHT, WIDTH, 4).astype(dtype) * scale
    arguments = {"dtype": types.to_dali_type(dtype)}
    colour, grey = image[..., :3], image[..., :1]
    np.testing.assert_array_equal(decode_one(png(image), **arguments), colour, strict=True)
    np.testing.assert_array_equal(
        decode_one(png(image[..., :2]), **arguments), np.repeat(grey, 3, axis=2), strict=True
    )
    arguments["output_type"] = types.ANY_DATA
    for stored in (image, colour, grey):
        np.testing.assert_array_equal(decode_one(png(stored), **arguments), stored, strict=True)
    with pytest.raises(SampleError, match="grey and alpha"):
        decode_one(png(image[..., :2]), **arguments)


def test_files_of_different_formats_in_a_batch() -> None:
    for decoded in decode([*(make() for make in LOSSLESS.values()), jpeg(PHOTO, 100, 0)]):
        assert decoded.shape == PHOTO.shape
        assert np.corrcoef(decoded.ravel(), PHOTO.ravel())[0, 1] > 0.9


# Types and colours

INTEGER_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32")


@pytest.mark.parametrize("stored", ["uint8", "uint16"])
def test_integers_span_their_range(stored: str) -> None:
    largest = int(np.iinfo(stored).max)
    levels = np.linspace(0, largest, 4096).astype(stored).reshape(64, 64, 1)
    for name in INTEGER_TYPES:
        decoded = decode_one(png(levels), output_type=types.GRAY, dtype=types.to_dali_type(name))
        limit = int(np.iinfo(name).max)
        exact = levels.astype(np.float64) * limit / largest
        assert decoded.dtype == name
        # Computed in single precision: exact up to 16 bits.
        slack = 0 if limit < 2**16 else limit * 2.0**-23
        assert np.abs(decoded - np.floor(exact + 0.5)).max() <= slack
        assert (decoded.min(), decoded.max()) == (0, limit)


@pytest.mark.parametrize(("name", "slack"), [("float32", 1e-7), ("float16", 3e-4)])
def test_floats_go_from_0_to_1(name: str, slack: float) -> None:
    decoded = decode_one(png(PHOTO), dtype=types.to_dali_type(name))
    assert decoded.dtype == name
    np.testing.assert_allclose(decoded, PHOTO / 255.0, atol=slack)


@pytest.mark.parametrize("name", ["uint8", "uint16", "float32"])
def test_ycbcr_has_headroom(name: str) -> None:
    decoded = decode_one(
        png(PHOTO), output_type=types.YCbCr, dtype=types.to_dali_type(name)
    ).astype(np.float64)
    # ITU-R BT.601, on a scale of 256 levels.
    red, green, blue = np.moveaxis(PHOTO / 255.0, 2, 0)
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    expected = np.stack(
        [
            16 / 256 + luma * 219 / 255,
            128 / 256 + (blue - luma) / 1.772 * 224 / 255,
            128 / 256 + (red - luma) / 1.402 * 224 / 255,
        ],
        axis=2,
    )
    if name == "float32":
        np.testing.assert_allclose(decoded, expected, atol=1e-6)
    else:
        top = np.iinfo(name).max
        offset = np.array([16, 128, 128]) / 256
        levels = (expected - offset) * top + offset * (top + 1)
        assert np.abs(decoded - levels).max() < 0.51


def test_bgr_is_rgb_reversed() -> None:
    file = jpeg(PHOTO)
    for dtype in (types.UINT8, types.FLOAT):
        reverse = decode_one(file, output_type=types.BGR, dtype=dtype)
        np.testing.assert_array_equal(reverse[..., ::-1], decode_one(file, dtype=dtype))


@pytest.mark.parametrize("name", ["INT64", "FLOAT64", "BOOL"])
def test_invalid_types(name: str) -> None:
    with pytest.raises(ArgumentValueError, match="'dtype' must be UINT8, INT8, UINT16"):
        decode([jpeg(PHOTO)], dtype=getattr(types, name))


# Arguments and inputs


def test_arguments_without_effect_on_a_cpu() -> None:
    file = jpeg(PHOTO)
    expected = decode_one(file)
    for name, value in {
        "jpeg_fancy_upsampling": True,
        "affine": False,
        "hw_decoder_load": 0.1,
        "hybrid_huffman_threshold": 5,
        "device_memory_padding": 1,
        "host_memory_padding": 1,
        "device_memory_padding_jpeg2k": 1,
        "host_memory_padding_jpeg2k": 1,
        "preallocate_width_hint": 7,
        "preallocate_height_hint": 7,
        "cache_size": 64,
        "cache_type": "largest",
    }.items():
        np.testing.assert_array_equal(decode_one(file, **{name: value}), expected)


@pytest.mark.parametrize(
    "sample", [np.zeros((4, 4), np.uint8), np.zeros(100, np.float32)], ids=["2-D", "float"]
)
def test_input_must_be_bytes(sample: np.ndarray) -> None:
    with pipeline(batch_size=1) as made:
        with made:
            made.set_outputs(fn.decoders.image(fn.external_source(source=lambda: [sample])))
        with pytest.raises(SampleError, match="must be the bytes of an image file"):
            made.run()
