"""Measure what orders of rows of a Parquet file cost: ``python -m benchmarks.row_groups``.

The file has 10 MB in each row group. A pipeline only reads it, in each order by turns.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dali_core import Pipeline, fn, samplers

from .command import positive, warn_if_busy

_BATCH_SIZE = 64
_SMALL = 64 << 20
ORDERS: dict[str, dict[str, Any]] = {
    "of the file": {"max_cached_bytes": _SMALL},
    "samplers.Blocks(4)": {"sampler": samplers.Blocks(4), "max_cached_bytes": _SMALL},
    "random, all in memory": {"random_shuffle": True, "max_cached_bytes": 8 << 30},
    "random, 64 MiB in memory": {"random_shuffle": True, "max_cached_bytes": _SMALL},
}


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.row_groups", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--rounds", type=positive, default=3, help="(%(default)s)")
    parser.add_argument("--rows", type=positive, default=20000, help="(%(default)s)")
    arguments = parser.parse_args()
    warn_if_busy()
    rates: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        _write(path, arguments.rows)
        for _ in range(arguments.rounds):
            for order in ORDERS:
                rates[order].append(_rows_per_second(path, order, arguments.rows))
    for order, found in rates.items():
        rounds = ", ".join(f"{rate:,.0f}" for rate in found)
        print(f"{order:26} {statistics.median(found):10,.0f} rows/s  ({rounds})")


def _write(path: Path, num_rows: int) -> None:
    random = np.random.default_rng(0)
    images = [random.bytes(20_000) for _ in range(num_rows)]
    table = pa.table({"image": images, "label": range(num_rows)})
    pq.write_table(table, path, row_group_size=500, compression="none")


def _rows_per_second(path: Path, order: str, num_rows: int) -> float:
    with Pipeline(_BATCH_SIZE, 2, None) as pipeline:
        columns = ["image", "label"]
        pipeline.set_outputs(*fn.readers.parquet(paths=str(path), columns=columns, **ORDERS[order]))
    epoch = -(-num_rows // _BATCH_SIZE)
    for _ in range(epoch if "all" in order else 1):
        pipeline.run()
    count = 8 if "64 MiB" in order else epoch
    start = time.perf_counter()
    for _ in range(count):
        pipeline.run()
    seconds = time.perf_counter() - start
    pipeline.close()
    return count * _BATCH_SIZE / seconds


if __name__ == "__main__":
    main()
