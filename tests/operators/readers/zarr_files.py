"""Zarr arrays that are written without a library."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np


def _chunks(array: np.ndarray, shape: Sequence[int]) -> list[tuple[tuple[int, ...], np.ndarray]]:
    """Return all chunks, padded with zeros."""
    counts = [-(-extent // size) for extent, size in zip(array.shape, shape, strict=True)]
    padded = np.zeros([n * size for n, size in zip(counts, shape, strict=True)], array.dtype)
    padded[tuple(map(slice, array.shape))] = array

    def part(numbers: tuple[int, ...]) -> tuple[slice, ...]:
        pairs = zip(numbers, shape, strict=True)
        return tuple(slice(n * size, (n + 1) * size) for n, size in pairs)

    return [(numbers, padded[part(numbers)]) for numbers in product(*map(range, counts))]


def write_v2(path: Path, array: np.ndarray, shape: Sequence[int], /, **changes: Any) -> None:
    """Write an array of version 2, whose chunks are compressed by gzip."""
    path.mkdir(parents=True, exist_ok=True)
    metadata = {
        "zarr_format": 2,
        "shape": array.shape,
        "chunks": shape,
        "dtype": array.dtype.str,
        "compressor": {"id": "gzip", "level": 1},
        "fill_value": 0,
        "order": "C",
        "filters": None,
    }
    (path / ".zarray").write_text(json.dumps({**metadata, **changes}))
    for numbers, chunk in _chunks(array, shape):
        data = gzip.compress(chunk.tobytes(), 1, mtime=0)
        (path / ".".join(map(str, numbers))).write_bytes(data)


def write_v3(
    path: Path,
    array: np.ndarray,
    chunks: Sequence[int],
    shards: Sequence[int] | None = None,
    /,
    **changes: Any,
) -> None:
    """Write an array of version 3, whose chunks are not compressed."""
    codecs: list[dict[str, Any]] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    if shards:
        options = {"chunk_shape": chunks, "codecs": codecs, "index_codecs": codecs}
        codecs = [{"name": "sharding_indexed", "configuration": options}]
    path.mkdir(parents=True, exist_ok=True)
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": array.shape,
        "data_type": array.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shards or chunks}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": codecs,
    }
    (path / "zarr.json").write_text(json.dumps({**metadata, **changes}))
    for numbers, chunk in _chunks(array, shards or chunks):
        file = path.joinpath("c", *map(str, numbers))
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = [inner.tobytes() for _, inner in _chunks(chunk, chunks)] if shards else []
        sizes = np.array([len(part) for part in parts], "<u8")
        index = np.column_stack([np.cumsum(sizes) - sizes, sizes]).astype("<u8")
        file.write_bytes(b"".join(parts) + index.tobytes() if shards else chunk.tobytes())
