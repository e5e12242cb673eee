"""Writes files of records: TFRecord with examples, and RecordIO with images."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

MAGIC = 0xCED7230A
Values = Sequence[Any]


@functools.cache
def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


def masked_crc(data: bytes) -> int:
    """Return the checksum of data, CRC-32C, as TFRecord files store it."""
    crc, table = 0xFFFFFFFF, _crc_table()
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def tfrecord(data: bytes) -> bytes:
    """Return a record with its length and checksums."""
    length = struct.pack("<Q", len(data))
    sums = [struct.pack("<I", masked_crc(part)) for part in (length, data)]
    return length + sums[0] + data + sums[1]


def varint(value: int) -> bytes:
    """Return an integer in groups of seven bits."""
    value &= (1 << 64) - 1
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def field(number: int, data: bytes) -> bytes:
    """Return a field of a message that is bytes, or a message itself."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(values: Values, *, packed: bool = True) -> bytes:
    """Return a message Feature of bytes, floats or integers; without values, of no type."""
    if not values:
        return b""
    if isinstance(values[0], bytes):
        return field(1, b"".join(field(1, value) for value in values))
    if isinstance(values[0], float):
        if packed:
            return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))
        return field(2, b"".join(b"\x0d" + struct.pack("<f", value) for value in values))
    if packed:
        return field(3, field(1, b"".join(map(varint, values))))
    return field(3, b"".join(b"\x08" + varint(value) for value in values))


def example(features: Mapping[str, Values], *, packed: bool = True) -> bytes:
    """Return a message Example."""
    return field(
        1,
        b"".join(
            field(1, field(1, key.encode()) + field(2, feature(values, packed=packed)))
            for key, values in features.items()
        ),
    )


def sequence_example(
    context: Mapping[str, Values], sequences: Mapping[str, Sequence[Values]]
) -> bytes:
    """Return a message SequenceExample."""
    lists = b"".join(
        field(1, field(1, key.encode()) + field(2, b"".join(field(1, feature(s)) for s in steps)))
        for key, steps in sequences.items()
    )
    return example(context) + field(2, lists)


def write_tfrecords(path: Path, records: Iterable[bytes]) -> Path:
    """Write a TFRecord file, and its index file next to it."""
    parts = [tfrecord(record) for record in records]
    path.write_bytes(b"".join(parts))
    lines, offset = [], 0
    for part in parts:
        lines.append(f"{offset} {len(part)}\n")
        offset += len(part)
    path.with_suffix(".idx").write_text("".join(lines))
    return path


def examples(first: int, count: int) -> list[bytes]:
    """Return examples with an image of its own size, a label, floats and integers."""
    return [
        example(
            {
                "image": [bytes([number % 256]) * (number * 97 % 1500)],
                "label": [number],
                "floats": [number * 0.5, -1.0],
                "many": list(range(-number, number, 2)),
            },
            packed=number % 3 != 2,
        )
        for number in range(first, first + count)
    ]


def recordio(data: bytes) -> bytes:
    """Return a record of RecordIO: in parts, where the data hold the magic number."""
    mark = struct.pack("<I", MAGIC)
    parts, start = [], 0
    for place in range(0, len(data) - 3, 4):
        if data[place : place + 4] == mark:
            parts.append(data[start:place])
            start = place + 4
    parts.append(data[start:])
    last = len(parts) - 1
    kinds = [0] if last == 0 else [1, *[2] * (last - 1), 3]
    return b"".join(
        mark + struct.pack("<I", kind << 29 | len(part)) + part + bytes(-len(part) % 4)
        for kind, part in zip(kinds, parts, strict=True)
    )


def image_record(image: bytes, *labels: float) -> bytes:
    """Return what MXNet stores in a record: an image with one label, or with several."""
    if len(labels) == 1:
        return struct.pack("<IfQQ", 0, labels[0], 7, 0) + image
    floats = struct.pack(f"<{len(labels)}f", *labels)
    return struct.pack("<IfQQ", len(labels), 0.0, 7, 0) + floats + image


def images(first: int, count: int) -> list[bytes]:
    """Return data of records: images of several sizes, one in three with several labels."""
    mark = struct.pack("<I", MAGIC)
    found = []
    for number in range(first, first + count):
        image = bytes([number % 256]) * (number * 97 % 1500)
        labels = [float(number)] if number % 3 else [number + 0.5, 1.0, 2.0]
        # The magic number at a multiple of four is what divides records.
        found.append(image_record((mark * 2 + image + mark) if number % 4 == 2 else image, *labels))
    return found


def write_recordio(path: Path, records: Iterable[bytes]) -> Path:
    """Write a RecordIO file, and its index file next to it."""
    parts = [recordio(record) for record in records]
    path.write_bytes(b"".join(parts))
    lines, offset = [], 0
    for number, part in enumerate(parts):
        lines.append(f"{number}\t{offset}\n")
        offset += len(part)
    path.with_suffix(".idx").write_text("".join(lines))
    return path
