"""Statistics of pipelines whose slow part measures itself: both must agree within 5 %.

A busy machine may stop a thread between two readings of a clock, so a measurement is repeated until
both agree. Numbers that were wrong by more would never do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.reading_ahead import compile_slow_read
from dali_core import Pipeline, fn
from tests.compiled_programs import require_compiler
from tests.test_statistics import by_name, settled
from tests.waiting import wait_until

SECONDS = 0.005
BATCHES = 6


class Stopwatch:
    """Adds up how long its blocks take, by one of Python's clocks."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.total = 0.0

    def __enter__(self) -> None:
        self.begin = self.clock()

    def __exit__(self, *error: object) -> None:
        self.total += self.clock() - self.begin


def agree(measure: Callable[[], tuple[float, float]]) -> None:
    """Repeat a measurement until what is stated is what the slow part measured, within 5 %."""
    seen: list[tuple[float, float]] = []

    def is_close() -> bool:
        stated, own = measure()
        seen.append((stated, own))
        # What is stated includes what the slow part measures within.
        assert stated >= own * 0.999
        return own <= stated <= 1.05 * own or stated == pytest.approx(own, rel=1e-3)

    wait_until(is_close, lambda: seen)


def with_function(function: Callable[[np.ndarray], np.ndarray]) -> Pipeline:
    pipeline = Pipeline(batch_size=2, num_threads=2, device_id=None, seed=1)
    with pipeline:
        pipeline.set_outputs(fn.python_function(fn.random.coin_flip(), function=function))
    return pipeline


def test_a_slow_operator() -> None:
    watch = Stopwatch()

    def slow(array: np.ndarray) -> np.ndarray:
        with watch:
            time.sleep(SECONDS)
        return array

    pipeline = with_function(slow)
    pipeline.run()

    def measure() -> tuple[float, float]:
        settled(pipeline)
        pipeline.reset_statistics()
        watch.total = 0.0
        for _ in range(BATCHES):
            pipeline.run()
        return by_name(settled(pipeline))["python_function"].seconds, watch.total

    agree(measure)
    text = pipeline.statistics().diagnosis()
    assert "the Python function of python_function takes " in text
    assert text.endswith("Worker processes (parallel=True) would help.")


def test_a_function_that_holds_the_gil() -> None:
    watch = Stopwatch(time.thread_time)

    def busy(array: np.ndarray) -> np.ndarray:
        with watch:
            for number in range(100_000):
                number**2
        return array

    pipeline = with_function(busy)
    pipeline.run()

    def measure() -> tuple[float, float]:
        settled(pipeline)
        pipeline.reset_statistics()
        watch.total = 0.0
        for _ in range(BATCHES):
            pipeline.run()
        seconds = by_name(settled(pipeline))["python_function"].processor_seconds
        assert seconds is not None
        return seconds, watch.total

    agree(measure)


def test_another_thread_that_holds_the_gil() -> None:
    """The function then waits for the GIL, which is neither computing nor lost time."""
    watch, stop = Stopwatch(), threading.Event()

    def short(array: np.ndarray) -> np.ndarray:
        with watch:
            # Each sleep gives the GIL away, and has to get it back.
            for _ in range(3):
                time.sleep(0)
        return array

    def hog() -> None:
        while not stop.is_set():
            sum(range(1000))

    pipeline = with_function(short)
    pipeline.run()
    thread = threading.Thread(target=hog)
    thread.start()
    try:
        settled(pipeline)
        pipeline.reset_statistics()
        watch.total = 0.0
        for _ in range(BATCHES):
            pipeline.run()
        step = by_name(settled(pipeline))["python_function"]
    finally:
        stop.set()
        thread.join()
    # Around the function, too, the step has to wait for the GIL: it is stated as a whole.
    assert step.seconds >= watch.total > 0
    assert step.processor_seconds is not None
    # They are readings of two clocks, one after the other.
    assert step.processor_seconds <= 1.01 * step.seconds + 1e-3


def test_a_slow_consumer() -> None:
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.random.coin_flip())

    def measure() -> tuple[float, float]:
        pipeline.run()
        settled(pipeline)
        pipeline.reset_statistics()
        working = Stopwatch()
        pipeline.run()
        for _ in range(BATCHES):
            with working:
                time.sleep(SECONDS)
            pipeline.run()
        return pipeline.statistics().consumer.working, working.total

    agree(measure)
    wait_until(lambda: measure() and "is not the bottleneck" in pipeline.statistics().diagnosis())


def test_a_consumer_that_waits() -> None:
    pipeline = with_function(lambda array: time.sleep(SECONDS) or array)

    def measure() -> tuple[float, float]:
        pipeline.run()
        pipeline.reset_statistics()
        pipeline.run()
        waiting = Stopwatch()
        for _ in range(BATCHES):
            with waiting:
                pipeline.run()
        # The loop measures what is around the waiting.
        return waiting.total, pipeline.statistics().consumer.waiting

    agree(measure)


PROGRAM = """
import ctypes, json, sys, threading
from pathlib import Path
from dali_core import Pipeline, fn

delays = ctypes.CDLL(None)
delays.delayed_nanoseconds.restype = ctypes.c_longlong
files = sorted(map(str, Path(sys.argv[1]).iterdir()))
pipeline = Pipeline(batch_size=2, num_threads=2, device_id=None)
with pipeline:
    pipeline.set_outputs(*fn.readers.file(files=files))
pipeline.run()
executor = pipeline._run.runner.executor

def settle():
    # All files that may be read ahead have been read.
    before = None
    while before != (now := (delays.delayed_nanoseconds(), executor.num_active)) or now[1]:
        before = now
        threading.Event().wait(0.1)

settle()
pipeline.reset_statistics()
begin = delays.delayed_nanoseconds()
delays.set_read_delay(20000)
for _ in range(12):
    pipeline.run()
settle()
# First: what is stated then includes all of it.
own = (delays.delayed_nanoseconds() - begin) * 1e-9
statistics = pipeline.statistics()
(reader,) = statistics.operators
print(json.dumps({
    "stated": reader.seconds + reader.seconds_ahead,
    "own": own,
    "diagnosis": statistics.diagnosis(),
}))
"""


def test_a_slow_reader(tmp_path: Path) -> None:
    require_compiler()
    library = compile_slow_read(tmp_path)
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.jpg").write_bytes(bytes(100))
    diagnoses = []

    def measure() -> tuple[float, float]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(folder)],
            env=os.environ | {"LD_PRELOAD": str(library)},
            capture_output=True,
            text=True,
            check=True,
        )
        result = json.loads(done.stdout)
        diagnoses.append(result["diagnosis"])
        return result["stated"], result["own"]

    agree(measure)
    assert "storage is the limit" in diagnoses[-1]
