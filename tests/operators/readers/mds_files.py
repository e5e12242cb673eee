"""Writes shards of MDS, as the package streaming of MosaicML does."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_CODES = {
    "uint8": 8,
    "int8": 9,
    "uint16": 16,
    "int16": 17,
    "float16": 18,
    "uint32": 32,
    "int32": 33,
    "float32": 34,
    "uint64": 64,
    "int64": 65,
    "float64": 66,
}
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress}


def encoded(encoding: str, value: Any) -> bytes:
    """Return the bytes of a value; those of images come encoded."""
    kind, _, details = encoding.partition(":")
    if kind == "ndarray":
        dtype, _, shape = details.partition(":")
        data = b"" if dtype else bytes([_CODES[value.dtype.name]])
        if not shape:
            log = next(n for n in range(4) if max(value.shape) < 1 << (8 << n))
            data += (
                bytes([value.ndim << 2 | log]) + np.array(value.shape, f"<u{1 << log}").tobytes()
            )
        return data + bytes(value.tobytes())
    if kind == "pil":
        mode, pixels = value
        height, width = pixels.shape[:2]
        data = np.packbits(pixels, axis=1) if mode == "1" else pixels
        return struct.pack("<III", width, height, len(mode)) + mode.encode() + data.tobytes()
    if kind.startswith("list"):
        items = [encoded(kind[5:-1], item) for item in value]
        sizes = np.array([0, len(items), *map(len, items)], "<u4")
        return sizes.tobytes() + b"".join(items)
    if kind == "jpeg_array":
        return np.array([len(value), *map(len, value)], "<u4").tobytes() + b"".join(value)
    if kind == "json":
        return json.dumps(value).encode()
    if isinstance(value, bytes):
        return value
    if kind == "str" or kind.startswith("str_"):
        return str(value).encode()
    return np.dtype("int64" if kind == "int" else kind).type(value).tobytes()


def fixed_size(encoding: str) -> int | None:
    """Return how many bytes each value has; None if that differs."""
    kind, _, details = encoding.partition(":")
    dtype, _, shape = details.partition(":")
    if kind == "ndarray" and shape:
        return int(np.prod([*map(int, shape.split(","))])) * np.dtype(dtype).itemsize
    if kind in _CODES or kind == "int":
        return np.dtype("int64" if kind == "int" else kind).itemsize
    return None


def write_mds(
    folder: Path,
    columns: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
    shard_rows: int,
    compression: str | None = None,
    hashes: Sequence[str] = (),
) -> str:
    """Write shards with so many rows each, and their index."""
    folder.mkdir(exist_ok=True)
    names = sorted(columns)
    config: dict[str, Any] = {
        "version": 2,
        "format": "mds",
        "compression": compression,
        "hashes": list(hashes),
        "size_limit": 1 << 26,
        "column_names": names,
        "column_encodings": [columns[name] for name in names],
        "column_sizes": [fixed_size(columns[name]) for name in names],
    }
    text = json.dumps(config, sort_keys=True).encode()
    shards = []
    for number, first in enumerate(range(0, len(rows), shard_rows)):
        data = []
        for row in rows[first : first + shard_rows]:
            values = [encoded(columns[name], row[name]) for name in names]
            sizes = [
                len(value)
                for value, size in zip(values, config["column_sizes"], strict=True)
                if size is None
            ]
            data.append(np.array(sizes, "<u4").tobytes() + b"".join(values))
        start = 4 + 4 * (len(data) + 1) + len(text)
        offsets = start + np.cumsum([0, *map(len, data)])
        head = np.array([len(data), *offsets], "<u4").tobytes()
        shard = head + text + b"".join(data)
        name = f"shard.{number:05}.mds"
        entry: dict[str, Any] = {**config, "samples": len(data), "zip_data": None}
        entry["raw_data"] = _described(name, shard, hashes)
        if compression is not None:
            kind = compression.partition(":")[0]
            name, shard = f"{name}.{kind}", COMPRESSIONS[kind](shard)
            entry["zip_data"] = _described(name, shard, hashes)
        (folder / name).write_bytes(shard)
        shards.append(entry)
    (folder / "index.json").write_text(json.dumps({"version": 2, "shards": shards}))
    return str(folder)


def _described(name: str, data: bytes, hashes: Sequence[str]) -> dict[str, Any]:
    found = {algorithm: hashlib.new(algorithm, data).hexdigest() for algorithm in hashes}
    return {"basename": name, "bytes": len(data), "hashes": found}
