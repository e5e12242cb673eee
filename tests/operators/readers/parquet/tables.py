"""Tables for tests, files of them, and what a pipeline reads from these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="not available: pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from dali_core import Pipeline, fn
from dali_core.testing.examples import list_of

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def numbered(count: int, first: int = 0) -> pa.Table:
    """Return a table whose rows contain their number."""
    numbers = range(first, first + count)
    images = [{"bytes": b"%d" % n * n, "path": f"{n}.jpg"} for n in numbers]
    points = [[[n + i, n - i] for i in range(n % 3)] for n in numbers]
    return pa.table(
        {
            "number": pa.array(numbers, pa.int32()),
            "image": pa.array(images, IMAGE),
            "points": pa.array(points, pa.list_(pa.list_(pa.float32(), 2))),
        }
    )


def write(path: Path, table: pa.Table, row_group_size: int = 3) -> str:
    """Write a file, with checksums of its pages."""
    pq.write_table(
        table, path, row_group_size=row_group_size, write_page_checksum=True, use_dictionary=False
    )
    return str(path)


def make(batch_size: int, options: dict[str, Any] | None = None, **arguments: Any) -> Pipeline:
    """Make a pipeline that reads columns."""
    with Pipeline(batch_size, 2, None, **(options or {})) as pipeline:
        pipeline.set_outputs(*list_of(fn.readers.parquet(name="rows", **arguments)))
    return pipeline


def read(count: int, num_batches: int = 1, **arguments: Any) -> list[list[np.ndarray]]:
    """Return the first samples of each output."""
    pipeline = make(count, **arguments)
    batches = [pipeline.run() for _ in range(num_batches)]
    pipeline.close()
    return [
        [np.array(batch[output].at(i)) for batch in batches for i in range(count)]
        for output in range(len(batches[0]))
    ]


def numbers(count: int, num_batches: int = 1, **arguments: Any) -> list[int]:
    """Return the numbers in the first rows of files of `numbered`."""
    (found,) = read(count, num_batches, **{"columns": ["number"], **arguments})
    return [int(number) for number in found]
