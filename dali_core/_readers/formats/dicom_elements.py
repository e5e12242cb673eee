"""Data elements of DICOM files: those that say how pixels are stored, and nothing else.

No value of another element is ever read, so that none of a patient can get into a message.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_UNDEFINED = 0xFFFFFFFF
_ITEM, _END_OF_ITEM, _END_OF_SEQUENCE = 0xFFFEE000, 0xFFFEE00D, 0xFFFEE0DD
_LONG = frozenset((b"OB OD OF OL OV OW SQ SV UC UN UR UT UV").split())
_MAX_DEPTH = 32
_MOST_BYTES = 1 << 26  # of the value of an element
_MOST_INFLATED = 1 << 31
_LARGEST_RATIO = 1032  # of deflate

IMPLICIT, EXPLICIT = "1.2.840.10008.1.2", "1.2.840.10008.1.2.1"
DEFLATED, BIG_ENDIAN = "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.2"

PIXELS = {0x7FE00010: "", 0x7FE00008: "f4", 0x7FE00009: "f8"}
"""Elements with pixels, and the type of these if that is no integer."""

TABLE = 0x7FE00001
"""The extended offset table."""

_SEQUENCES = {
    *(0x52009229, 0x52009230),  # functional groups, shared and of each frame
    *(0x00289145, 0x00209113, 0x00209116, 0x00289110),  # values, position, orientation, spacing
}
_VALUES = {
    *(0x0020000E, 0x00200013, 0x00200032, 0x00200037),  # series, number, position, orientation
    *(0x00280002, 0x00280004, 0x00280006, 0x00280008),  # samples, colours, planes, frames
    *(0x00280010, 0x00280011, 0x00280030, 0x00180050, 0x00180088),  # extents and spacing
    *(0x00280100, 0x00280101, 0x00280102, 0x00280103),  # bits
    *(0x00281052, 0x00281053, TABLE),  # rescaling
}

Elements = Mapping[int, Any]
"""Values by their tags: bytes, or of sequences lists of such mappings."""


class TruncatedError(ValueError):
    """The bytes end within an element."""


@dataclass(frozen=True)
class DataSet:
    """The elements of a file.

    Attributes
    ----------
    syntax : str
        The transfer syntax.
    order : str
        Byte order, ``"<"`` or ``">"``.
    elements : mapping
        Those that are read.
    pixels : (int, int, int) or None
        Tag, first byte and number of bytes of the pixels; -1 bytes if they are encapsulated.
    is_directory : bool
        Whether the file lists others, and has no pixels.
    inflated : bytes or None
        The data set, if it was compressed; the first byte of the pixels is in it then.
    has_words : bool
        Whether pixels are words of 16 bits.
    """

    syntax: str
    order: str
    elements: Elements
    pixels: tuple[int, int, int] | None
    is_directory: bool
    inflated: bytes | None
    has_words: bool


def parse(data: bytes) -> DataSet:
    """Read the elements up to the pixels.

    Raises
    ------
    TruncatedError
        If the bytes end before.
    ValueError
        If they are none of a DICOM file.
    """
    if data[128:132] != b"DICM":
        if len(data) < 132:
            raise TruncatedError("it must have a preamble of 128 bytes, and DICM")
        raise ValueError("it must begin with 128 bytes, and DICM")
    meta = _Parser(data, "<", True)
    place, syntax, is_directory = 132, "", False
    while meta.next_group(place) == 2:
        tag, kind, length, place = meta.header(place)
        if tag == 0x00020010:
            syntax = text(meta.value(tag, place, length))
        if tag == 0x00020002:
            is_directory = text(meta.value(tag, place, length)) == "1.2.840.10008.1.3.10"
        place = meta.after(kind, place, length, 0)
    if not syntax:
        raise ValueError("(0002,0010) must name a transfer syntax")
    inflated = None
    if syntax == DEFLATED:
        inflated, place = _inflate(data[place:]), 0
        data = inflated
    order = ">" if syntax == BIG_ENDIAN else "<"
    # Some files say that representations are there, and have none.
    is_explicit = syntax != IMPLICIT and data[place + 4 : place + 6].isalpha()
    parser = _Parser(data, order, is_explicit)
    elements, pixels = ({}, None) if is_directory else parser.data_set(place)
    has_words = parser.kind_of_pixels == b"OW"
    return DataSet(syntax, order, elements, pixels, is_directory, inflated, has_words)


def _inflate(data: bytes) -> bytes:
    limit = min(_MOST_INFLATED, _LARGEST_RATIO * len(data) + 1024)
    decoder = zlib.decompressobj(-15)
    try:
        found = decoder.decompress(data, limit)
    except zlib.error as error:
        raise ValueError(f"it must be deflated ({error})") from error
    if not decoder.eof:
        raise TruncatedError("it must be deflated, with its end")
    return found


def text(value: bytes) -> str:
    """Return the text of a value, without its padding."""
    return value.decode("ascii", "replace").strip("\0 ")


class _Parser:
    def __init__(self, data: bytes, order: str, is_explicit: bool) -> None:
        self._data = data
        self._order = order
        self._is_explicit = is_explicit
        self._short = struct.Struct(order + "HH")
        self._long = struct.Struct(order + "I")
        self.kind_of_pixels = b""

    def next_group(self, place: int) -> int:
        if len(self._data) < place + 2:
            raise TruncatedError("it must have a data set")
        return int.from_bytes(self._data[place : place + 2], "little")

    def _tag(self, place: int) -> int:
        self._need(place + 8, 0)
        group, element = self._short.unpack_from(self._data, place)
        return int(group) << 16 | int(element)

    def _need(self, end: int, tag: int) -> None:
        if end > len(self._data):
            raise TruncatedError(f"it must not end within an element, {_shown(tag)}")

    def header(self, place: int) -> tuple[int, bytes, int, int]:
        """Return tag, representation and length of an element, and where its value begins."""
        tag = self._tag(place)
        if not self._is_explicit or tag >> 16 == 0xFFFE:
            return tag, b"", int(self._long.unpack_from(self._data, place + 4)[0]), place + 8
        kind = self._data[place + 4 : place + 6]
        if not (kind.isalpha() and kind.isupper()):
            raise ValueError(f"{_shown(tag)} must have a value representation")
        if kind not in _LONG:
            (length,) = struct.unpack_from(self._order + "H", self._data, place + 6)
            return tag, kind, int(length), place + 8
        self._need(place + 12, tag)
        return tag, kind, int(self._long.unpack_from(self._data, place + 8)[0]), place + 12

    def value(self, tag: int, place: int, length: int) -> bytes:
        if length > _MOST_BYTES:
            raise ValueError(f"{_shown(tag)} must have at most {_MOST_BYTES} bytes")
        self._need(place + length, tag)
        return self._data[place : place + length]

    def after(self, kind: bytes, place: int, length: int, depth: int) -> int:
        """Return where an element ends, without reading it."""
        if length != _UNDEFINED:
            return place + length
        # What is unknown and of undefined length is a sequence of implicit elements.
        parser = self if kind != b"UN" else _Parser(self._data, "<", False)
        return parser._sequence(place, None, depth + 1, [])

    def data_set(self, place: int) -> tuple[Elements, tuple[int, int, int] | None]:
        """Read a data set up to its pixels."""
        found: dict[int, Any] = {}
        while place < len(self._data):
            tag, kind, length, place = self.header(place)
            if tag in PIXELS:
                self.kind_of_pixels = kind
                return found, (tag, place, -1 if length == _UNDEFINED else length)
            place = self._element(tag, kind, length, place, 0, found)
        if place > len(self._data):
            raise TruncatedError("it must not end within an element")
        return found, None

    def _element(
        self, tag: int, kind: bytes, length: int, place: int, depth: int, found: dict[int, Any]
    ) -> int:
        """Keep an element that is needed, and return where it ends."""
        if tag in _SEQUENCES:
            items: list[Elements] = []
            end = None if length == _UNDEFINED else place + length
            parser = self if kind != b"UN" else _Parser(self._data, "<", False)
            place = parser._sequence(place, end, depth + 1, items)
            found.setdefault(tag, items)
            return place
        if tag in _VALUES and length != _UNDEFINED:
            found.setdefault(tag, self.value(tag, place, length))
        return self.after(kind, place, length, depth)

    def _sequence(self, place: int, end: int | None, depth: int, items: list[Elements]) -> int:
        if depth > _MAX_DEPTH:
            raise ValueError(f"sequences must be in at most {_MAX_DEPTH} others")
        while end is None or place < end:
            tag, _, length, place = self.header(place)
            if tag == _END_OF_SEQUENCE and end is None:
                return place
            if tag != _ITEM:
                raise ValueError(f"a sequence must have items (it has {_shown(tag)})")
            last = None if length == _UNDEFINED else place + length
            found: dict[int, Any] = {}
            while last is None or place < last:
                tag, kind, length, place = self.header(place)
                if tag == _END_OF_ITEM and last is None:
                    break
                place = self._element(tag, kind, length, place, depth, found)
            items.append(found)
        return place


def _shown(tag: int) -> str:
    return f"({tag >> 16:04x},{tag & 0xFFFF:04x})"
