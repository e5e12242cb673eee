"""Mixtures read several data sets in turn, each with epochs of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, mix_readers, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    GraphError,
    SampleError,
    StateMismatchError,
)
from tests.samplers.reading import indices, read

Function = Callable[[], Any]


class Numbers:
    """A data set of numbers, which counts how often each is fetched."""

    def __init__(self, start: int, count: int) -> None:
        self.numbers = np.arange(start, start + count)
        self.fetched: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> np.int64:
        self.fetched[index] += 1
        return np.int64(self.numbers[index])


def reading(start: int, count: int, **reader: Any) -> Function:
    """Return a function that reads some numbers."""
    return lambda: fn.readers.python(Numbers(start, count), **reader)


def make(*functions: Function, batch_size: int = 4, **mixture: Any) -> Pipeline:
    """Make a pipeline over a mixture."""
    with Pipeline(batch_size, num_threads=2, device_id=None, seed=8) as pipeline:
        number = mix_readers(functions, name="mixture", **mixture)
        pipeline.set_outputs(number, fn.random.uniform(range=[0.0, 1.0]))
    pipeline.build()
    return pipeline


def numbers(pipeline: Pipeline, count: int) -> list[int]:
    """Return the first numbers of a pipeline of single samples."""
    return [number for number, _ in read(pipeline, count)]


@settings(max_examples=20, deadline=None)
@given(
    sizes=st.lists(st.integers(3, 9), min_size=2, max_size=4),
    num_shards=st.integers(1, 3),
    interleaved=st.booleans(),
)
def test_by_default_an_epoch_has_all_samples_once(
    sizes: list[int], num_shards: int, interleaved: bool
) -> None:
    functions = [reading(100 * i, size, random_shuffle=True) for i, size in enumerate(sizes)]
    total = sum(sizes)
    sharding = {"num_shards": num_shards, "interleaved_shards": interleaved, "batch_size": 1}
    given: Counter[int] = Counter()
    for shard in range(num_shards):
        pipeline = make(*functions, shard_id=shard, **sharding)
        assert pipeline.epoch_size("mixture") == total
        starts = [total * edge // num_shards for edge in (shard, shard + 1)]
        own = len(range(shard, total, num_shards)) if interleaved else starts[1] - starts[0]
        given.update(numbers(pipeline, own))
    assert given == Counter(100 * i + k for i, size in enumerate(sizes) for k in range(size))


@pytest.mark.parametrize("num_shards", [2, 4])
def test_global_batches_do_not_depend_on_the_number_of_shards(num_shards: int) -> None:
    functions = [reading(0, 9, random_shuffle=True), reading(100, 7, random_shuffle=True)]

    def batches(num_shards: int) -> list[list[tuple[int, float]]]:
        shards = [
            make(
                *functions,
                weights=[2, 1],
                batch_size=4 // num_shards,
                num_shards=num_shards,
                shard_id=shard,
                interleaved_shards=True,
                pad_last_batch=True,
            )
            for shard in range(num_shards)
        ]
        return [sorted(sample for s in shards for sample in read(s, 1)) for _ in range(9)]

    assert batches(num_shards) == batches(1)


def test_each_data_set_is_read_in_its_own_order_from_epoch_to_epoch() -> None:
    shuffled = {"random_shuffle": True, "seed": 3}
    pipeline = make(
        reading(0, 7, **shuffled), reading(100, 20), weights=[0.3, 0.7], length=10, batch_size=1
    )
    given = numbers(pipeline, 60)
    assert [number for number in given if number < 100] == indices(7, 18, **shuffled)
    assert [number for number in given if number >= 100] == [100 + i % 20 for i in range(42)]
    for start in range(0, 60, 10):
        assert sum(number < 100 for number in given[start : start + 10]) == 3
    assert len({tuple(number < 100 for number in given[s : s + 10]) for s in range(0, 60, 10)}) > 3


@pytest.mark.parametrize(
    ("length", "weights", "expected"),
    [
        ("first", [1, 1], {0: 6, 1: 6}),
        ("all", [1, 1], {0: 15, 1: 15}),
        ("first", [1, 5], {0: 3, 1: 15}),
        ("first", None, {0: 6, 1: 15}),
        (7, [1, 1], {0: 4, 1: 3}),
        (7, None, {0: 2, 1: 5}),
    ],
)
def test_lengths_and_weights(length: Any, weights: Any, expected: dict[int, int]) -> None:
    pipeline = make(reading(0, 6), reading(100, 15), length=length, weights=weights, batch_size=1)
    size = pipeline.epoch_size("mixture")
    assert size == sum(expected.values())
    assert Counter(number // 100 for number in numbers(pipeline, size)) == expected


def test_only_the_chosen_data_set_is_fetched_from() -> None:
    first, second = Numbers(0, 5), Numbers(100, 10)
    with Pipeline(15, num_threads=2, device_id=None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(
            mix_readers([lambda: fn.readers.python(first), lambda: fn.readers.python(second)])
        )
    pipeline.run()
    assert first.fetched == Counter(range(5))
    assert second.fetched == Counter(range(10))


def write_files(folder: Path, *counts: int) -> list[list[str]]:
    """Write files with their own names in them."""
    files = [[str(folder / f"{i}-{k}") for k in range(count)] for i, count in enumerate(counts)]
    for name in (name for names in files for name in names):
        Path(name).write_text(Path(name).name)
    return files


def reading_files(files: list[str], **reader: Any) -> Function:
    """Return a function that reads files, and labels in another order."""
    return lambda: {
        "data": fn.readers.file(files=files, **reader)[0],
        "label": fn.cast(fn.readers.file(files=files, **reader)[1], dtype=types.INT64),
    }


@pytest.mark.parametrize("read_ahead", [True, False])
def test_structures_of_several_readers_stay_together(tmp_path: Path, read_ahead: bool) -> None:
    first, second = write_files(tmp_path, 4, 9)
    with Pipeline(13, num_threads=2, device_id=None) as pipeline:
        options = {"random_shuffle": True, "read_ahead": read_ahead}
        mixed = mix_readers([reading_files(first, **options), reading_files(second, **options)])
        assert sorted(mixed) == ["data", "label"]
        pipeline.set_outputs(mixed["data"], mixed["label"])
    data, label = pipeline.run()
    names = [bytes(data.at(i)).decode() for i in range(13)]
    assert sorted(names) == sorted(Path(name).name for name in [*first, *second])
    assert [int(name[2:]) for name in names] == label.as_array().ravel().tolist()


def test_documents_hold_mixtures(tmp_path: Path) -> None:
    first, second = write_files(tmp_path, 3, 5)
    with Pipeline(8, num_threads=1, device_id=None) as pipeline:
        mixed = mix_readers([partial(fn.readers.file, files=files) for files in (first, second)])
        pipeline.set_outputs(*mixed)
    again = Pipeline.deserialize(pipeline.serialize())
    for one, other in zip(pipeline.run(), again.run(), strict=True):
        assert [one.at(i).tolist() for i in range(8)] == [other.at(i).tolist() for i in range(8)]


def test_different_types_name_the_sample() -> None:
    pipeline = make(reading(0, 4), lambda: fn.readers.python([np.float32(1)] * 4), reading(0, 4))
    message = r"mix_readers, data sets 0 and 1 to 2, .* type, .*float32.*int64"
    with pytest.raises(SampleError, match=message):
        read(pipeline, 2)


def test_other_weights_are_a_mismatch() -> None:
    functions = [reading(0, 5), reading(10, 5)]
    pipeline = make(*functions, weights=[1, 1])
    read(pipeline, 1)
    with pytest.raises(StateMismatchError, match=r"mix_readers at .*test_mixtures.py"):
        make(*functions, weights=[1, 2], length=10).load_state_dict(pipeline.state_dict())


WRONG: list[tuple[Callable[[], Any], type[DaliCoreError], str]] = [
    (lambda: make(reading(0, 4)), ArgumentValueError, r"at least two \(got 1\)"),
    (lambda: make(5, 6), ArgumentTypeError, r"functions\[0\] must be callable \(got 5\)"),  # type: ignore[arg-type]
    (lambda: two(weights=[1]), ArgumentValueError, r"each of the 2 data sets \(got 1\)"),
    (lambda: two(weights=[1, 0]), ArgumentValueError, "above 0"),
    (lambda: two(weights=[1, 1e-9]), ArgumentValueError, "data set 1, in epochs of 4"),
    (lambda: two(length=0), ArgumentValueError, r"'first' or 'all' \(got 0\)"),
    (lambda: two(length="longest"), ArgumentValueError, r"'first' or 'all' \(got 'longest'\)"),
    (lambda: two(length=1.5), ArgumentTypeError, "'length' must be int"),
    (lambda: two(num_shards=99), ArgumentValueError, "mix_readers at .*num_shards"),
    (lambda: make(reading(0, 4, num_shards=2), reading(0, 4)), ArgumentValueError, "mix_readers"),
    (
        lambda: make(reading(0, 4), lambda: fn.random.uniform()),
        GraphError,
        r"functions\[1\] must call a reader",
    ),
    (
        lambda: make(reading(0, 4), lambda: (reading(0, 4)(), 1)),
        GraphError,
        "functions 0 and 1 do not",
    ),
    (
        lambda: make(reading(0, 4), lambda: mix_readers([reading(0, 4), reading(0, 4)])),
        GraphError,
        "function of another mixture",
    ),
    (
        lambda: make(reading(0, 4), lambda: reading(0, 4)() + reading(0, 3)()),
        GraphError,
        "equally many samples",
    ),
    (
        lambda: mix_readers([reading(0, 4), reading(0, 4)]),
        GraphError,
        "must be being defined",
    ),
]
"""What cannot be mixed, and the error."""


def two(**mixture: Any) -> Pipeline:
    return make(reading(0, 4), reading(100, 4), **mixture)


@pytest.mark.parametrize(("mix", "kind", "message"), WRONG)
def test_invalid_mixtures_raise(
    mix: Callable[[], Any], kind: type[DaliCoreError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        mix()


def test_a_value_cannot_leave_its_function() -> None:
    kept: list[Any] = []

    def keeping() -> Any:
        kept.append(reading(0, 4)())
        return kept[0]

    with Pipeline(2, num_threads=1, device_id=None):
        mix_readers([keeping, reading(0, 4)])
        with pytest.raises(GraphError, match="must exist for all samples"):
            fn.cast(kept[0], dtype=types.INT64)


_PROGRAM = """
import os, signal, sys
from tests.samplers.test_mixtures import numbers, resumable
state_path, num_batches, is_killed = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "killed"
state = open(state_path, "rb").read() if os.path.exists(state_path) else None
pipeline = resumable(state)
for _ in range(num_batches):
    print(*numbers(pipeline, 1), flush=True)
    with open(state_path + ".new", "wb") as file:
        file.write(pipeline.checkpoint())
    os.replace(state_path + ".new", state_path)
if is_killed:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def resumable(state: bytes | None) -> Pipeline:
    """Make a pipeline over a weighted mixture, which goes on from a state."""
    options = {"seed": 8, "enable_checkpointing": True, "checkpoint": state}
    with Pipeline(4, num_threads=2, device_id=None, **options) as pipeline:
        functions = [reading(0, 7, random_shuffle=True), reading(100, 30, random_shuffle=True)]
        number = mix_readers(functions, name="mixture", weights=[1, 3])
        pipeline.set_outputs(number, fn.random.uniform(range=[0.0, 1.0]))
    return pipeline


def test_killed_process_is_resumed(tmp_path: Path) -> None:
    """All batches after the last state come again, and no others."""
    found: list[int] = []
    for num_batches, end in ((3, "killed"), (6, "finished")):
        call = [sys.executable, "-c", _PROGRAM, str(tmp_path / "state"), str(num_batches), end]
        done = subprocess.run(
            call, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
        )
        assert done.returncode == (-signal.SIGKILL if end == "killed" else 0), done.stderr
        found += map(int, done.stdout.split())
    assert found == numbers(resumable(None), 9)
