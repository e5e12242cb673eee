"""Measure what the size of a data set and of a job costs: ``python -m benchmarks.scaling``.

Prints start-up, order, checkpoints, and what happens when a job of 1,024 processes loses a node.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dali_core import Pipeline, fn
from dali_core._runtime.random import permutation, permute
from dali_core.batching.epoch_plan import EpochPlan, ceil_div
from dali_core.batching.fixed import Fixed

from . import machine
from .command import ROOT, positive, warn_if_busy, write_results
from .measurements import kilobytes

_BILLION = 10**9
_STATUS = Path("/proc/self/status")
_UNITS = {
    "open": "seconds",
    "computed": "seconds",
    "first_batch": "seconds",
    "kept": "memory",
}
_ROWS_IN_FILE, _ROWS_IN_GROUP = 10_000_000, 100_000


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--child", choices=("range", "rows"), help=argparse.SUPPRESS)
    parser.add_argument("--count", type=positive, default=_BILLION, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=positive, default=3, help="(%(default)s)")
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(_measure(arguments.child, arguments.count, arguments.folder)))
        return
    warn_if_busy()
    description = {"machine": machine.describe(), "settings": {"rounds": arguments.rounds}}
    results = {
        **_report_starts(arguments.rounds),
        "order_seconds": _report_order(),
        "bytes": {"state": _report_states()},
        "lost node": _report_lost_node(),
    }
    write_results("scaling", description | results)


def _report_starts(rounds: int) -> dict[str, dict[str, list[float]]]:
    results: dict[str, dict[str, list[float]]] = {"seconds": {}, "memory": {}}
    counts = (10_000_000, 100_000_000, _BILLION)
    with tempfile.TemporaryDirectory() as folder:
        _write_rows(Path(folder), max(counts) // _ROWS_IN_FILE)
        for what in ("range", "rows"):
            for count in counts:
                found = [_in_process(what, count, Path(folder)) for _ in range(rounds)]
                median = {name: float(np.median([one[name] for one in found])) for name in found[0]}
                for name, unit in _UNITS.items():
                    scale = 1e6 if unit == "memory" else 1
                    results[unit][f"{name} of {what} {count}"] = [
                        scale * one[name] for one in found
                    ]
                print(
                    f"{what:6} {count:13,}: open {median['open']:.3f} s "
                    f"({median['computed']:.3f} s of a processor), first batch "
                    f"{median['first_batch']:.3f} s, {median['kept']:.0f} MB kept"
                )
    return results


def _write_rows(folder: Path, num_files: int) -> None:
    """Write one Parquet file, and make links to it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"number": np.arange(_ROWS_IN_FILE, dtype=np.int32) // _ROWS_IN_GROUP})
    first = folder / "00000.parquet"
    pq.write_table(table, first, row_group_size=_ROWS_IN_GROUP)
    for number in range(1, num_files):
        os.link(first, folder / f"{number:05}.parquet")


