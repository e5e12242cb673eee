"""Measure plans of batches by lengths: ``python -m benchmarks.batch_plans``.

Lengths are in a memory-mapped file, which is written first. Times are those of the processor, in
one thread, so that other programs of the machine count little.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

from dali_core import fn, pipeline_def
from dali_core.batching import Budget, EpochBatches, Pack

RULES = {"Pack(8192)": Pack(8192), "Budget(16384)": Budget(16384)}
_PART = 1 << 22


class Numbers:
    """Gives the number of each sample."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        return numpy.array([index])


def written_lengths(path: Path, count: int) -> Any:
    """Write lengths like those of documents, and return them as a memory-mapped array."""
    draw = numpy.random.default_rng(0)
    lengths = numpy.lib.format.open_memmap(path, "w+", numpy.int32, (count,))
    for start in range(0, count, _PART):
        part = draw.lognormal(numpy.log(300), 1.1, min(_PART, count - start))
        lengths[start : start + _PART] = numpy.clip(part, 1, 8192)
    lengths.flush()
    return numpy.load(path, mmap_mode="r")


def milliseconds(run: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    run()
    return 1000 * (time.process_time() - start)


def first_batch(rule: Any, lengths: Any) -> float:
    """Return the time from the start of a pipeline to the outputs of its first batch."""

    @pipeline_def(num_threads=1, prefetch_queue_depth=1)
    def numbers() -> Any:
        return fn.readers.python(Numbers(len(lengths)), random_shuffle=True, seed=1)

    pipeline = numbers(batching=rule, lengths=lengths)
    found = milliseconds(pipeline.run)
    pipeline.close()
    return found


def resume_at_end(plan: EpochBatches, again: EpochBatches) -> float:
    """Return the time until a plan that knows nothing has the last bin, from a state."""
    state = plan.state(len(plan) - 1)
    return milliseconds(lambda: again[again.restore(state)])


def memory_of_plan(rule: Any, count: int) -> float:
    """Return the MiB of a plan over some number of samples of one length, all of it known."""
    lengths = numpy.broadcast_to(numpy.int32(300), count)
    tracemalloc.start()
    plan = rule.plan(lengths, shuffle=False)
    for window in range(-(-count // plan.window)):
        plan._remember(window, window)
    plan.planned(0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.batch_plans", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--samples", type=int, default=10**8)
    parser.add_argument("--planned", type=int, default=10**7, help="samples of a whole epoch")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lengths = written_lengths(Path(folder) / "lengths.npy", arguments.samples)
        first_batch(Pack(8192), lengths[:1000])  # modules are imported
        for name, rule in RULES.items():
            small = lengths[: arguments.planned]
            plan, again = rule.plan(small, seed=1), rule.plan(small, seed=1)
            whole = milliseconds(plan.__len__)
            print(f"{name:14} plan of {len(small):.0e} samples      {whole:8.0f} ms")
            print(
                f"{name:14} first batch of {len(lengths):.0e}        "
                f"{first_batch(rule, lengths):8.1f} ms"
            )
            print(f"{name:14} resume at the last bin      {resume_at_end(plan, again):8.1f} ms")
            print(f"{name:14} memory at 1e9 samples       {memory_of_plan(rule, 10**9):8.1f} MiB")


if __name__ == "__main__":
    main()
