"""Peeking at the next batch."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.adapters.dali_core_jax.pipelines import flat, numbers, shards, source_pipeline

jax = pytest.importorskip("jax", reason="not available: JAX")

from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

from dali_core.plugin.jax.clu import ArraySpec, DALIGenericPeekableIterator  # noqa: E402
from tests.hanging import HANG_SECONDS  # noqa: E402
from tests.rest_of_epoch import rest_of_epoch  # noqa: E402

# Batches that continue with the next epoch, or repeat samples, are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)


def make(folder: Path, pad: bool = False, **options: Any) -> DALIGenericPeekableIterator:
    pipeline = numbers(folder, 7, batch_size=2, pad_last_batch=pad)
    return DALIGenericPeekableIterator(pipeline, ["x"], reader_name="numbers", **options)


def values(batch: Any) -> list[int]:
    return flat(batch["x"])


@pytest.mark.parametrize("prepare", [True, False])
class TestPeek:
    def test_peek_returns_the_next_batch(self, tmp_path: Path, prepare: bool) -> None:
        iterator = make(tmp_path, prepare_first_batch=prepare)
        for expected in ([0, 1], [2, 3], [4, 5], [6, 0]):
            assert values(iterator.peek()) == values(iterator.peek()) == expected
            assert values(next(iterator)) == expected
        for take in (iterator.peek, iterator.peek, iterator.next, iterator.peek):
            with pytest.raises(StopIteration):
                take()

    def test_peek_raises_stop_iteration_once_per_epoch(self, tmp_path: Path, prepare: bool) -> None:
        iterator = make(tmp_path, pad=True, auto_reset=True, prepare_first_batch=prepare)
        for _ in range(2):
            batches = []
            while True:
                try:
                    batches.append(values(iterator.peek()))
                except StopIteration:
                    break
                next(iterator)
            assert batches == [[0, 1], [2, 3], [4, 5], [6, 6]]
            with pytest.raises(StopIteration):
                next(iterator)

    def test_loops_return_the_peeked_batch(self, tmp_path: Path, prepare: bool) -> None:
        iterator = make(tmp_path, pad=True, auto_reset=True, prepare_first_batch=prepare)
        iterator.peek()
        epoch = [[0, 1], [2, 3], [4, 5], [6, 6]]
        assert [values(batch) for batch in iterator] == epoch
        assert values(next(iterator)) == [0, 1]
        iterator.peek()
        assert [values(batch) for batch in rest_of_epoch(iterator)] == epoch[1:]
        next(iterator)
        iterator.peek()  # which a loop discards with the rest of the epoch
        assert [values(batch) for batch in iterator] == epoch

    def test_reset(self, tmp_path: Path, prepare: bool) -> None:
        iterator = make(tmp_path, pad=True, prepare_first_batch=prepare)
        assert len(list(iterator)) == 4
        with pytest.raises(StopIteration):
            iterator.peek()
        iterator.reset()
        assert values(iterator.peek()) == [0, 1]
        assert len(list(iterator)) == 4

    def test_peek_async_in_another_thread(self, tmp_path: Path, prepare: bool) -> None:
        iterator = make(tmp_path, prepare_first_batch=prepare)
        for expected in ([0, 1], [2, 3], [4, 5], [6, 0]):
            future = iterator.peek_async()
            assert isinstance(future, Future)
            assert values(future.result(timeout=HANG_SECONDS)) == expected
            assert values(next(iterator)) == expected
        with pytest.raises(StopIteration):
            iterator.peek_async().result(timeout=HANG_SECONDS)


class TestElementSpec:
    def test_dtypes_and_shapes(self, tmp_path: Path) -> None:
        iterator = make(tmp_path, mask_name="mask")
        assert iterator.element_spec == {
            "x": ArraySpec(numpy.dtype("int32"), (2, 1)),
            "mask": ArraySpec(numpy.dtype("bool"), (2,)),
        }
        assert values(next(iterator)) == [0, 1]

    def test_shapes_are_global(self, tmp_path: Path) -> None:
        where = NamedSharding(Mesh(jax.devices(), ("batch",)), PartitionSpec("batch"))
        for options, shape in (({"sharding": where}, (16, 1)), ({}, (8, 2, 1))):
            iterator = DALIGenericPeekableIterator(
                shards(tmp_path, 16, 8, batch_size=2), ["x"], reader_name="numbers", **options
            )
            assert iterator.element_spec["x"].shape == shape

    @pytest.mark.parametrize(
        ("change", "found"),
        [
            (lambda sample: sample[:2], r"float32\[2, 2\]"),
            (lambda sample: sample.astype(numpy.int32), r"int32\[2, 3\]"),
        ],
        ids=["shape", "type"],
    )
    def test_changed_shapes_and_dtypes_raise(self, change: Any, found: str) -> None:
        pipeline = Pipeline(batch_size=2, num_threads=1)
        with pipeline:
            batches = [numpy.zeros((2, 3), numpy.float32), numpy.ones((2, 3), numpy.float32)]
            data = fn.external_source(source=iter(batches), batch=True)
            second = fn.python_function(
                data, function=lambda sample: change(sample) if sample.any() else sample
            )
            pipeline.set_outputs(second)
        iterator = DALIGenericPeekableIterator(pipeline, ["x"])
        iterator.next()
        with pytest.raises(ArgumentValueError, match=rf"'x': .*{found} after float32\[2, 3\]"):
            iterator.peek()


class TestNonpadding:
    @pytest.mark.parametrize("pad", [False, True])
    def test_one_pipeline(self, tmp_path: Path, pad: bool) -> None:
        iterator = make(tmp_path, pad=pad)
        assert iterator.is_nonpadding.tolist() == [True, True]
        found = [iterator.is_nonpadding.tolist() for _ in iterator]
        assert found == [[True, True]] * 3 + [[True, False]]

    def test_several_pipelines(self, tmp_path: Path) -> None:
        where = NamedSharding(Mesh(jax.devices()[:2], ("batch",)), PartitionSpec("batch"))
        for options in ({}, {"sharding": where}, {"devices": jax.devices()[:2]}):
            iterator = DALIGenericPeekableIterator(
                shards(tmp_path, 7, 2, batch_size=2, pad_last_batch=True),
                ["x"],
                reader_name="numbers",
                **options,
            )
            found = [iterator.is_nonpadding.tolist() for _ in iterator]
            assert found == [[True] * 4, [True, False, True, True]]
        assert iterator.is_nonpadding.devices() == set(jax.devices()[:2])


def test_bad_sample_raises_and_is_skipped() -> None:
    batches = [numpy.zeros((2 + (index == 1), 1), numpy.float32) + index for index in range(3)]
    iterator = DALIGenericPeekableIterator(source_pipeline(batches), ["x"], size=6)
    next(iterator)
    for take in (iterator.peek, iterator.peek, iterator.next):
        with pytest.raises(SampleError, match="at most batch_size"):
            take()
    assert values(iterator.peek()) == values(next(iterator)) == [2, 2]
