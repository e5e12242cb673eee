"""Files of texts for tests, and what pipelines read from them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.testing.examples import list_of


def zstd(data: bytes) -> bytes:
    """Compress by Zstandard, in two frames with another one between them, which has no data."""
    zstandard = pytest.importorskip("zstandard", reason="not available: zstandard")
    half = len(data) // 2
    skipped = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    parts = [zstandard.compress(part) for part in (data[:half], data[half:])]
    return skipped + parts[0] + skipped + parts[1]


def gzipped(data: bytes) -> bytes:
    """Compress by gzip, in two members."""
    half = len(data) // 2
    return gzip.compress(data[:half]) + gzip.compress(data[half:])


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gzip": gzipped,
    "zstd": zstd,
}


def objects(count: int, first: int = 0) -> bytes:
    """Return lines of JSON with a text and a number each."""
    rows = ({"text": f"word {n} " * (n % 4), "number": n} for n in range(first, first + count))
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def write(path: Path, data: bytes) -> str:
    """Write a file, and return its path."""
    path.write_bytes(data)
    return str(path)


def make(
    reader: str, batch_size: int, options: dict[str, Any] | None = None, **arguments: Any
) -> Pipeline:
    """Make a pipeline with a reader of texts."""
    with Pipeline(batch_size, 2, None, **(options or {})) as pipeline:
        pipeline.set_outputs(*list_of(getattr(fn.readers, reader)(name="texts", **arguments)))
    return pipeline


def read(reader: str, count: int, **arguments: Any) -> list[Any]:
    """Return the first samples: texts as bytes, numbers as lists; tuples of several outputs."""
    pipeline = make(reader, count, **arguments)
    outputs = pipeline.run()
    pipeline.close()
    rows = [tuple(_value(output.at(i)) for output in outputs) for i in range(count)]
    return [row[0] for row in rows] if len(outputs) == 1 else rows


def lines(data: Sequence[Any]) -> list[str]:
    """Return texts as they were before they were bytes."""
    return [text.decode() for text in data]


def _value(sample: Any) -> Any:
    array = np.array(sample)
    return array.tobytes() if array.dtype == np.uint8 and array.ndim == 1 else array.tolist()
