"""Private names of NVIDIA DALI, over pipelines of numbers."""

from __future__ import annotations

from typing import Any

import pytest

from dali_core.errors import ArgumentValueError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy, _DaliBaseIterator
from tests.plugin.fake_pipeline import iterate, reader_pipeline, source_pipeline
from tests.rest_of_epoch import rest_of_epoch

# Batches that continue with the next epoch, or repeat samples, are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

FILL, DROP, PARTIAL = LastBatchPolicy


def test_all_iterators_have_the_public_attributes() -> None:
    for options in ({"size": 4}, {"reader_name": "reader"}):
        iterator = iterate(reader_pipeline(4, 2), **options)
        assert iterator.batch_size == 2
        assert iterator.output_map == ["number"]


def test_attributes_follow_the_epoch() -> None:
    pipelines = [reader_pipeline(9, 2, 3, shard) for shard in (2, 0)]
    iterator = iterate(pipelines, reader_name="reader", last_batch_policy=PARTIAL)
    assert isinstance(iterator, _DaliBaseIterator)
    assert iterator._pipes == pipelines
    assert (iterator._num_gpus, iterator._shards_num, iterator._size_no_pad) == (2, 3, 9)
    assert (iterator._last_batch_policy, iterator._last_batch_padded) == (PARTIAL, False)
    assert (iterator._size, iterator._counter, iterator._first_batch is None) == (4, 2, False)
    assert iterator._shards_id.tolist() == [2, 0]
    next(iterator)
    assert iterator._first_batch is None
    next(iterator)
    assert iterator._counter == 4
    is_partial, left = iterator._remove_padded()
    assert (list(is_partial), list(left)) == ([True, True], [1, 1])
    iterator.reset()
    assert iterator._shards_id.tolist() == [0, 1]
    assert iterator._counter == 0


def test_sizes_of_shards() -> None:
    iterator = iterate([reader_pipeline(5, 2, 2, shard) for shard in (0, 1)], reader_name="reader")
    seen = []
    for _ in range(3):
        sizes, before = iterator._shard_sizes_per_gpu, iterator._counter_per_gpu
        seen.append((iterator._shards_id.tolist(), sizes.tolist(), before.tolist()))
        iterate_all = [iterator._counter for _ in iterator]
        assert len(iterate_all) == iterator._size // 2
        iterator.reset()
    assert seen == [
        ([0, 1], [2, 3], [0, 0]),
        ([1, 0], [3, 2], [2, 1]),
        ([0, 1], [2, 3], [1, 1]),
    ]
    assert iterator._shard_sizes_per_gpu_initial.tolist() == [2, 3]
    assert not iterator._is_stick_to_shard


def test_sizes_of_shards_need_a_reader() -> None:
    iterator = iterate(source_pipeline(3, 2), size=6)
    for name in ("_shard_sizes_per_gpu", "_counter_per_gpu", "_is_stick_to_shard"):
        assert not hasattr(iterator, name)


def test_several_pipelines_count_together_with_a_size() -> None:
    iterator = iterate([source_pipeline(9, 2), source_pipeline(9, 2)], size=6)
    seen = []
    for _ in range(3):
        seen.append([iterator._counter for _ in iterator])
        iterator.reset()
    # The second batch of the first epoch had 2 additional samples.
    assert seen == [[4, 8], [6], [4, 8]]


def test_unknown_size() -> None:
    iterator = iterate(source_pipeline(3, 2), prepare_first_batch=False)
    assert (iterator._size, iterator._size_no_pad, iterator._shards_num) == (-1, -1, 1)
    assert (iterator._last_batch_policy, iterator._last_batch_padded) == (FILL, False)
    assert iterator._shards_id.tolist() == []
    assert [iterator._counter for _ in iterator] == [2, 4, 6]
    assert iterator._remove_padded() == (False, -1)


def test_the_counter_moves_by_batches() -> None:
    iterator = iterate(reader_pipeline(8, 2), reader_name="reader")
    next(iterator)
    iterator._counter += 2
    assert len(list(rest_of_epoch(iterator))) == 2
    with pytest.raises(ArgumentValueError, match="whole batches of 2 samples"):
        iterator._counter = 3


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("auto_reset", [False, True])
def test_iterator_from_base_class_parts_gives_the_same(
    policy: LastBatchPolicy, auto_reset: bool
) -> None:
    class OfParts(BaseIterator):
        def __next__(self) -> Any:
            self._ever_consumed = True
            outputs = self._get_outputs()
            batches = [{"number": list(batch)} for (batch,) in outputs]
            self._schedule_runs()
            self._advance_and_check_drop_last()
            _, left = self._remove_padded()
            if policy is PARTIAL:
                for batch, count in zip(batches, left, strict=True):
                    batch["number"] = batch["number"][:count]
            return batches

    for num_samples in range(2, 9):
        found = []
        for kind in (OfParts, BaseIterator):
            iterator = kind(
                [reader_pipeline(num_samples, 2, 2, shard, pad=True) for shard in (0, 1)],
                ["number"],
                iterate(source_pipeline(1, 1)).adapter,
                reader_name="reader",
                auto_reset=auto_reset,
                last_batch_policy=policy,
                prepare_first_batch=False,
            )
            found.append([[*iterator] for _ in range(3)])
        assert found[0] == found[1]


def test_base_class_alone_raises() -> None:
    iterator = _DaliBaseIterator(source_pipeline(2, 2), size=4)
    with pytest.raises(NotImplementedError):
        next(iterator)
    assert len(iterator) == 2
