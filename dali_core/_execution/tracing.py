"""Collects what the threads of all pipelines do, for `dali_core.trace`."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from dali_core._execution.device_stages import DeviceStages
from dali_core._runtime.consumer_calls import ConsumerCalls
from dali_core._runtime.executor import Executor
from dali_core._runtime.thread_times import take_events, trace

_WAITS = {
    -2: "wait for the consumer",
    -3: "wait for Python",
    -4: "wait for other threads",
    -5: "wait for a file",
}
_CONSUMER = 999
_DEVICE = 1000


class RunTrace:
    """Trace of one executor and of the consumer of its batches.

    Parameters
    ----------
    executor : Executor
        The executor.
    names : sequence of str
        What is timed: the operators, then the groups that run as one.
    calls : ConsumerCalls
        The consumer's calls.
    device : DeviceStages or None
        What runs stages on a device.
    """

    def __init__(
        self,
        executor: Executor,
        names: Sequence[str],
        calls: ConsumerCalls,
        device: DeviceStages | None,
    ) -> None:
        self._executor = executor
        self._names = names
        self._calls = calls
        self._device = device

    def start(self) -> None:
        """Keep what happens from now on."""
        take_events(self._executor)
        trace(self._executor, True)
        self._calls.trace()
        if self._device is not None:
            self._device.start_trace()

    def stop(self, process: int) -> Iterator[dict[str, Any]]:
        """End, and describe what happened in the format of Chrome's traces."""
        calls = self._calls.take_calls()
        trace(self._executor, False)
        epoch = _wall_clock_offset() / 1e3
        events = take_events(self._executor)
        compute = self._executor.num_compute_threads
        titles = {
            thread: f"native thread {thread}" if thread < compute else f"reading {thread - compute}"
            for thread in range(len(events) - 1)
        }
        titles |= {len(events) - 1: "Python and device steps", _CONSUMER: "consumer"}
        yield _name("process_name", process, 0, f"dali_core pipeline {process}")
        for thread, title in titles.items():
            yield _name("thread_name", process, thread, title)
        for thread, own in enumerate(events):
            for begin, end, what, iteration, sample in own:
                yield _span(
                    name=self._names[what] if what >= 0 else _WAITS.get(what, "wait"),
                    cat="operator" if what >= 0 else "wait",
                    ts=epoch + begin / 1e3,
                    dur=(end - begin) / 1e3,
                    pid=process,
                    tid=thread,
                    args={"batch": iteration, "sample": sample} if what >= 0 else {},
                )
        for start, stop, iteration in calls:
            yield _span(
                name="take a batch" if iteration >= 0 else "start a batch",
                cat="consumer",
                ts=epoch + start * 1e6,
                dur=(stop - start) * 1e6,
                pid=process,
                tid=_CONSUMER,
                args={"batch": iteration} if iteration >= 0 else {},
            )
        if self._device is None:
            return
        stream = self._device.stream
        title = f"CUDA device {stream.device_id}, stream {stream.handle:#x}"
        yield _name("thread_name", process, _DEVICE, title)
        for span in self._device.stop_trace():
            yield _span(
                name=span.name,
                cat="transfer" if span.num_bytes else "kernel",
                ts=epoch + span.begin / 1e3,
                dur=(span.end - span.begin) / 1e3,
                pid=process,
                tid=_DEVICE,
                args={"batch": span.iteration}
                | ({"bytes": span.num_bytes} if span.num_bytes else {}),
            )


class Tracer:
    """Keeps track of all runs, and traces them on request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # No WeakSet: it runs code when an entry is garbage, in which Ctrl-C would be lost.
        self._runs: list[weakref.ref[RunTrace]] = []
        # Also those of pipelines that are gone before the trace ends. None: no tracing.
        self._traced: list[RunTrace] | None = None

    def add(self, run: RunTrace) -> None:
        """Make a run known."""
        with self._lock:
            self._runs = [known for known in self._runs if known() is not None]
            self._runs.append(weakref.ref(run))
            if self._traced is not None:
                self._trace(run)

    def start(self) -> bool:
        """Start to trace all pipelines; return False if they are being traced already."""
        with self._lock:
            if self._traced is not None:
                return False
            self._traced = []
            for known in self._runs:
                run = known()
                if run is not None:
                    self._trace(run)
        return True

    def stop(self) -> list[dict[str, Any]]:
        """Stop tracing, and return what happened."""
        with self._lock:
            runs, self._traced = self._traced or [], None
            return [event for number, run in enumerate(runs, 1) for event in run.stop(number)]

    def _trace(self, run: RunTrace) -> None:
        assert self._traced is not None
        run.start()
        self._traced.append(run)


TRACER = Tracer()


def _wall_clock_offset() -> int:
    """Return the nanoseconds since 1970 at which the monotonic clock was 0.

    The thread may be interrupted between reading two clocks, so this is tried a few times.
    """
    tries = []
    for _ in range(10):
        before, now, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        tries.append((after - before, now - (before + after) // 2))
    return min(tries)[1]


def _name(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _span(**entries: Any) -> dict[str, Any]:
    """Describe something that took time, in microseconds."""
    return {"ph": "X", **entries}