def _measure(what: str, count: int, folder: Path) -> dict[str, float]:
    """Open a data set; seconds, and MB of resident memory above what there was before."""
    if what == "rows":
        import pyarrow.parquet  # noqa: F401  its memory is not that of the data set
    reading: dict[str, Any] = {"name": "data", "random_shuffle": what == "range"}
    before = kilobytes(_STATUS, "VmRSS")
    start, computed = time.perf_counter(), time.process_time()
    with Pipeline(8, 1, None, prefetch_queue_depth=1) as pipeline:
        if what == "rows":
            paths = [str(path) for path in sorted(folder.iterdir())[: count // _ROWS_IN_FILE]]
            output = fn.readers.parquet(paths=paths, columns=["number"], **reading)
        else:
            output = fn.readers.python(range(count), **reading)
        pipeline.set_outputs(output)
    pipeline.build()
    opened, computed = time.perf_counter(), time.process_time() - computed
    assert pipeline.epoch_size("data") == count
    pipeline.run()
    ran = time.perf_counter()
    return {
        "open": opened - start,
        "computed": computed,
        "first_batch": ran - opened,
        "kept": (kilobytes(_STATUS, "VmRSS") - before) * 1024 / 1e6,
    }


def _in_process(what: str, count: int, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.scaling", "--child", what, "--count", str(count)]
    printed = subprocess.run(
        [*command, "--folder", str(folder)], check=True, cwd=ROOT, stdout=subprocess.PIPE
    ).stdout
    result: dict[str, float] = json.loads(printed)
    return result


def _report_order() -> dict[str, float]:
    order = {}
    for size in (1_000_000, 10_000_000):
        seconds = _processor_seconds(partial(permutation, size, 1, 0))
        order[f"list of {size}"] = seconds
        print(
            f"order as a list {size:13,}: {seconds:.3f} s of a processor, {8 * size / 1e6:.0f} MB"
        )
    positions = range(0, _BILLION, _BILLION // 100_000)
    before = kilobytes(_STATUS, "VmRSS")
    seconds = _processor_seconds(lambda: [permute(one, _BILLION, 1, 0) for one in positions][:0])
    grown = kilobytes(_STATUS, "VmRSS") - before
    print(
        f"order computed  {_BILLION:13,}: {seconds / len(positions) * 1e9:.0f} ns a position with "
        f"the call from Python, {grown} kB more memory after {len(positions):,} positions"
    )
    return order | {f"position of {_BILLION}": seconds / len(positions)}


def _processor_seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def _report_states() -> dict[str, int]:
    states = {}
    for count, num_shards, depth, shuffle in (
        (1_000_000, 1, 2, False),
        (1_000_000, 1, 2, True),
        (1_000_000, 1, 32, True),
        (1_000_000, 1024, 2, True),
        (_BILLION, 1024, 2, True),
    ):
        with Pipeline(8, 1, None, prefetch_queue_depth=depth) as pipeline:
            pipeline.set_outputs(
                fn.readers.python(
                    range(count),
                    name="data",
                    num_shards=num_shards,
                    shard_id=num_shards - 1,
                    random_shuffle=shuffle,
                    interleaved_shards=True,
                )
            )
        pipeline.run()
        name = f"{count:,} samples, {num_shards} shards, depth {depth}, shuffled {shuffle}"
        states[name] = len(json.dumps(pipeline.state_dict()))
        print(f"state of {name}: {states[name]} bytes")
    return states


@dataclass(frozen=True)
class LostNode:
    """An epoch that a job began with some processes and ended with fewer.

    Attributes
    ----------
    position : int
        Samples that each of the fewer processes counts as read when it resumes.
    num_batches : int
        Global batches of the epoch.
    num_runs : int
        Batches that all processes together have planned.
    seconds : float
        Time of a processor that planning these took.
    """

    position: int
    num_batches: int
    num_runs: int
    seconds: float


@dataclass(frozen=True)
class ShardLayout:
    """The number of processes that share a data set, and the size of their batches."""

    num_shards: int
    batch_size: int

    @property
    def global_batch_size(self) -> int:
        """Samples in a batch of all processes together."""
        return self.num_shards * self.batch_size


def lose_node(num_samples: int, before: ShardLayout, now: ShardLayout, num_done: int) -> LostNode:
    """Plan an epoch, of which the first global batches are read with other shards than the rest.

    Parameters
    ----------
    num_samples : int
        Samples in the data set.
    before, now : ShardLayout
        Shards at first and after the loss; their global batches must be equally large.
    num_done : int
        Global batches that were read before.

    Raises
    ------
    ValueError
        If a sample is not read exactly once, or if a global batch is not the next piece of the
        order, which does not depend on the number of shards.
    """
    plan = EpochPlan(num_samples, pad_last_batch=True, interleaved=True)
    done = num_done * before.batch_size
    batches = [
        Fixed(layout.batch_size).plan(plan.divided(layout.num_shards)) for layout in (before, now)
    ]
    position = batches[1].resumed(batches[0], done)
    if position is None:
        raise ValueError(f"{now} cannot resume after {num_done} batches of {before}.")
    num_batches = ceil_div(num_samples, before.global_batch_size)
    counts = np.zeros(num_samples, np.uint8)
    num_runs, seconds = 0, 0.0
    for layout, start, stop in (
        (before, 0, done),
        (now, position, num_batches * now.batch_size),
    ):
        shards = [
            Fixed(layout.batch_size).plan(
                replace(plan, num_shards=layout.num_shards, shard_id=shard)
            )
            for shard in range(layout.num_shards)
        ]
        for step in range(start, stop, layout.batch_size):
            began = time.process_time()
            planned = [shard.samples(step, layout.batch_size) for shard in shards]
            seconds += time.process_time() - began
            num_runs += len(planned)
            pieces = list(_pieces(planned))
            for piece in pieces:
                counts[piece.start : piece.stop : piece.step] += 1
            first = step * layout.num_shards
            piece_end = min(first + layout.global_batch_size, num_samples)
            if not (
                sum(map(len, pieces)) == piece_end - first and (counts[first:piece_end] == 1).all()
            ):
                raise ValueError(f"batch at {first} is not the next piece of the order.")
    if not (counts == 1).all():
        raise ValueError(f"{np.count_nonzero(counts != 1)} samples are not read exactly once.")
    return LostNode(position, num_batches, num_runs, seconds)


def _pieces(planned: list[list[Any]]) -> Iterator[range]:
    for runs in planned:
        for run in runs:
            if not run.is_padding:
                yield range(run.first, run.first + run.length * run.step, run.step)


def _report_lost_node() -> dict[str, float]:
    before, now = ShardLayout(1024, 127), ShardLayout(1016, 128)
    found = lose_node(10_000_000, before, now, 30)
    print(
        f"lost node: 30 global batches with {before.num_shards} processes, "
        f"{found.num_batches - 30} with {now.num_shards}, from position {found.position} of each; "
        "every one of 10,000,000 samples once; "
        f"{found.seconds / found.num_runs * 1e6:.1f} us of a processor to plan a batch of a process"
    )
    return asdict(found)


if __name__ == "__main__":
    main()
