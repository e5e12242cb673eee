"""Every form of a source, with every way to cycle, gives what the reference gives, or is refused.

Callables whose parameters have defaults, and nested lists as samples, work only here.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dali_core

nvidia_dali = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")

BATCH, NUM_BATCHES = 3, 3
LIBRARIES = (nvidia_dali, dali_core)


def batch(number: int) -> list[np.ndarray[Any, Any]]:
    return [np.full(2, 10 * number + i, np.int32) for i in range(BATCH)]


def batch_or_end(number: int) -> list[np.ndarray[Any, Any]]:
    if number >= NUM_BATCHES:
        raise StopIteration
    return batch(number)


class Sequence:
    """Items by their numbers, and nothing else."""

    def __init__(self, item: Callable[[int], Any] = batch, length: int = NUM_BATCHES) -> None:
        self.item, self.length = item, length

    def __getitem__(self, number: int) -> Any:
        if number >= self.length:
            raise IndexError(number)
        return self.item(number)


class Restarting:
    """An iterator that starts over, and is its own iterable."""

    def __iter__(self) -> Restarting:
        self.number = -1
        return self

    def __next__(self) -> Any:
        self.number += 1
        if self.number >= NUM_BATCHES:
            raise StopIteration
        return batch(self.number)


class Both(Sequence):
    """Items by their numbers, which can also be called."""

    def __call__(self) -> Any:
        raise AssertionError("an iterable is iterated over")


class NextOnly:
    def __next__(self) -> Any:
        return batch(0)


class Counting:
    def __init__(self) -> None:
        self.number = -1

    def __call__(self) -> Any:
        self.number += 1
        return batch_or_end(self.number)

    def by_number(self, number: int) -> Any:
        return batch_or_end(number)

    @staticmethod
    def static(number: int) -> Any:
        return batch_or_end(number)


def generate() -> Iterator[Any]:
    yield from map(batch, range(NUM_BATCHES))


FORMS: dict[str, Callable[[], Any]] = {
    "list": lambda: [batch(i) for i in range(NUM_BATCHES)],
    "empty": list,
    "arrays": lambda: [np.zeros((BATCH, 2), np.uint8), np.ones((BATCH, 2), np.uint8)],
    "array": lambda: np.arange(NUM_BATCHES * BATCH * 2).reshape(NUM_BATCHES, BATCH, 2),
    "sequence": Sequence,
    "sequence that is callable": Both,
    "iterable": Restarting,
    "iterator": lambda: iter([batch(i) for i in range(NUM_BATCHES)]),
    "map": lambda: map(batch, range(NUM_BATCHES)),
    "generator function": lambda: generate,
    "generator function with arguments": lambda: functools.partial(generate),
    "callable": Counting,
    "callable of a number": lambda: batch_or_end,
    "method": lambda: Counting().by_number,
    "static method": lambda: Counting.static,
    "next only": NextOnly,
    "many arguments": lambda: lambda *numbers: batch(len(numbers)),
    "number": lambda: 5,
    "text": lambda: "abc",
    "dict": lambda: {0: batch(0)},
}


def outcome(library: Any, make_source: Callable[[], Any], **options: Any) -> Any:
    """Return the batches of two epochs, or the bases of the error."""
    batches: list[Any] = []
    try:
        pipe = library.Pipeline(BATCH, 1, None)
        with pipe:
            outputs = library.fn.external_source(source=make_source(), **options)
            pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
        pipe.build()
        for _ in range(2):
            for _ in range(NUM_BATCHES + 2):
                try:
                    taken = pipe.run()
                except StopIteration:
                    batches.append("end")
                    pipe.reset()
                    break
                batches.append([np.array(output.as_array()).tolist() for output in taken])
    except Exception as error:
        return type(error)
    return batches


def assert_alike(make_source: Callable[[], Any], **options: Any) -> None:
    theirs, ours = (outcome(library, make_source, **options) for library in LIBRARIES)
    if isinstance(theirs, type) and issubclass(theirs, Exception):
        assert isinstance(ours, type), (theirs, ours)
        assert issubclass(ours, theirs) or theirs is RuntimeError, (theirs, ours)
    else:
        assert ours == theirs


@pytest.mark.parametrize("cycle", [None, False, True, "no", "quiet", "raise", "other"])
@pytest.mark.parametrize("form", FORMS)
def test_forms_and_cycles(form: str, cycle: Any) -> None:
    options = {} if cycle is None else {"cycle": cycle}
    assert_alike(FORMS[form], **options)


@pytest.mark.parametrize("form", ["sequence", "iterable", "iterator", "generator function"])
def test_samples_of_iterables(form: str) -> None:
    sample = FORMS[form]
    if form == "sequence":
        sample = functools.partial(Sequence, lambda number: np.int32([number]), 9)
    elif form == "iterable":
        sample = functools.partial(list, [np.int32([number]) for number in range(9)])
    elif form == "iterator":
        sample = lambda: iter([np.int32([number]) for number in range(9)])  # noqa: E731
    else:
        sample = lambda: lambda info: np.int32([info.idx_in_epoch])  # noqa: E731
    assert_alike(sample, batch=False)


def described(number: int) -> Any:
    batch_or_end(number)
    return batch(number), [np.float32(number + i) for i in range(BATCH)]


DESCRIPTIONS = {
    "dtype": (["INT32", "FLOAT"], ["INT32"], ["FLOAT", "FLOAT"], "INT32"),
    "ndim": ([1, 0], [1], 1),
    "layout": ("X", ["X", ""], ["X"], "XY", ["X", None], ("X", "")),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in DESCRIPTIONS.items() for value in values],
)
def test_descriptions_of_outputs(name: str, value: Any) -> None:
    # A list of one is for one output here, with and without its number.
    is_long = isinstance(value, list) and len(value) > 1 and name != "layout"
    for count in (2, None) if is_long else (2,):
        results = []
        for library in LIBRARIES:
            given = value
            if name == "dtype":
                names = [value] if isinstance(value, str) else value
                found = [getattr(library.types, each) for each in names]
                given = found[0] if isinstance(value, str) else found
            options = {name: given} if count is None else {name: given, "num_outputs": count}
            source = described if count else batch_or_end
            results.append(outcome(library, lambda: source, **options))  # noqa: B023
        theirs, ours = results
        if isinstance(theirs, type):
            assert isinstance(ours, type)
            assert issubclass(ours, theirs) or theirs is RuntimeError, (theirs, ours)
        else:
            assert ours == theirs


@pytest.mark.filterwarnings("ignore:The external source node:Warning")
@pytest.mark.filterwarnings("ignore:.* of 2 are not used:UserWarning")
@pytest.mark.parametrize("used", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("is_fed", [False, True])
def test_unused_outputs_need_no_data(is_fed: bool, used: tuple[int, ...]) -> None:
    results = []
    for library in LIBRARIES:
        pipe = library.Pipeline(BATCH, 1, None, prefetch_queue_depth=1)
        source = None if is_fed else (lambda i: [batch(i) if n in used else "no" for n in (0, 1)])
        with pipe:
            outputs = library.ops.ExternalSource(source=source, num_outputs=2)()
            pipe.set_outputs(*(outputs[number] for number in used))
        pipe.build()
        for iteration, number in itertools.product(range(2), used):
            if is_fed:
                pipe.feed_input(outputs[number], batch(10 * number + iteration))
            if number == used[-1]:
                results.append([output.as_array().tolist() for output in pipe.run()])
    assert results[:2] == results[2:]
    assert len(results) == 4
