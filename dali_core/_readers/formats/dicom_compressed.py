"""Encapsulated frames of DICOM files: fragments, and what decodes them."""

from __future__ import annotations

import io
import itertools
import re
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._extras import install_command
from dali_core._readers.formats.dicom_image import Image, ybr_to_rgb
from dali_core._readers.formats.lossless_jpeg import decode_lossless
from dali_core.errors import MissingModuleError

RLE = "1.2.840.10008.1.2.5"
_JPEG = {
    "1.2.840.10008.1.2.4.50": "JPEG baseline",
    "1.2.840.10008.1.2.4.51": "JPEG extended",
    "1.2.840.10008.1.2.4.57": "JPEG lossless",
    "1.2.840.10008.1.2.4.70": "JPEG lossless",
}
_LOSSLESS = ("1.2.840.10008.1.2.4.57", "1.2.840.10008.1.2.4.70")
_JPEG_2000 = {"1.2.840.10008.1.2.4.90": "JPEG 2000", "1.2.840.10008.1.2.4.91": "JPEG 2000"}
_STARTS = (b"\xff\xd8", b"\xff\x4f\xff\x51", b"\0\0\0\x0cjP")

Places = list[tuple[int, int]]
"""First byte and number of bytes of fragments."""


def check_syntax(syntax: str) -> None:
    """Check that what is encapsulated in this syntax can be decoded.

    Raises
    ------
    ValueError
        If there is no decoder.
    MissingModuleError
        If it is not installed.
    """
    if syntax == RLE:
        return
    if syntax not in {**_JPEG, **_JPEG_2000}:
        # Of a damaged file it may be any text.
        shown = syntax if re.fullmatch(r"[0-9.]{1,64}", syntax) else "none"
        raise ValueError(f"pixels must be native, RLE, JPEG or JPEG 2000 (the syntax is {shown})")
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise MissingModuleError(
            f"decoding compressed DICOM files needs Pillow (got none: {error}). Install it: "
            f"{install_command('dicom')}."
        ) from error


def fragments(data: bytes, image: Image) -> list[Places]:
    """Find the fragments of all frames.

    Parameters
    ----------
    data : bytes
        What is in the file from the first byte of the pixels on.
    image : Image
        The image.

    Returns
    -------
    list of list of (int, int)
        For each frame, first byte and number of bytes of its fragments in `data`.

    Raises
    ------
    ValueError
        If there are no such fragments.
    """
    items, place = [], 0
    while True:
        if place + 8 > len(data):
            raise ValueError("fragments must have an end")
        group, element, length = struct.unpack_from("<HHI", data, place)
        if (group, element) == (0xFFFE, 0xE0DD):
            break
        if (group, element) != (0xFFFE, 0xE000) or place + 8 + length > len(data):
            raise ValueError("pixels must be in fragments, which are in the file")
        items.append((place + 8, length))
        place += 8 + length
    if not items:
        raise ValueError("the first fragment must be a table of offsets")
    (first, length), found = items[0], items[1:]
    table = struct.unpack_from(f"<{length // 4}I", data, first)
    count = len(image.frames)
    if count == 1:
        return [found]
    if len(found) == count:
        return [[one] for one in found]
    starts = [start - 8 - (first + length) for start, _ in found]
    offsets: Sequence[int] = image.offsets or table
    if not offsets:
        marks = [data[start : start + 6].startswith(_STARTS) for start, _ in found]
        offsets = [start for start, is_first in zip(starts, marks, strict=True) if is_first]
    known = {start: number for number, start in enumerate(starts)}
    if len(offsets) != count or any(offset not in known for offset in offsets):
        raise ValueError(f"fragments must say which of {count} frames they are of")
    numbers = [*(known[offset] for offset in offsets), len(found)]
    if numbers != sorted(set(numbers)):
        raise ValueError("frames must come in their order")
    return [found[start:end] for start, end in itertools.pairwise(numbers)]


def decode(data: bytes, image: Image) -> NDArray[Any]:
    """Return the stored values of a frame: (rows, columns, samples).

    Raises
    ------
    ValueError
        If the bytes are not those of such a frame.
    """
    if image.syntax == RLE:
        return image.significant(_rle(data, image))
    check_syntax(image.syntax)
    if image.syntax in _JPEG_2000:
        return _jpeg_2000(data, image)
    precision = _jpeg_precision(data)
    if precision != 8 and image.syntax in _LOSSLESS and image.shape[2] == 1:
        wide = decode_lossless(data, *image.shape[:2])
        return image.significant(wide.astype(image.dtype).reshape(image.shape))
    if precision != 8:
        raise ValueError(f"JPEG must have samples of 8 bits (they have {precision})")
    return image.significant(_opened(data, "JPEG", image, 8).astype(image.dtype))


