"""Time statistics of pipelines, and of the training loop that waits for them.

`Pipeline.statistics` returns a `PipelineStatistics`. Counting is always on: threads read a clock
after each operator, and count for themselves.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dali_core._messages import printable

__all__ = ["ConsumerStatistics", "OperatorStatistics", "PipelineStatistics", "ThreadStatistics"]

# Below this share of its time, waiting of the training loop is negligible.
_UNNOTICED = 0.05
# A resource that is in use for so much of the time is the limit.
_LIMIT = 0.85


@dataclass(frozen=True)
class OperatorStatistics:
    """What one operator has done, or several operators that ran as one.

    Attributes
    ----------
    name : str
        The operators, such as ``"decoders.image + resize"``.
    nodes : tuple of str
        Their names in the graph.
    kind : {"native", "Python", "device"}
        What ran them: native threads, a Python function, or a device. For a device, only the time
        that the host needs is known.
    calls, samples : int
        Number of calls, and of samples in them. Native operators are called once a sample, all
        others once a batch.
    seconds : float
        Time in them, over all threads: native threads, or the thread that runs Python.
    seconds_ahead : float
        Time in threads that read files ahead of their use, which is not part of `seconds`.
    processor_seconds : float or None
        Processor time within `seconds`, of operators that are not native.
    bytes_in, bytes_out : int
        Size of the inputs and outputs of native operators.
    median, p90, p99 : float
        Percentiles of the seconds of a call, to 5 %.
    share : float
        Part of `seconds` in the time of all operators.
    is_reader : bool
        Whether it reads files.
    """

    name: str
    nodes: tuple[str, ...]
    kind: str
    calls: int
    samples: int
    seconds: float
    seconds_ahead: float
    processor_seconds: float | None
    bytes_in: int
    bytes_out: int
    median: float
    p90: float
    p99: float
    share: float
    is_reader: bool


@dataclass(frozen=True)
class ThreadStatistics:
    """What the native threads did, in seconds over all of them.

    Attributes
    ----------
    num_threads : int
        Number of native threads, without those that read files ahead.
    working : float
        Time in which they did something else than wait.
    waiting_for_consumer : float
        Time in which all prefetched batches were done: the loader was ahead.
    waiting_for_python : float
        Time in which batches were in Python functions, or on a device.
    waiting_for_files : float
        Time in which another thread was reading the file that was needed.
    waiting_for_others : float
        Time in which other threads worked on the last samples of a batch.
    """

    num_threads: int
    working: float
    waiting_for_consumer: float
    waiting_for_python: float
    waiting_for_files: float
    waiting_for_others: float


@dataclass(frozen=True)
class ConsumerStatistics:
    """Consumer-thread statistics: those of the training loop.

    Attributes
    ----------
    batches : int
        Number of batches returned.
    samples : int
        Number of samples in them.
    first_wait : float
        Seconds until the first batch, which is not part of the other numbers.
    waiting : float
        Seconds in which it waited for a batch.
    working : float
        Seconds between taking a batch and asking for the next one of the same loop.
    ready : float
        Seconds for which batches were done before they were asked for.
    mean_queue : float
        Number of batches that were done when one was asked for, on average.
    found_empty, found_full : int
        How often none was done then, so that the loop had to wait, and how often all were that had
        been started, so that the loader had nothing to do. The first batch does not count, nor, in
        `found_full`, the batch that `Pipeline.run` starts in place of the one that it takes.
    depth : int
        The largest possible number of these batches; with `Pipeline.run` it is one less.
    """

    batches: int
    samples: int
    first_wait: float
    waiting: float
    working: float
    ready: float
    mean_queue: float
    found_empty: int
    found_full: int
    depth: int

    @property
    def waiting_share(self) -> float:
        """Part of its time in which the training loop waited."""
        total = self.waiting + self.working
        return self.waiting / total if total > 0 else 0.0


@dataclass(frozen=True)
class PipelineStatistics:
    """What a pipeline has done since it was built, or since `Pipeline.reset_statistics`.

    Attributes
    ----------
    seconds : float
        Length of that time, without pauses: what comes after the last batch that was taken, and
        before a loop over an iterator begins or the pipeline is reset.
    operators : tuple of OperatorStatistics
        The operators, those with most time first. Operators that never ran are not listed.
    threads : ThreadStatistics
        The native threads.
    consumer : ConsumerStatistics
        The training loop.
    """

    seconds: float
    operators: tuple[OperatorStatistics, ...]
    threads: ThreadStatistics
    consumer: ConsumerStatistics

    @property
    def headroom(self) -> float:
        """How many times as fast as the training loop took batches the loader could make them.

        It is the time that the loop needs for its own work, divided by the time that the busiest
        part of the loader needs for the same batches. Below 1 the loader is the bottleneck. 0 if
        there were too few batches to know.
        """
        if self.consumer.batches < 2 or self._busiest() <= 0:
            return 0.0
        return self.consumer.working / self._busiest()

    def diagnosis(self) -> str:
        """Say in a sentence or two what limits the training loop, and what would help."""
        if self.consumer.batches < 2 or not self.operators:
            return "Too few batches to know: at least two are needed."
        waits = f"The training loop waits {_percent(self.consumer.waiting_share)} of its time"
        if self.consumer.waiting_share < _UNNOTICED:
            return (
                f"The loader is not the bottleneck: the training loop waits "
                f"{_percent(self.consumer.waiting_share)} of its time, and the loader could feed "
                f"{self.headroom:.1f} times as much."
            )
        native = self._native_seconds()
        python = self._longest("Python")
        if python is not None and self._python_seconds() > self._busy():
            return f"{waits}: {self._python_cause(python)}"
        reading = self._reading_seconds() / (native + self.threads.waiting_for_files or 1.0)
        if reading > 0.5:
            return (
                f"{waits}: storage is the limit, since the native threads spend "
                f"{_percent(reading)} of their time on reading files. Faster storage, or fewer and "
                "larger files, would help."
            )
        most = self._longest("native")
        if most is None:
            return f"{waits}: the work is done on a device, or outside of the pipeline."
        share = _percent(most.seconds / (native or 1.0))  # clocks may not have ticked
        text = f"{waits}; {most.name} takes {share} of the native threads"
        if self._busy() < _LIMIT * self.seconds:
            return f"{text}, which do not always have work: a larger prefetch depth would help."
        if self.threads.num_threads < len(os.sched_getaffinity(0)):
            return f"{text}, which are always busy: more threads would help."
        return f"{text}, which are as many as there are processors: only less work would help."

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers in the form of JSON, with `headroom` and `diagnosis`."""
        return {**asdict(self), "headroom": self.headroom, "diagnosis": self.diagnosis()}

    def __str__(self) -> str:
        threads = self.threads
        total = threads.num_threads * self.seconds or 1.0
        asked = max(1, self.consumer.batches - 1)
        lines = [
            f"{self.consumer.batches} batches in {self.seconds:.3g} s",
            self.diagnosis(),
            f"native threads ({threads.num_threads}): working {_percent(threads.working / total)}, "
            f"waiting for the consumer {_percent(threads.waiting_for_consumer / total)}, for "
            f"Python {_percent(threads.waiting_for_python / total)}, for files "
            f"{_percent(threads.waiting_for_files / total)}, for other threads "
            f"{_percent(threads.waiting_for_others / total)}",
            f"finished batches: {self.consumer.mean_queue:.1f} of {self.consumer.depth} on average,"
            f" none {_percent(self.consumer.found_empty / asked)} of the times that the loop asked "
            f"for one, all {_percent(self.consumer.found_full / asked)}",
            *_table(self.operators),
        ]
        return "\n".join(lines)

    def _native_seconds(self) -> float:
        return sum(entry.seconds for entry in self.operators if entry.kind == "native")

    def _python_seconds(self) -> float:
        return sum(entry.seconds for entry in self.operators if entry.kind == "Python")

    def _reading_seconds(self) -> float:
        own = sum(entry.seconds for entry in self.operators if entry.is_reader)
        return own + self.threads.waiting_for_files

    def _busy(self) -> float:
        """Return the seconds for which each native thread was needed, on average."""
        return (self.threads.working + self.threads.waiting_for_files) / self.threads.num_threads

    def _busiest(self) -> float:
        return max(self._busy(), self._python_seconds())

    def _longest(self, kind: str) -> OperatorStatistics | None:
        return next((entry for entry in self.operators if entry.kind == kind), None)

    def _python_cause(self, step: OperatorStatistics) -> str:
        computing = (step.processor_seconds or 0.0) / (step.seconds or 1.0)
        taken = f"the Python function of {step.name} takes {step.median * 1e3:.3g} ms a batch"
        if computing > 0.5:
            return (
                f"{taken} and computes for {_percent(computing)} of that, in which it holds the "
                "GIL. Native operators, or worker processes (parallel=True), would help."
            )
        return (
            f"{taken} and waits for {_percent(1 - computing)} of that. Worker processes "
            "(parallel=True) would help."
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _table(operators: Sequence[OperatorStatistics]) -> list[str]:
    if not operators:
        return []
    rows: list[tuple[str, ...]] = [
        ("operator", "share", "samples", "ms/call", "p90", "p99", "MB in", "MB out")
    ]
    for entry in operators:
        milliseconds = (f"{1e3 * value:.3g}" for value in (entry.median, entry.p90, entry.p99))
        megabytes = (f"{value / 1e6:.4g}" for value in (entry.bytes_in, entry.bytes_out))
        rows.append(
            (
                printable(entry.name),
                _percent(entry.share),
                str(entry.samples),
                *milliseconds,
                *megabytes,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
