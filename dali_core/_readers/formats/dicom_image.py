"""Images of DICOM files: how frames are stored, where they are, and what their values mean."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.formats.dicom_elements import PIXELS, TABLE, DataSet, Elements, text

_MOST_FRAMES = 1 << 24


@dataclass(frozen=True)
class Frame:
    """Meaning and place of one frame.

    Attributes
    ----------
    scale : (float, float)
        What stored values are multiplied by, and what is added then.
    position, orientation : tuple of float or None
        Centre of the first pixel in millimetres, and directions of rows and columns.
    spacing : tuple of float or None
        Distance of rows, and of columns.
    """

    scale: tuple[float, float]
    position: tuple[float, ...] | None
    orientation: tuple[float, ...] | None
    spacing: tuple[float, ...] | None


@dataclass(frozen=True)
class Image:
    """The frames of a file.

    Attributes
    ----------
    syntax : str
        The transfer syntax.
    shape : tuple of int
        Rows, columns, and samples of each pixel.
    colours : str
        The photometric interpretation.
    dtype : numpy.dtype
        Type of a stored sample, with all its bits; ``bool`` for one bit.
    bits : (int, int)
        How many bits have the value, and the number of the highest of them.
    is_planar : bool
        Whether samples of one kind are contiguous.
    offset, num_bytes : int
        First byte and number of bytes of the pixels; -1 bytes if they are encapsulated.
    frame_bits : int
        The number of bits of a frame that is not encapsulated.
    frames : list of Frame
        Of all frames.
    offsets : tuple of int
        Where frames begin among fragments, if the file says so.
    series : str
        The identifier of the series.
    number : int or None
        The number in the series.
    thickness : float
        Of a slice, or the distance of slices, if the file says so; or else 1.
    """

    syntax: str
    shape: tuple[int, int, int]
    colours: str
    dtype: np.dtype[Any]
    bits: tuple[int, int]
    is_planar: bool
    offset: int
    num_bytes: int
    frame_bits: int
    frames: list[Frame]
    offsets: tuple[int, ...]
    series: str
    number: int | None
    thickness: float

    @classmethod
    def of(cls, found: DataSet, size: int) -> Image:
        """Read the elements of a file with so many bytes.

        Raises
        ------
        ValueError
            If they are none of an image that can be read. No message has a text of the file.
        """
        if found.pixels is None:
            raise ValueError("it must have pixels")
        elements, order = found.elements, found.order
        tag, offset, num_bytes = found.pixels
        rows, columns = (_number(elements, order, tag) for tag in (0x00280010, 0x00280011))
        samples = _number(elements, order, 0x00280002, 1)
        if min(rows, columns) < 1 or samples not in (1, 3):
            raise ValueError(
                f"an image must have rows and columns, and 1 or 3 samples (it has {rows}, "
                f"{columns} and {samples})"
            )
        allocated = _number(elements, order, 0x00280100)
        kind = PIXELS[tag] or ("i" if _number(elements, order, 0x00280103, 0) else "u")
        if PIXELS[tag]:
            dtype = np.dtype(order + kind)
            allocated, stored, high = 8 * dtype.itemsize, 8 * dtype.itemsize, 8 * dtype.itemsize - 1
        elif allocated == 1:
            dtype, stored, high = np.dtype(bool), 1, 0
        elif allocated in (8, 16, 32):
            dtype = np.dtype(f"{order}{kind}{allocated // 8}")
            stored = _number(elements, order, 0x00280101, allocated)
            high = _number(elements, order, 0x00280102, stored - 1)
        else:
            raise ValueError(f"samples must have 1, 8, 16 or 32 bits (they have {allocated})")
        if not 1 <= stored <= high + 1 <= max(allocated, 1):
            raise ValueError(
                f"samples must have their bits in those that are allocated (they have {stored} up "
                f"to number {high} of {allocated})"
            )
        count = _integer(elements, 0x00280008, 1)
        colours = text(elements.get(0x00280004, b""))
        is_paired = colours == "YBR_FULL_422" and num_bytes >= 0
        if is_paired and (allocated != 8 or samples != 3 or columns % 2):
            raise ValueError("colours of pairs of pixels must have 8 bits, and even columns")
        if order == ">" and allocated == 8 and found.has_words:
            raise ValueError("pixels of 8 bits must not be in words of big endian")
        frame_bits = rows * columns * (2 if is_paired else samples) * allocated
        behind = (size if found.inflated is None else len(found.inflated)) - offset
        if num_bytes > behind:
            raise ValueError(f"pixels must be in the file (there are {behind} of {num_bytes})")
        # An encapsulated frame has an item of 8 bytes at least.
        most = behind // 8 if num_bytes < 0 else 8 * num_bytes // frame_bits
        if not 1 <= count <= min(most, _MOST_FRAMES):
            raise ValueError(f"there must be 1 to {most} frames (there are {count})")
        table = elements.get(TABLE, b"")
        return cls(
            found.syntax,
            (rows, columns, samples),
            colours,
            dtype,
            (stored, high),
            bool(_number(elements, order, 0x00280006, 0)),
            offset,
            num_bytes,
            frame_bits,
            _frames(elements, count),
            struct.unpack(f"<{len(table) // 8}Q", table[: len(table) // 8 * 8]),
            series_of(elements),
            _integer(elements, 0x00200013, None),
            _distance(elements),
        )

    def frame_range(self, frame: int) -> tuple[int, int]:
        """Return first byte and number of bytes of a frame that is not encapsulated."""
        first = frame * self.frame_bits // 8
        return self.offset + first, -(-(frame + 1) * self.frame_bits // 8) - first

    def native(self, data: bytes, frame: int) -> NDArray[Any]:
        """Return the stored values of a frame, from its bytes: (rows, columns, samples)."""
        rows, columns, samples = self.shape
        count = math.prod(self.shape)
        if self.dtype.kind == "b":
            bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
            start = frame * count % 8
            return bits[start : start + count].reshape(self.shape)
        if self.colours == "YBR_FULL_422":
            # Two pixels share their colour differences.
            pairs = np.frombuffer(data, np.uint8, rows * columns * 2).reshape(-1, 4)
            return pairs[:, [0, 2, 3, 1, 2, 3]].reshape(self.shape)
        values: NDArray[Any] = np.frombuffer(data, self.dtype, count)
        if self.is_planar and samples > 1:
            values = values.reshape(samples, rows, columns).transpose(1, 2, 0)
        return self.significant(values.reshape(self.shape))

    def significant(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values without the bits that are not theirs."""
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        width = 8 * values.dtype.itemsize
        stored, high = self.bits
        if values.dtype.kind == "f" or stored == width:
            return values
        # Shifts to the right repeat the sign.
        shifted: NDArray[Any] = (values << (width - 1 - high)) >> (width - stored)
        return shifted.astype(values.dtype, copy=False)