def _jpeg_precision(data: bytes) -> int:
    """Return how many bits samples have, as the frame header says: ITU-T T.81, B.2.2."""
    place = 2
    while data[place : place + 1] == b"\xff" and place + 4 < len(data):
        mark = data[place + 1]
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            return data[place + 4]
        # A marker may have any number of bytes 255 before it.
        place += 1 if mark == 0xFF else 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    raise ValueError("JPEG must have a frame header")


def _opened(data: bytes, kind: str, image: Image, precision: int) -> NDArray[Any]:
    import PIL.Image

    rows, columns, samples = image.shape
    # Nothing is decoded before the size is known.
    with PIL.Image.open(io.BytesIO(data), formats=(kind,)) as opened:
        if opened.size != (columns, rows):
            raise ValueError(
                f"an image must have {columns} columns and {rows} rows (it has {opened.size})"
            )
        if kind == "JPEG" and samples == 3 and "adobe_transform" not in opened.info:
            # The components as they are: what they mean is said by the elements.
            opened.draft("YCbCr", opened.size)
        modes = {1: ("L", "I;16"), 3: ("RGB", "YCbCr")}[samples]
        if opened.mode not in modes or (opened.mode == "L") != (precision <= 8 and samples == 1):
            raise ValueError(f"an image must have {samples} samples (it is {opened.mode!r})")
        values = np.asarray(opened).reshape(image.shape)
        is_ybr = opened.mode == "YCbCr" and image.colours != "RGB"
        return ybr_to_rgb(values) if is_ybr else values


def _jpeg_2000(data: bytes, image: Image) -> NDArray[Any]:
    place = data.find(b"\xff\x4f\xff\x51") + 42
    if place < 42 or place >= len(data):
        raise ValueError("JPEG 2000 must have a codestream")
    # The codestream says how values are stored, whatever the elements say.
    is_signed, precision = data[place] >= 128, (data[place] & 127) + 1
    if precision > (16 if image.shape[2] == 1 else 8):
        raise ValueError(f"JPEG 2000 must have 16 bits, or 8 of colours (it has {precision})")
    found = _opened(data, "JPEG2000", image, precision).astype(np.int32)
    found >>= (8 if precision <= 8 else 16) - precision
    if is_signed:
        found -= 1 << (precision - 1)
    elif image.dtype.kind == "i":
        found = (found << (32 - precision)) >> (32 - precision)
    signed = is_signed or image.dtype.kind == "i"
    return found.astype(f"{'i' if signed else 'u'}{max(image.dtype.itemsize, 1)}")


def _rle(data: bytes, image: Image) -> NDArray[Any]:
    rows, columns, samples = image.shape
    width = image.dtype.itemsize
    if len(data) < 64 or image.dtype.kind not in "iu":
        raise ValueError("a frame of RLE must have a header of 64 bytes, and integers")
    count, *starts = struct.unpack_from("<16I", data)
    if count != samples * width:
        raise ValueError(f"a frame of RLE must have {samples * width} segments (it has {count})")
    ends = [*starts[1:count], len(data)]
    planes = np.empty((samples, width, rows * columns), np.uint8)
    for number, (start, end) in enumerate(zip(starts[:count], ends, strict=True)):
        if not 64 <= start <= end <= len(data):
            raise ValueError(f"segment {number} of RLE must be in the frame")
        # The first has the highest bytes.
        sample, byte = divmod(number, width)
        planes[sample, byte] = np.frombuffer(
            _unpacked(data[start:end], rows * columns), np.uint8, rows * columns
        )
    values = np.ascontiguousarray(planes.transpose(2, 0, 1)).view(f">{image.dtype.kind}{width}")
    return values.reshape(image.shape)


def _unpacked(data: bytes, size: int) -> bytes:
    """Decode the runs of a segment: PackBits."""
    found = bytearray()
    place, end = 0, len(data)
    while len(found) < size:
        if place >= end:
            raise ValueError(f"a segment of RLE must have {size} bytes in it")
        mark = data[place]
        if mark < 128:
            found += data[place + 1 : place + 2 + mark]
            place += 2 + mark
        elif mark > 128:
            found += data[place + 1 : place + 2] * (257 - mark)
            place += 2
        else:
            place += 1
    return bytes(found[:size])
