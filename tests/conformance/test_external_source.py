"""`fn.external_source` returns the sequences of NVIDIA DALI, through ends and resets.

With a prefetch depth of 1: the reference's sources run past their end if they are prefetched, so
the batches after a reset depend on the depth. Here it does not.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

BATCH_SIZE = 3
CYCLES = (None, False, True, "no", "quiet", "raise")


def batch_of(number: int, size: int = BATCH_SIZE) -> list[np.ndarray]:
    return [np.array([10 * number + i], np.int32) for i in range(size)]


class Restartable:
    """Starts over with every `iter`."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


class OneShot:
    """Its own iterator: `iter` resets it only if requested."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.position = len(items)

    def __iter__(self) -> OneShot:
        self.position = 0
        return self

    def __next__(self) -> Any:
        if self.position >= len(self.items):
            raise StopIteration
        self.position += 1
        return self.items[self.position - 1]


def generator_function(items: list[Any]) -> Callable[[], Iterator[Any]]:
    def generate() -> Iterator[Any]:
        yield from items

    return generate


ITERABLES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "restartable": Restartable,
    "one shot": OneShot,
    "generator function": generator_function,
    "generator": lambda items: generator_function(items)(),
}


def log_of(
    library: Any, make_source: Callable[[], Any], actions: str, **arguments: Any
) -> list[Any]:
    """Perform the actions: r runs a batch, R resets, e runs until the end and resets."""
    num_sources = arguments.pop("num_sources", 1)
    pipeline = library.Pipeline(BATCH_SIZE, 2, None, prefetch_queue_depth=1)
    with pipeline:
        nodes = [
            library.fn.external_source(source=make_source(), **arguments)
            for _ in range(num_sources)
        ]
        flat = [node for group in nodes for node in (group if isinstance(group, list) else [group])]
        pipeline.set_outputs(*flat)
    pipeline.build()
    log: list[Any] = []

    def run() -> bool:
        try:
            outputs = pipeline.run()
        except StopIteration:
            log.append("end")
            return False
        log.append([[output.at(i).tolist() for i in range(len(output))] for output in outputs])
        return True

    for action in actions:
        if action == "r":
            run()
        elif action == "R":
            pipeline.reset()
        else:
            for _ in itertools.takewhile(lambda _: run(), range(12)):
                pass
            pipeline.reset()
    return log


def check(make_source: Callable[[], Any], actions: str, **arguments: Any) -> None:
    expected = log_of(reference, make_source, actions, **arguments)
    assert log_of(dali_core, make_source, actions, **arguments) == expected
    assert len(expected) >= len(actions.replace("R", ""))


def random_actions(seed: int) -> str:
    generator = random.Random(seed)
    return "".join(generator.choice("rrrrrRe") for _ in range(14)) + "rr"


@pytest.mark.parametrize("kind", ITERABLES)
@pytest.mark.parametrize("cycle", CYCLES)
@pytest.mark.parametrize("batch", [True, False])
def test_iterables(kind: str, cycle: Any, batch: bool) -> None:
    for count in (1, 2, 4) if batch else (3, 4, 7, 9):
        items = [batch_of(i) if batch else np.array(i) for i in range(count)]
        for actions in ("eee", "rerer", *map(random_actions, range(3))):
            make_source = functools.partial(ITERABLES[kind], items)
            if kind == "generator" and cycle in (True, "quiet", "raise"):
                for library in (reference, dali_core):
                    with pytest.raises(TypeError, match="generator function"):
                        log_of(library, make_source, "r", cycle=cycle)
                continue
            check(make_source, actions, cycle=cycle, batch=batch)


@pytest.mark.parametrize("takes", ["nothing", "number", "info"])
@pytest.mark.parametrize("length", [0, 1, 3])
def test_callables_for_batches(takes: str, length: int) -> None:
    def make() -> Callable[..., Any]:
        calls = itertools.count()

        def with_nothing() -> list[np.ndarray]:
            return answer(next(calls) % (length + 1))

        def with_number(number: int) -> list[np.ndarray]:
            return answer(number)

        def with_info(info: Any) -> list[np.ndarray]:
            answer(info.iteration)
            return batch_of(100 * info.epoch_idx + info.iteration)

        return {"nothing": with_nothing, "number": with_number, "info": with_info}[takes]

    def answer(number: int) -> list[np.ndarray]:
        if number >= length:
            raise StopIteration
        return batch_of(number)

    for actions in ("eee", "rererr", *map(random_actions, range(4))):
        check(make, actions, batch_info=takes == "info")


@pytest.mark.parametrize("length", [0, 2, 3, 7, 9])
def test_callables_for_samples(length: int) -> None:
    def source(info: Any) -> np.ndarray:
        if info.idx_in_epoch >= length:
            raise StopIteration
        return np.array([info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx])

    for actions in ("eee", "rererr", *map(random_actions, range(4))):
        check(lambda: source, actions, batch=False)


@pytest.mark.parametrize("batch", [True, False])
def test_several_outputs(batch: bool) -> None:
    if batch:
        items: list[Any] = [(batch_of(i), np.arange(6).reshape(3, 2) + i) for i in range(3)]
    else:
        items = [(np.array(i), np.array([i, -i])) for i in range(7)]
    for cycle in (None, "raise"):
        check(lambda: items, "eer", num_outputs=2, cycle=cycle, batch=batch)


@pytest.mark.parametrize("cycle", ["no", "quiet", "raise"])
def test_sources_of_different_lengths(cycle: str) -> None:
    for lengths in ((5, 3), (3, 5), (2, 4)):
        for actions in ("eee", "rreree"):
            makers = []
            for _ in (reference, dali_core):
                sources = iter([[batch_of(i) for i in range(length)] for length in lengths])
                makers.append(sources.__next__)
            expected = log_of(reference, makers[0], actions, cycle=cycle, num_sources=2)
            assert log_of(dali_core, makers[1], actions, cycle=cycle, num_sources=2) == expected


def test_batches_of_different_sizes() -> None:
    items = [batch_of(i, size) for i, size in enumerate((3, 1, 2, 3))]
    check(lambda: items, "eer", cycle="raise")


@pytest.mark.parametrize("layout", [None, "W", "HW", "HWC"])
@pytest.mark.parametrize("kind", ["array", "list", "tuple"])
def test_layouts_and_types(layout: str | None, kind: str) -> None:
    ndim = len(layout) if layout else 2
    for dtype in ("uint8", "int16", "int64", "float16", "float32", "float64", "bool"):
        array = np.arange(3 * 2**ndim).reshape(3, *[2] * ndim).astype(dtype)
        data = {"array": array, "list": list(array), "tuple": list(array)}[kind]
        found = []
        for library in (reference, dali_core):
            pipeline = library.Pipeline(3, 2, None)
            with pipeline:
                node = library.fn.external_source(source=[data] * 4, layout=layout)
                pipeline.set_outputs(node)
            pipeline.build()
            (output,) = pipeline.run()
            found.append((int(output.dtype), output.layout(), output.as_array().tolist()))
        assert found[0] == found[1]


def test_fed_batches() -> None:
    logs = []
    for library in (reference, dali_core):
        pipeline = library.Pipeline(3, 2, None, prefetch_queue_depth=2)
        with pipeline:
            pipeline.set_outputs(library.fn.external_source(name="source"))
        pipeline.build()
        buffer = np.zeros((3, 2), np.float32)
        log = []
        for number in range(6):
            buffer[:] = number
            pipeline.feed_input("source", buffer if number % 2 else list(buffer))
            if number > 1:
                log.append(pipeline.run()[0].as_array().tolist())
        logs.append(log)
    assert logs[0] == logs[1]
