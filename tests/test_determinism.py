"""The same seed returns the same data in any configuration; returned data is never overwritten."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from tests.folders import make_folders

COUNT = 40
"""Files in the data set, in four folders."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("files")
    make_folders(root, (10, 5, 13, 12))
    return root


def reading(root: Path, batch_size: int = 7, **arguments: Any) -> Pipeline:
    """Return a pipeline that reads and draws random numbers, also after a step in Python."""
    reader = {
        name: arguments.pop(name)
        for name in list(arguments)
        if name in {"num_shards", "shard_id", "stick_to_shard", "pad_last_batch"}
    }
    arguments = {"num_threads": 2, "device_id": None, "seed": 3} | arguments
    with Pipeline(batch_size, **arguments) as pipeline:
        data, labels = fn.readers.file(file_root=root, random_shuffle=True, name="reader", **reader)
        uniform = fn.random.uniform(range=[-1.0, 1.0])
        after = fn.random.uniform(fn.python_function(labels, function=lambda x: x))
        pipeline.set_outputs(data, labels, uniform, fn.random.coin_flip(shape=[3]), after)
    return pipeline


def samples(pipeline: Pipeline, count: int) -> list[tuple[Any, ...]]:
    """Return all outputs of the first samples, one tuple per sample."""

    def each() -> Iterator[tuple[Any, ...]]:
        while True:
            outputs = pipeline.run()
            for i in range(len(outputs[0])):
                yield (
                    outputs[0][i].source_info(),
                    *(output.at(i).tobytes() for output in outputs),
                )

    found = list(itertools.islice(each(), count))
    pipeline.close()
    return found


@pytest.fixture(scope="module")
def expected(root: Path) -> list[tuple[Any, ...]]:
    """A little more than two epochs."""
    return samples(reading(root, 1, num_threads=1, prefetch_queue_depth=1), 2 * COUNT + 13)


@pytest.mark.parametrize("num_threads", [1, 2, 4])
@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_threads_depth_and_batch_size_make_no_difference(
    num_threads: int, depth: int, batch_size: int, root: Path, expected: list[Any]
) -> None:
    pipeline = reading(root, batch_size, num_threads=num_threads, prefetch_queue_depth=depth)
    assert samples(pipeline, len(expected)) == expected


@pytest.mark.parametrize("exec_async", [True, False])
@pytest.mark.parametrize("exec_pipelined", [True, False])
def test_ways_to_run_make_no_difference(
    exec_async: bool, exec_pipelined: bool, root: Path, expected: list[Any]
) -> None:
    pipeline = reading(root, exec_async=exec_async, exec_pipelined=exec_pipelined)
    assert samples(pipeline, len(expected)) == expected


def test_other_operators_make_no_difference(root: Path, expected: list[Any]) -> None:
    with Pipeline(7, 2, None, seed=3) as pipeline:
        fn.external_source(lambda: [np.zeros(1)] * 7)  # not random, and not used
        data, labels = fn.readers.file(file_root=root, random_shuffle=True)
        doubled = fn.python_function(labels, function=lambda x: 2 * x)
        pipeline.set_outputs(data, fn.random.uniform(range=[-1.0, 1.0]), doubled)
    found = samples(pipeline, len(expected))
    assert [(sample[0], sample[2]) for sample in found] == [
        (sample[0], sample[3]) for sample in expected
    ]


def test_another_seed_gives_other_random_numbers_in_the_same_order(
    root: Path, expected: list[Any]
) -> None:
    found = samples(reading(root, seed=4), len(expected))
    assert [sample[:3] for sample in found] == [sample[:3] for sample in expected]
    assert all(a[3] != b[3] for a, b in zip(found, expected, strict=True))


def test_without_a_seed_every_pipeline_is_another(root: Path) -> None:
    one, two = (samples(reading(root, seed=-1), COUNT) for _ in range(2))
    assert [sample[0] for sample in one] == [sample[0] for sample in two]
    assert one != two


def test_random_numbers_differ_between_samples_epochs_and_operators(expected: list[Any]) -> None:
    draws = [sample[3] for sample in expected] + [sample[5] for sample in expected]
    assert len(set(draws)) > 0.99 * len(draws)


def test_every_epoch_is_another_permutation(expected: list[Any]) -> None:
    one, two = ([sample[0] for sample in expected[i : i + COUNT]] for i in (0, COUNT))
    assert len(set(one)) == COUNT
    assert set(one) == set(two)
    assert one != two
    assert one != sorted(one)