def series_of(elements: Elements) -> str:
    """Return the identifier of a series, or an empty text."""
    return text(elements.get(0x0020000E, b""))


def ybr_to_rgb(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Convert luma and colour differences of 8 bits: ISO/IEC 10918-5, section 7."""
    luma, blue, red = (values[..., n].astype(np.float64) for n in range(3))
    blue, red = blue - 128, red - 128
    parts = (
        luma + 1.402 * red,
        luma - (0.114 * 1.772 * blue + 0.299 * 1.402 * red) / 0.587,
        luma + 1.772 * blue,
    )
    found: NDArray[np.uint8] = np.floor(np.stack(parts, -1) + 0.5).clip(0, 255).astype(np.uint8)
    return found


def _value(elements: Elements, tag: int) -> bytes | None:
    found = elements.get(tag)
    return found if isinstance(found, bytes) and found.strip(b"\0 ") else None


_MISSING = object()


def _number(elements: Elements, order: str, tag: int, default: Any = _MISSING) -> int:
    """Return a binary number of 16 bits."""
    found = elements.get(tag, b"")
    if len(found) < 2 and default is not _MISSING:
        return int(default)
    if len(found) != 2:
        raise ValueError(f"({tag >> 16:04x},{tag & 0xFFFF:04x}) must be one number of 16 bits")
    return int.from_bytes(found, "little" if order == "<" else "big")


def _integer(elements: Elements, tag: int, default: Any) -> Any:
    found = _value(elements, tag)
    if found is None:
        return default
    try:
        return int(text(found[:16]))
    except ValueError:
        raise ValueError(f"({tag >> 16:04x},{tag & 0xFFFF:04x}) must be a number") from None


def _floats(elements: Elements, tag: int, count: int) -> tuple[float, ...] | None:
    found = _value(elements, tag)
    if found is None:
        return None
    try:
        values = tuple(map(float, text(found[: 32 * count]).split("\\")))
    except ValueError:
        values = ()
    if len(values) != count or not all(map(math.isfinite, values)):
        raise ValueError(
            f"({tag >> 16:04x},{tag & 0xFFFF:04x}) must have {count} finite numbers"
        ) from None
    return values


def _distance(elements: Elements) -> float:
    """Return the distance of slices, as far as it is said."""
    for tag in (0x00180088, 0x00180050):
        found = _floats(elements, tag, 1)
        if found is not None and found[0] > 0:
            return found[0]
    return 1.0


def _frames(elements: Elements, count: int) -> list[Frame]:
    shared = elements.get(0x52009229) or [{}]
    groups = elements.get(0x52009230) or []
    if groups and len(groups) < count:
        raise ValueError(f"there must be {count} functional groups (there are {len(groups)})")
    if not groups:
        return [_frame((shared[0], elements))] * count
    return [_frame((group, shared[0], elements)) for group in groups[:count]]


def _frame(places: tuple[Elements, ...]) -> Frame:
    def find(sequence: int, tag: int, count: int) -> tuple[float, ...] | None:
        for place in places:
            inner = place.get(sequence) or [{}]
            found = _floats(inner[0], tag, count) or _floats(place, tag, count)
            if found is not None:
                return found
        return None

    slope, intercept = find(0x00289145, 0x00281053, 1), find(0x00289145, 0x00281052, 1)
    return Frame(
        ((slope or (1.0,))[0], (intercept or (0.0,))[0]),
        find(0x00209113, 0x00200032, 3),
        find(0x00209116, 0x00200037, 6),
        find(0x00289110, 0x00280030, 2),
    )
