"""Measure plans of batches by lengths: ``python -m benchmarks.batch_plans``.

Lengths are in a memory-mapped file, which is written first. Times are those of the processor, in
one thread, so that other programs of the machine count little. ``--curves FILE`` draws the effect
of the window instead, as the page on batches by tokens shows it.
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
from dali_core.batching import Bucket, Budget, EpochBatches, Pack

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


def mean_moved(plan: EpochBatches) -> float:
    """Return how many positions a sample comes from its place in the random order, on average."""
    places = numpy.concatenate([plan.positions(number) for number in range(len(plan))])
    return float(numpy.abs(places - numpy.arange(len(places))).mean())


def draw_curves(path: Path, num_samples: int) -> None:
    """Draw padding, imbalance and moves by window, of documents in 8 processes.

    Parameters
    ----------
    path : Path
        The file to write; its suffix selects the format.
    num_samples : int
        Number of documents.
    """
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "plans", "svg.fonttype": "none"})
    draw = numpy.random.default_rng(0)
    lengths = numpy.clip(draw.lognormal(numpy.log(300), 1.1, num_samples), 1, 8192).astype("int32")
    rules = {**RULES, "Bucket(16 classes)": Bucket(number=16, tokens=16384)}
    windows = [64 << shift for shift in range(0, 12, 2)]
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    grid = figure.subplots(1, 3)
    for name, rule in rules.items():
        plans = [rule.plan(lengths, seed=1, window=window) for window in windows]
        reports = [plan.report(8) for plan in plans]
        grid[0].plot(windows, [100 * report.waste for report in reports], "o-", label=name)
        grid[1].plot(windows, [report.imbalance for report in reports], "o-", label=name)
        grid[2].plot(windows, [mean_moved(plan) for plan in plans], "o-", label=name)
        for window, report, plan in zip(windows, reports, plans, strict=True):
            print(
                f"{name:18} {window:6} fill {report.fill:.4f} imbalance {report.imbalance:.3f} "
                f"moved {mean_moved(plan):.0f}"
            )
    titles = ("padding (%)", "imbalance of 8 processes", "moved in the random order (positions)")
    for axes, title in zip(grid, titles, strict=True):
        axes.set(xscale="log", xlabel="window (samples)", title=title)
        axes.set_xticks(windows, [f"{window:,}" for window in windows], rotation=45)
        axes.minorticks_off()
    grid[2].set_yscale("log")
    grid[0].legend()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.batch_plans", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--samples", type=int, default=10**8)
    parser.add_argument("--planned", type=int, default=10**7, help="samples of a whole epoch")
    parser.add_argument("--curves", type=Path, help="draw the effect of the window, and no more")
    arguments = parser.parse_args()
    if arguments.curves is not None:
        draw_curves(arguments.curves, 200_000)
        return
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
