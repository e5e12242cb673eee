"""Interrupts at every instruction: whether a stream of batches is the same with them.

A trace function that is C code makes a signal pending right before an instruction, and Python runs
its handler where it would in any program. So an interrupt is put before each instruction of the
library in turn that the main thread runs for one batch.

``python -m tests.process.injected`` does so for all kinds of pipelines and iterators, at each
instruction; ``python -m tests.process.injected KIND STEP`` for one, at every so many.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import dali_core
from dali_core import Pipeline, fn

PACKAGES = (
    os.path.join(os.path.dirname(dali_core.__file__), ""),
    os.path.join(Path(dali_core.__file__).parents[1], "adapters", ""),
)
# Python's own: where it is not the library that calls them, they are not entered.
STANDARD = (sysconfig.get_path("stdlib"), "<frozen", "<string>")


def _trace_function(name: str) -> Any:
    """Return a trace function that is a function of Python's own, which takes no arguments."""
    function = ctypes.PyDLL(None)[name]
    function.argtypes, function.restype = [ctypes.py_object] * 3, None
    return function


_trip = _trace_function("PyErr_SetInterrupt")
_do_nothing = _trace_function("Py_IsInitialized")


class Injector:
    """Counts instructions of the library, and interrupts before one of them.

    Parameters
    ----------
    at : int
        Which instruction, from 0 on; -1 for none.
    """

    def __init__(self, at: int) -> None:
        self._left = at
        self.num_seen = 0
        self.where = "nowhere"
        self.result: Any = None

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGES) and not name.startswith(STANDARD):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: FrameType, event: str, argument: object) -> Any:
        if event != "opcode":
            return self._step
        self.num_seen += 1
        self._left -= 1
        if self._left == -1:
            self.where = f"{frame.f_code.co_qualname}:{frame.f_lineno}+{frame.f_lasti}"
            # From the next instruction on, in whichever frame, until the handler ends this. What is
            # called next is not traced: its beginning is as good as the call.
            seen: FrameType | None = frame
            while seen is not None:
                if seen.f_trace is not None:
                    seen.f_trace = _trip
                seen = seen.f_back
            sys.settrace(_do_nothing)
            return _trip
        return self._step

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal, once."""
        sys.settrace(None)
        raise KeyboardInterrupt

    def call(self, function: Callable[[], Any]) -> None:
        """Call a function, with an interrupt before the instruction.

        What it returns is kept before anything else happens: an interrupt may strike right after.
        """
        before = signal.signal(signal.SIGINT, self.interrupt)
        try:
            sys.settrace(self._enter)
            self.result = function()
        finally:
            sys.settrace(None)
            signal.signal(signal.SIGINT, before)


class Numbers:
    """A source that is asked for samples by their numbers."""

    def __call__(self, info: Any) -> Any:
        """Return the number of a sample."""
        return np.int64([info.idx_in_epoch])


class Batches:
    """An iterable, whose iterator is C code."""

    def __iter__(self) -> Iterator[Any]:
        """Return batches, each another."""
        return iter([[np.int64([10 * i + k]) for k in range(2)] for i in range(400)])


def batch_of(iteration: int) -> list[Any]:
    """Return the batch with a number."""
    return [np.int64([10 * iteration + k]) for k in range(2)]


class WithSetup(Pipeline):
    """A pipeline that feeds itself."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(2, 1, None, **arguments)
        self.number = 0

    def define_graph(self) -> Any:
        """Return what is fed."""
        self.fed = fn.external_source(name="fed")
        return self.fed

    def iter_setup(self) -> None:
        """Feed the next batch: the last that it does."""
        self.feed_input(self.fed, batch_of(self.number))
        self.number += 1


def _source(make: Callable[[], Any], **arguments: Any) -> Pipeline:
    with Pipeline(2, 2, None, **arguments) as pipeline:
        pipeline.set_outputs(make())
    return pipeline


def reader(depth: int, root: str) -> Pipeline:
    """Return a pipeline with native operators only."""
    files = [os.path.join(root, "class_0", "000.jpg")] * 997  # whatever is in it
    return _source(
        lambda: fn.readers.file(files=files, labels=list(range(997)), random_shuffle=True, seed=3)[
            1
        ],
        prefetch_queue_depth=depth,
    )


def fed() -> Pipeline:
    """Return a pipeline that is fed by `run`."""
    return _source(lambda: fn.external_source(name="fed"), prefetch_queue_depth=1)


