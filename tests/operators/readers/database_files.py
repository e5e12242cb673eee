"""Writes databases of LMDB, with messages of Caffe and Caffe2."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.operators.readers.record_files import field, varint

lmdb = pytest.importorskip("lmdb", reason="not available: lmdb")

FLOAT, INT32, BYTE, STRING, INT64 = 1, 2, 3, 4, 10


def write_database(folder: Path, entries: Iterable[tuple[bytes, bytes]]) -> Path:
    """Write a database."""
    environment = lmdb.open(str(folder), map_size=1 << 24)
    with environment, environment.begin(write=True) as transaction:
        for key, value in entries:
            transaction.put(key, value)
    return folder


def number(field_number: int, value: int) -> bytes:
    """Return a field of a message that is an integer."""
    return varint(field_number << 3) + varint(value)


def datum(data: bytes | None, label: int | None) -> bytes:
    """Return a message Datum of an encoded image."""
    image = b"" if data is None else field(4, data)
    labels = b"" if label is None else number(5, label)
    return number(1, 3) + number(2, 5) + number(3, 7) + image + labels + number(7, 1)


def tensor(kind: int, values: Sequence[float] | bytes, dims: Sequence[int] = (1,)) -> bytes:
    """Return a message TensorProto."""
    head = b"".join(number(1, extent) for extent in dims) + number(2, kind)
    if isinstance(values, bytes):
        return head + field(6 if kind == STRING else 5, values)
    if kind == FLOAT:
        return head + field(3, struct.pack(f"<{len(values)}f", *values))
    place = 4 if kind == INT32 else 10
    return head + field(place, b"".join(varint(int(value)) for value in values))


def tensors(*protos: bytes) -> bytes:
    """Return a message TensorProtos."""
    return b"".join(field(1, proto) for proto in protos)


def datums(count: int) -> list[tuple[bytes, bytes]]:
    """Return entries with images of several sizes, of which some have pages of their own."""
    return [(b"%04d" % i, datum(bytes([i % 256]) * (i * 397 % 9000), i - 3)) for i in range(count)]
