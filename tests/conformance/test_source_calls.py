"""Sources are called as by NVIDIA DALI: within `run`, in its thread, with the same prefetching."""

from __future__ import annotations

import functools
import itertools
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

BATCH_SIZE = 2
# The reference hangs if functions run in the same thread, but batches are prefetched.
EXECUTION = [
    (depth, is_pipelined, is_async)
    for depth in (1, 2, 3, 5)
    for is_pipelined in (True, False)
    for is_async in (True, False)
    if is_async or not is_pipelined
]


class Calls:
    """Creates functions that record their calls, and when the program continues."""

    def __init__(self) -> None:
        self.log: list[Any] = []

    def note(self, *what: Any) -> None:
        is_own = threading.current_thread() is threading.main_thread()
        self.log.append((*what, is_own))

    def source(self, name: str, length: int | None = None) -> Callable[[int], Any]:
        def call(number: int) -> Any:
            self.note(name, number)
            if length is not None and number >= length:
                raise StopIteration
            return [np.array([number], np.int32)] * BATCH_SIZE

        return call

    def samples(self, name: str, length: int) -> Callable[[Any], Any]:
        def call(info: Any) -> Any:
            self.note(name, info.idx_in_epoch, info.iteration, info.epoch_idx)
            if info.idx_in_epoch >= length * BATCH_SIZE:
                raise StopIteration
            return np.array([info.idx_in_epoch], np.int32)

        return call

    def generator(self, name: str, length: int) -> Callable[[], Any]:
        def generate() -> Any:
            for number in range(length):
                self.note(name, number)
                yield [np.array([number], np.int32)] * BATCH_SIZE

        return generate

    def plain(self, name: str) -> Callable[[], Any]:
        def call() -> Any:
            self.note(name)
            return [np.array([0], np.int32)] * BATCH_SIZE

        return call


SOURCES: dict[str, Callable[[Any, Calls], list[Any]]] = {
    "endless": lambda fn, calls: [fn.external_source(calls.source("a"))],
    "without arguments": lambda fn, calls: [fn.external_source(calls.plain("a"))],
    "ending": lambda fn, calls: [fn.external_source(calls.source("a", 4))],
    "samples": lambda fn, calls: [fn.external_source(calls.samples("a", 4), batch=False)],
    "iterator": lambda fn, calls: [fn.external_source(calls.generator("a", 4), cycle="raise")],
    "two": lambda fn, calls: [
        fn.external_source(calls.source("a", 5)) + 1,
        fn.external_source(calls.source("b", 4)),
    ],
    "two, the first ends": lambda fn, calls: [
        fn.external_source(calls.source("a", 3)),
        fn.external_source(calls.source("b", 4)) * 2,
    ],
}


def make(library: Any, depth: int, is_pipelined: bool, is_async: bool) -> Any:
    """Make an empty pipeline of either library."""
    return library.Pipeline(
        BATCH_SIZE,
        2,
        None,
        prefetch_queue_depth=depth,
        exec_pipelined=is_pipelined,
        exec_async=is_async,
    )


def log_of(
    library: Any, kind: str, actions: str, depth: int, is_pipelined: bool, is_async: bool
) -> list[Any]:
    """Perform the actions: run, Schedule, Output, Reset; return them with the calls in between."""
    calls = Calls()
    pipeline = make(library, depth, is_pipelined, is_async)
    with pipeline:
        pipeline.set_outputs(*SOURCES[kind](library.fn, calls))
    pipeline.build()
    log = calls.log
    for action in actions:
        log.append(action)
        try:
            if action == "r":
                pipeline.run()
            elif action == "S":
                pipeline.schedule_run()
            elif action == "O":
                pipeline.share_outputs()
                pipeline.release_outputs()
            else:
                pipeline.reset()
        except StopIteration:
            log.append("end")
    before = len(log)
    time.sleep(0.002)
    assert len(log) == before
    # The order of the calls of several sources is unspecified.
    runs = itertools.groupby(log, key=lambda entry: isinstance(entry, tuple))
    return [entry for is_calls, run in runs for entry in (sorted(run) if is_calls else run)]


def some_actions(kind: str, seed: int) -> str:
    """Run and reset in any order, also beyond the end of the data.

    If prefetching has reached the end, the reference discards batches that were not returned at a
    reset. Here a reset in mid-epoch changes nothing, so that it does not depend on the prefetch
    depth.
    """
    generator = random.Random(seed)
    if kind in ("endless", "without arguments"):
        return "".join(generator.choice("rrrR") for _ in range(12))
    epochs = ["r" * generator.randrange(7, 10) + "R" for _ in range(3)]
    return "R" * generator.randrange(2) + "".join(epochs) + "rr"


@pytest.mark.parametrize(("depth", "is_pipelined", "is_async"), EXECUTION)
@pytest.mark.parametrize("kind", SOURCES)
def test_calls_between_runs(kind: str, depth: int, is_pipelined: bool, is_async: bool) -> None:
    for actions in ("rrrrrr", *(some_actions(kind, seed) for seed in range(3))):
        arguments = kind, actions, depth, is_pipelined, is_async
        expected = log_of(reference, *arguments)
        assert log_of(dali_core, *arguments) == expected, actions
        assert all(entry[-1] is True for entry in expected if isinstance(entry, tuple))


@pytest.mark.parametrize(("depth", "is_pipelined", "is_async"), EXECUTION)
def test_calls_of_functions(depth: int, is_pipelined: bool, is_async: bool) -> None:
    for library in (reference, dali_core):
        calls = Calls()
        pipeline = make(library, depth, is_pipelined, is_async)
        with pipeline:
            numbers = library.fn.external_source(calls.source("source"))
            pipeline.set_outputs(
                library.fn.python_function(
                    numbers, function=functools.partial(noted, calls.note), num_outputs=1
                )
            )
        pipeline.build()
        ahead = depth if is_pipelined else 1
        for run in range(1, 5):
            pipeline.run()
            found = [entry for entry in list(calls.log) if entry[0] == "function"]
            assert BATCH_SIZE * run <= len(found) <= BATCH_SIZE * (run + ahead - 1)
            assert {is_own for *_, is_own in found} == {not is_async}


def noted(note: Callable[..., None], x: np.ndarray) -> np.ndarray:
    note("function", int(x[0]))
    return x


@pytest.mark.parametrize(("depth", "is_pipelined", "is_async"), EXECUTION)
@pytest.mark.parametrize("kind", ["endless", "ending", "two"])
def test_calls_between_schedules(kind: str, depth: int, is_pipelined: bool, is_async: bool) -> None:
    arguments = kind, "SOSOSOSOSOSORSOSO", depth, is_pipelined, is_async
    assert log_of(dali_core, *arguments) == log_of(reference, *arguments)
