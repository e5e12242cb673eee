"""With ``on_sample_error="replace"`` and readers alone, replacements depend on no batch size.

Graphs are random: readers in natural and shuffled order, with samplers, mixtures, followed by
parameters, random numbers, native operators and branches; anything may fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, mix_readers, parameter, pipeline_def, types

COUNT = 12
SIZES = (1, 3, 4)
"""Batch sizes."""

Bad = frozenset[int]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    for number in range(COUNT):
        (folder / f"{number:02}").write_bytes(bytes([number]))
    return folder


def number_of(folder: Path, bad: Bad, **order: Any) -> Any:
    """Read a number; the files of bad ones are missing."""
    files = [f"missing {i}" if i in bad else f"{i:02}" for i in range(COUNT)]
    data, _ = fn.readers.file(file_root=str(folder), files=files, **order)
    return fn.reshape(fn.cast(data, dtype=types.INT32), shape=[])


def read(kind: str, bad: Bad, folder: Path) -> Any:
    if kind == "shuffled":
        return number_of(folder, bad, random_shuffle=True, seed=7)
    if kind == "sampler":
        return number_of(folder, bad, sampler=np.arange(COUNT)[::-1])
    return number_of(folder, bad)


def failing(is_bad: Any, value: Any) -> Any:
    """Return a value, and fail natively where a condition holds: slice beyond the only element."""
    start = fn.reshape(fn.cast(is_bad, dtype=types.INT32) * 7, shape=[1])
    one = fn.reshape(fn.cast(value, dtype=types.INT32), shape=[1])
    return fn.reshape(fn.slice(one, start, start * 0 + 1, axes=[0]), shape=[])


def change(how: str, node: Any, number: int) -> Any:
    if how == "scaled":
        return node * parameter(f"one{number}", 1)
    if how == "parameter":
        return parameter(f"number{number}", number) + 0
    if how == "parameter in a condition":
        wanted = parameter(f"wanted{number}", number % 2)
        return node * 3 if wanted == node % 2 else fn.copy(node)
    if how == "drawn":
        return fn.random.uniform(range=[0, 1000], dtype=types.INT32)
    if how == "bad draw":
        draw = fn.random.uniform(range=[0, 1000], dtype=types.INT32)
        return failing(draw < parameter(f"least{number}", 80), draw)
    if how == "bad number":
        return failing(node % 11 == number, node)
    return failing(node % 9 == number, node) if node % 2 == 0 else node + 1


CHANGES = (
    *("scaled", "parameter", "parameter in a condition", "drawn", "bad draw", "bad number"),
    "bad branch",
)


@pipeline_def(
    num_threads=2, device_id=None, seed=1, max_bad_samples=1.0, on_sample_error="replace",
    enable_conditionals=True,
)  # fmt: skip
def random_graph(
    sources: Sequence[tuple[str, Bad]], changes: Sequence[tuple[int, str]], folder: Path
) -> Any:
    nodes = [read(kind, bad, folder) for kind, bad in sources]
    for number, (index, how) in enumerate(changes):
        nodes.append(change(how, nodes[index % len(nodes)], number))
    return tuple(nodes)


def rows(pipeline: Pipeline, count: int) -> list[tuple[int, ...]]:
    """Return the values of the first samples."""
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        columns = [output.as_array().tolist() for output in pipeline.run()]
        found += zip(*columns, strict=True)
    pipeline.close()
    return found


bad_numbers = st.frozensets(st.integers(0, COUNT - 1), max_size=3)


@settings(max_examples=40, deadline=None)
@given(
    sources=st.lists(
        st.tuples(st.sampled_from(("natural", "shuffled", "sampler")), bad_numbers),
        min_size=1,
        max_size=2,
    ),
    changes=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(CHANGES)), max_size=4),
)
def test_rows_do_not_depend_on_the_batch_size(
    sources: list[tuple[str, Bad]], changes: list[tuple[int, str]], folder: Path
) -> None:
    found = [
        rows(random_graph(sources, changes, folder, batch_size=size), 2 * COUNT) for size in SIZES
    ]
    assert found[1:] == found[:1] * (len(SIZES) - 1)
    bad = [set(numbers) for _, numbers in sources]
    assert not any(value in bad[i] for row in found[0] for i, value in enumerate(row[: len(bad)]))


@pytest.mark.parametrize("weights", [None, [1, 3]])
def test_mixtures_with_parameters(weights: list[float] | None, folder: Path) -> None:
    def graph(size: int) -> Pipeline:
        bad = frozenset({3, 4, 9})
        options = {"on_sample_error": "replace", "max_bad_samples": 1.0, "seed": 1}
        with Pipeline(size, 2, None, **options) as pipeline:
            functions = [lambda: number_of(folder, bad), lambda: number_of(folder, Bad()) + 100]
            number = mix_readers(functions, weights=weights)
            one = parameter("one", 1)
            pipeline.set_outputs(number * one, one + 0)
        return pipeline

    found = [rows(graph(size), 2 * COUNT) for size in SIZES]
    assert found[1:] == found[:1] * (len(SIZES) - 1)
    assert not {value for value, _ in found[0]} & {3, 4, 9}
    assert {one for _, one in found[0]} == {1}


def test_a_changed_parameter_is_that_of_the_replaced_sample(folder: Path) -> None:
    with Pipeline(4, 2, None, on_sample_error="replace", max_bad_samples=1.0) as pipeline:
        number = number_of(folder, frozenset({1, 6}))
        pipeline.set_outputs(number, number * parameter("factor", 1), parameter("alone", 2))
    for iteration in range(3):
        pipeline.set_parameter("factor", 10 * (iteration + 1), from_batch=iteration)
    found = rows(pipeline, COUNT)
    expected = [{1: 2, 6: 7}.get(i, i) for i in range(COUNT)]
    assert found == [(n, n * 10 * (i // 4 + 1), 2) for i, n in enumerate(expected)]