PIPELINES: dict[str, Callable[[str], Pipeline]] = {
    "native 1": lambda root: reader(1, root),
    "native 3": lambda root: reader(3, root),
    "called": lambda root: _source(lambda: fn.external_source(batch_of), prefetch_queue_depth=2),
    "samples": lambda root: _source(lambda: fn.external_source(Numbers(), batch=False)),
    "iterated": lambda root: _source(lambda: fn.external_source(Batches()), prefetch_queue_depth=3),
    "steps": lambda root: _source(
        lambda: fn.python_function(fn.external_source(Batches()), function=lambda x: x + 1)
    ),
    "inline": lambda root: _source(
        lambda: fn.python_function(fn.external_source(Batches()), function=lambda x: x + 1),
        exec_async=False,
    ),
    "threads": lambda root: _source(
        lambda: fn.external_source(Numbers(), parallel=True, batch=False),
        py_num_workers=2,
        py_start_method="thread",
        exec_async=False,
    ),
    "set up 1": lambda root: WithSetup(prefetch_queue_depth=1),
    "set up 3": lambda root: WithSetup(prefetch_queue_depth=3),
    "fed": lambda root: fed(),
    "threads of items": lambda root: _source(
        lambda: fn.external_source(Batches(), parallel=True),
        py_num_workers=1,
        py_start_method="thread",
        exec_async=False,
    ),
}


def _values(outputs: Any) -> list[int]:
    return [int(np.asarray(sample).ravel()[0]) for sample in outputs[0]]


class Run:
    """Takes batches by `run`."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        pipeline.build()

    def take(self) -> Any:
        """Return a batch."""
        return self._pipeline.run()

    def values(self, batch: Any) -> list[int]:
        """Return what is in it."""
        return _values(batch)

    @property
    def is_too_far_ahead(self) -> bool:
        """Whether more batches are in flight than are prefetched."""
        return len(self._pipeline._run.in_flight) > self._pipeline.cpu_queue_size


class Passed(Run):
    """Passes to `run` what the batch is made of."""

    _number = 0

    def take(self) -> Any:
        """Return a batch."""
        outputs = self._pipeline.run(fed=batch_of(self._number))
        self._number += 1
        return outputs


class Scheduled(Run):
    """Takes batches by `schedule_run` and `outputs`, each repeated if it is interrupted."""

    _is_scheduled = False

    def take(self) -> Any:
        """Return a batch."""
        if not self._is_scheduled:
            self._pipeline.schedule_run()
            self._is_scheduled = True
        outputs = self._pipeline.outputs()
        self._is_scheduled = False
        return outputs


class Iterated(Run):
    """Takes batches from an iterator."""

    def __init__(self, pipeline: Pipeline) -> None:
        from dali_core.plugin.base_iterator import BaseIterator
        from tests.plugin.fake_pipeline import ListAdapter

        self._pipeline = pipeline
        self._iterator = BaseIterator([pipeline], ["x"], ListAdapter())

    def take(self) -> Any:
        """Return a batch."""
        return self._iterator.__next__()

    def values(self, batch: Any) -> list[int]:
        """Return what is in it."""
        return [int(value) for value in np.asarray(batch[0]["x"]).ravel()]


class OfPyTorch(Iterated):
    """Takes batches from PyTorch's iterator."""

    def __init__(self, pipeline: Pipeline) -> None:
        from dali_core.plugin.pytorch import DALIGenericIterator

        self._pipeline = pipeline
        self._iterator = DALIGenericIterator([pipeline], ["x"])


class OfJAX(Iterated):
    """Takes batches from JAX's iterator."""

    def __init__(self, pipeline: Pipeline) -> None:
        from dali_core.plugin.jax import DALIGenericIterator

        self._pipeline = pipeline
        self._iterator = DALIGenericIterator([pipeline], ["x"])

    def values(self, batch: Any) -> list[int]:
        """Return what is in it."""
        return [int(value) for value in np.asarray(batch["x"]).ravel()]


class Resetting(Run):
    """Takes batches by `run`, and calls `reset` at the end of each epoch."""

    _is_over = False

    def take(self) -> Any:
        """Return a batch, or what stands for the end of an epoch."""
        if not self._is_over:
            try:
                return self._pipeline.run()
            except StopIteration:
                self._is_over = True
        self._pipeline.reset()
        self._is_over = False
        return END

    def values(self, batch: Any) -> list[int]:
        """Return what is in it."""
        return [] if batch is END else _values(batch)


class OverEpochs(Iterated):
    """Takes batches from an iterator that begins the next epoch by itself."""

    def __init__(self, pipeline: Pipeline) -> None:
        from dali_core.plugin.base_iterator import BaseIterator
        from tests.plugin.fake_pipeline import ListAdapter

        self._pipeline = pipeline
        name = "reader" if len(pipeline.reader_meta()) else None
        self._iterator = BaseIterator(
            [pipeline], ["x"], ListAdapter(), auto_reset=True, reader_name=name
        )

    def take(self) -> Any:
        """Return a batch, or what stands for the end of an epoch."""
        try:
            return self._iterator.__next__()
        except StopIteration:
            return END

    def values(self, batch: Any) -> list[int]:
        """Return what is in it."""
        return [] if batch is END else super().values(batch)