@pytest.mark.parametrize("num_shards", [1, 2, 3, 7])
@pytest.mark.parametrize("stick_to_shard", [False, True])
def test_shards_are_parts_of_each_epoch(
    num_shards: int, stick_to_shard: bool, root: Path, expected: list[Any]
) -> None:
    sizes = [(i + 1) * COUNT // num_shards - i * COUNT // num_shards for i in range(num_shards)]
    shards = []
    for shard in range(num_shards):
        pipeline = reading(
            root, 4, num_shards=num_shards, shard_id=shard, stick_to_shard=stick_to_shard
        )
        second = shard if stick_to_shard else (shard + 1) % num_shards
        found = samples(pipeline, sizes[shard] + sizes[second])
        shards.append((found[: sizes[shard]], found[sizes[shard] :]))
    first_epoch = [sample for shard, _ in shards for sample in shard]
    names = {sample[0] for sample in expected}
    assert {sample[0] for sample in first_epoch} == names
    assert len(first_epoch) == COUNT
    second_epoch = [sample[0] for _, shard in shards for sample in shard]
    assert set(second_epoch) == names
    assert len(second_epoch) == COUNT
    if not stick_to_shard:
        # Not only the same samples: the same order and the same random numbers.
        assert first_epoch == expected[:COUNT]
        rotated = [shard for _, shard in shards[-1:] + shards[:-1]]
        assert [sample for shard in rotated for sample in shard] == expected[COUNT : 2 * COUNT]


def test_padding_repeats_a_sample(root: Path) -> None:
    """COUNT = 40 in 3 shards of 13, 13 and 14: all have 4 batches of 4."""
    epoch = []
    for shard in range(3):
        found = samples(reading(root, 4, num_shards=3, shard_id=shard, pad_last_batch=True), 16)
        size = 14 if shard == 2 else 13
        assert {sample[0] for sample in found[size - 1 :]} == {found[size - 1][0]}
        epoch += [sample[0] for sample in found[:size]]
    assert len(set(epoch)) == COUNT


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("batch_size", [2, 5])
def test_random_numbers_without_a_reader(depth: int, batch_size: int) -> None:
    def numbers(**arguments: Any) -> list[tuple[bytes, ...]]:
        with Pipeline(device_id=None, seed=8, **arguments) as pipeline:
            pipeline.set_outputs(fn.random.uniform(), fn.random.uniform(shape=[2]))
        return [sample[1:] for sample in samples(pipeline, 30)]

    expected = numbers(batch_size=1, num_threads=1, prefetch_queue_depth=1)
    assert numbers(batch_size=batch_size, num_threads=2, prefetch_queue_depth=depth) == expected


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_random_numbers_continue_after_the_end_of_a_source(depth: int) -> None:
    with Pipeline(4, 2, None, seed=8, prefetch_queue_depth=depth) as pipeline:
        endless = fn.external_source(lambda i: [np.int64(i)] * 4)
        ending = fn.external_source([[np.int64(0)] * 4] * 3, cycle="raise")
        pipeline.set_outputs(fn.random.uniform(), endless, ending)
    found = []
    for _ in range(3):
        for _ in range(3):
            found.append(pipeline.run()[0].as_array().tolist())
        with pytest.raises(StopIteration):
            pipeline.run()
        pipeline.reset()
    with Pipeline(1, 1, None, seed=8) as plain:
        plain.set_outputs(fn.random.uniform())
    assert np.ravel(found).tolist() == [float(plain.run()[0].at(0)) for _ in range(36)]


@pytest.mark.parametrize("exec_async", [True, False])
def test_outputs_are_never_overwritten(exec_async: bool, root: Path) -> None:
    pipeline = reading(root, 8, exec_async=exec_async, prefetch_queue_depth=3)
    kept, copies = [], []
    for number in range(50):
        outputs = pipeline.run()
        if number % 2:
            views = [outputs[i].as_array() for i in range(1, 5)]
        else:
            views = [np.from_dlpack(outputs[i].as_tensor()) for i in range(1, 5)]
        views += [outputs[0].at(i) for i in range(8)]
        kept.append(views)
        copies.append([view.copy() for view in views])
    del outputs, pipeline
    for views, before in zip(kept, copies, strict=True):
        for view, copy in zip(views, before, strict=True):
            np.testing.assert_array_equal(view, copy)


def test_memory_does_not_grow(root: Path) -> None:
    pipeline = reading(root, 8, prefetch_queue_depth=3)
    totals = []
    for _ in range(200):
        pipeline.run()
        assert pipeline._run.runner is not None
        totals.append(sum(pipeline._run.runner.executor.memory_stats().values()))
    assert max(totals[100:]) <= 1.5 * max(totals[:50])
    pipeline.close()
    assert pipeline._run.runner.executor.memory_stats() == {"used_bytes": 0, "idle_bytes": 0}
