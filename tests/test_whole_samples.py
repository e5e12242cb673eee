"""With ``on_sample_error="replace"`` every row of the outputs comes from one sample.

Graphs are random: readers, sources of all kinds, functions without inputs, fed inputs, followed by
copies, functions, native operators, parameters and branches; anything may fail.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, parameter, pipeline_def, types
from dali_core.errors import SampleError

BATCH = 5
BATCHES = 3
COUNT = BATCH * BATCHES

Bad = frozenset[int]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    for number in range(COUNT):
        (folder / f"{number:02}").write_bytes(bytes([number]))
    return folder


def sample(number: int, bad: Bad) -> np.ndarray:
    if number in bad:
        raise ValueError(f"number {number}")
    return np.array([number], np.int64)


def checked(x: np.ndarray, bad: Bad) -> np.ndarray:
    return sample(int(x[0]), bad)


class Counter:
    """A function without inputs, which is called sample by sample."""

    def __init__(self, bad: Bad) -> None:
        self.bad = bad
        self.number = -1

    def __call__(self) -> np.ndarray:
        self.number += 1
        return sample(self.number, self.bad)


def batches(bad: Bad) -> Callable[[int], list[Any]]:
    def source(iteration: int) -> list[Any]:
        numbers = range(BATCH * iteration, BATCH * (iteration + 1))
        return ["not data" if i in bad else np.array([i], np.int64) for i in numbers]

    return source


def reading(bad: Bad, folder: Path) -> Any:
    """Read a number; the files of bad ones are missing."""
    files = [f"missing {i}" if i in bad else f"{i:02}" for i in range(COUNT)]
    data, _ = fn.readers.file(file_root=str(folder), files=files)
    return fn.cast(data, dtype=types.INT64)


def make_source(kind: str, bad: Bad, folder: Path, name: str) -> Any:
    if kind == "files":
        return reading(bad, folder)
    if kind == "samples":
        return fn.external_source(lambda info: sample(info.idx_in_epoch, bad), batch=False)
    if kind == "batches":
        return fn.external_source(batches(bad))
    if kind == "function":
        return fn.python_function(function=Counter(bad), num_outputs=1)
    return fn.external_source(name=name)


def without(node: Any, bad: Bad) -> Any:
    """Fail on some numbers natively: slice beyond the only element."""
    is_bad = node < 0
    for number in bad:
        is_bad = is_bad | (node == number)
    start = fn.cast(is_bad, dtype=types.INT32) * 7
    return fn.slice(node, start, fn.cast(start * 0 + 1, dtype=types.INT32), axes=[0])


@pipeline_def(
    batch_size=BATCH, num_threads=2, device_id=None, seed=1, max_bad_samples=1.0,
    on_sample_error="replace", enable_conditionals=True,
)  # fmt: skip
def random_graph(
    sources: Sequence[tuple[str, Bad]], changes: Sequence[tuple[int, str, Bad]], folder: Path
) -> Any:
    nodes = [
        make_source(kind, bad, folder, f"fed{number}") for number, (kind, bad) in enumerate(sources)
    ]
    for index, how, bad in changes:
        node = nodes[index % len(nodes)]
        if how == "copy":
            nodes.append(fn.copy(node))
        elif how == "function":
            check = functools.partial(checked, bad=bad)
            nodes.append(fn.python_function(node, function=check))
        elif how == "native":
            nodes.append(without(node, bad))
        elif how == "parameter":
            nodes.append(node * parameter(f"one{len(nodes)}", 1))
        else:
            is_even = fn.reshape(node, shape=[]) % 2 == 0
            nodes.append(fn.copy(node) if is_even else without(node, bad))
    return tuple(nodes)


def rows(pipeline: Pipeline) -> list[tuple[int, ...]]:
    outputs = pipeline.run()
    assert [len(output) for output in outputs] == [BATCH] * len(outputs)
    columns = []
    for output in outputs:
        assert [output[i].dtype for i in range(BATCH)] == [types.INT64] * BATCH
        columns.append([int(output.at(i)[0]) for i in range(BATCH)])
    return list(zip(*columns, strict=True))


def feed(pipeline: Pipeline, name: str) -> None:
    for i in range(BATCHES + 1):
        numbers = range(BATCH * i, BATCH * (i + 1))
        pipeline.feed_input(name, [np.array([number], np.int64) for number in numbers])


# The first sample of a batch is always good, so there is always a replacement.
bad_numbers = st.frozensets(st.integers(0, COUNT - 1).filter(lambda i: i % BATCH), max_size=4)
KINDS = ("files", "samples", "batches", "function", "fed")
CHANGES = ("copy", "function", "native", "parameter", "branch")


@settings(max_examples=60, deadline=None)
@given(
    sources=st.lists(st.tuples(st.sampled_from(KINDS), bad_numbers), min_size=2, max_size=4),
    changes=st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from(CHANGES), bad_numbers), max_size=4
    ),
    depth=st.integers(1, 3),
    exec_async=st.booleans(),
)
def test_random_graphs(
    sources: list[tuple[str, Bad]],
    changes: list[tuple[int, str, Bad]],
    depth: int,
    exec_async: bool,
    folder: Path,
) -> None:
    pipeline = random_graph(
        sources, changes, folder, prefetch_queue_depth=depth, exec_async=exec_async
    )
    for number, (kind, _) in enumerate(sources):
        if kind == "fed":
            feed(pipeline, f"fed{number}")
    is_read_at_once = all(kind == "files" for kind, _ in sources)
    bad = frozenset().union(*(bad for kind, bad in sources if kind != "fed"))
    for iteration in range(BATCHES):
        for place, row in enumerate(rows(pipeline)):
            assert len(set(row)) == 1, row
            number = iteration * BATCH + place
            assert number in (row[0], *bad) or changes
            assert row[0] not in bad
            assert is_read_at_once or row[0] // BATCH == iteration
    found = {(b.iteration, b.sample) for b in pipeline.bad_samples}
    assert {(i // BATCH, i % BATCH) for i in bad} <= found
    pipeline.close()


@pytest.mark.parametrize("kind", ["samples", "batches", "function", "fed"])
@pytest.mark.parametrize("between", [fn.copy, lambda node: node], ids=["copy", "nothing"])
def test_a_label_beside_an_image(kind: str, between: Callable[[Any], Any], folder: Path) -> None:
    with Pipeline(BATCH, 2, None, on_sample_error="replace") as pipeline:
        image = reading(frozenset({1, 7}), folder)
        label = between(make_source(kind, frozenset(), folder, "fed0"))
        pipeline.set_outputs(image, label)
    if kind == "fed":
        feed(pipeline, "fed0")
    assert rows(pipeline) == [(i, i) for i in (0, 2, 2, 3, 4)]
    assert rows(pipeline) == [(i, i) for i in (5, 6, 8, 8, 9)]


def test_batch_of_one_has_no_replacement(folder: Path) -> None:
    with Pipeline(1, 2, None, on_sample_error="replace") as pipeline:
        image = reading(frozenset({1}), folder)
        pipeline.set_outputs(image, make_source("function", frozenset(), folder, ""))
    first = pipeline.run()
    assert [int(output.at(0)[0]) for output in first] == [0, 0]
    with pytest.raises(SampleError, match="missing 1"):
        pipeline.run()
    assert [int(output.at(0)[0]) for output in pipeline.run()] == [2, 2]