def short_reader(root: str) -> Pipeline:
    """Return a pipeline with epochs of two batches, of a reader."""
    files = [os.path.join(root, "class_0", "000.jpg")] * 4
    return _source(
        lambda: fn.readers.file(
            files=files, labels=list(range(4)), random_shuffle=True, seed=1, name="reader"
        )[1]
    )


def short_source() -> Pipeline:
    """Return a pipeline with epochs of two batches, of a source."""
    batches = [[np.int32([10 * i + k]) for k in range(2)] for i in range(2)]
    return _source(lambda: fn.external_source(batches, cycle="raise"))


END = "end of the epoch"
EPOCHS: dict[str, Callable[[str], Run]] = {
    "run, short source": lambda root: Resetting(short_source()),
    "iterator, short source": lambda root: OverEpochs(short_source()),
    "iterator, short reader": lambda root: OverEpochs(short_reader(root)),
}
CONSUMERS: dict[str, type[Run]] = {
    "run": Run,
    "passed": Passed,
    "scheduled": Scheduled,
    "iterator": Iterated,
    "pytorch": OfPyTorch,
    "jax": OfJAX,
}


def check(make: Callable[[], Run], step: int = 1) -> tuple[int, list[str]]:
    """Interrupt one batch at each instruction in turn.

    Returns
    -------
    (int, list of str)
        Number of interrupts, and a text for each stream that was another one.
    """
    expected_of = make()
    expected: list[list[int]] = []

    def next_expected(count: int) -> list[list[int]]:
        while len(expected) < count:
            expected.append(expected_of.values(expected_of.take()))
        return expected[:count]

    num_interrupts, problems, at = 0, [], 0
    consumer = make()
    found = [consumer.values(consumer.take()) for _ in range(2)]
    num_instructions = 0

    def trace_once() -> None:
        # From Python 3.12 on, code is traced only after it was entered with a trace function, and
        # an end of tracing may undo that.
        nonlocal num_instructions
        traced = Injector(-1)
        traced.call(consumer.take)
        num_instructions = max(num_instructions, traced.num_seen)
        found.append(consumer.values(traced.result))

    trace_once()
    while True:
        if sys.version_info >= (3, 12):
            trace_once()
        injector = Injector(at)
        try:
            injector.call(consumer.take)
        except KeyboardInterrupt:
            num_interrupts += 1
        reached = injector.where != "nowhere"
        if injector.result is not None:
            found.append(consumer.values(injector.result))
        try:
            found += [consumer.values(consumer.take()) for _ in range(2)]
            problem = "" if found == next_expected(len(found)) else "another stream"
            if consumer.is_too_far_ahead:
                problem = "more batches are in flight"
        except Exception as error:
            problem = repr(error)
        if problem:
            problems.append(f"{injector.where}: {problem}: {found[-4:]}")
            consumer = make()
            found = [consumer.values(consumer.take()) for _ in range(2)]
        elif len(found) > 150:
            consumer = make()
            found = [consumer.values(consumer.take()) for _ in range(2)]
        at += step
        if not reached and at > num_instructions:
            return num_interrupts, problems


def main(kinds: list[str], step: int) -> int:
    """Check all kinds whose name begins with one of these; return the exit status."""
    import tempfile

    from tests.folders import make_folders

    status = 0

    def report(kind: str, made: Callable[[], Run]) -> None:
        nonlocal status
        if kinds and not any(kind.startswith(each) for each in kinds):
            return
        count, problems = check(made, step)
        print(f"{kind}: {count} interrupts, {len(problems)} streams changed", flush=True)
        for problem in problems[:40]:
            print("   ", problem, flush=True)
        status |= bool(problems)

    with tempfile.TemporaryDirectory() as folder:
        make_folders(Path(folder))
        for consumer_name, consumer in CONSUMERS.items():
            for name, make in PIPELINES.items():
                if (name == "fed") == (consumer is Passed):
                    kind = f"{consumer_name}, {name}"
                    report(kind, lambda m=make, c=consumer: c(m(folder)))  # type: ignore[misc]
        for kind, make_run in EPOCHS.items():
            report(kind, lambda m=make_run: m(folder))  # type: ignore[misc]
    return status


if __name__ == "__main__":
    numeric = [int(each) for each in sys.argv[1:] if each.isdigit()]
    named = [each for each in sys.argv[1:] if not each.isdigit()]
    sys.exit(main(named, numeric[0] if numeric else 1))
