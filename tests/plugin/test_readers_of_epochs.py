"""The reader that iterators follow by themselves, and its padding."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, compat, fn, pipeline_def
from dali_core.errors import ArgumentConflictError, ArgumentTypeError, StateMismatchError
from dali_core.plugin.base_iterator import BaseIterator, IncompleteEpochWarning, LastBatchPolicy
from tests.state.listing import ListAdapter

FILL, DROP, PARTIAL = LastBatchPolicy
COUNT = 11
BATCH = 4


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"{number:02}" for number in range(COUNT)]
    for path in paths:
        path.write_bytes(b"content")
    return list(map(str, paths))


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, seed=3)
def numbers(files: list[str], **reader: Any) -> DataNode:
    return fn.readers.file(files=files, **reader)[1]


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, seed=3)
def two(files: list[str], other: list[str]) -> tuple[DataNode, DataNode]:
    return fn.readers.file(files=files)[1], fn.readers.file(files=other)[1]


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, seed=3)
def beside_a_source(
    files: list[str], source: Callable[[], Iterable[Any]]
) -> tuple[DataNode, DataNode]:
    return fn.readers.file(files=files)[1], fn.external_source(source=source)


def over(pipelines: Any, num_outputs: int = 1, **options: Any) -> BaseIterator:
    names = [f"output {number}" for number in range(num_outputs)]
    return BaseIterator(pipelines, names, ListAdapter(), **options)


def flat(iterator: Iterable[Any], number: int = 0) -> list[int]:
    return [
        int(value[0])
        for batch in iterator
        for shard in batch
        for value in shard[f"output {number}"]
    ]


def ones() -> Iterator[list[Any]]:
    """Batches without an end."""
    for _ in itertools.count():
        yield [np.array([1])] * BATCH


class TestFinding:
    @pytest.mark.parametrize("reader", [{}, {"name": "files"}, {"lazy_init": True}])
    def test_a_single_reader_is_followed(self, files: list[str], reader: dict[str, Any]) -> None:
        iterator = over(numbers(files, **reader), last_batch_policy=PARTIAL)
        assert len(iterator) == 3
        assert [flat(iterator) for _ in range(3)] == [list(range(COUNT))] * 3
        name = reader.get("name", "readers_file_0")
        assert f"reader_name={name!r}" in repr(iterator)
        named = over(numbers(files, **reader), reader_name=name, last_batch_policy=PARTIAL)
        named.load_state_dict(iterator.state_dict())
        assert named.epoch == 2

    def test_all_shards_are_followed(self, files: list[str]) -> None:
        shards = [numbers(files, num_shards=3, shard_id=shard) for shard in range(3)]
        iterator = over(shards, last_batch_policy="partial")
        for _ in range(4):
            assert sorted(flat(iterator)) == list(range(COUNT))

    def test_readers_of_the_same_epochs_are_one(self, files: list[str]) -> None:
        iterator = over(two(files, files[::-1]), 2, last_batch_policy=PARTIAL)
        for _ in range(2):
            batches = list(iterator)
            assert flat(batches, 0) == flat(batches, 1) == list(range(COUNT))

    def test_readers_of_different_epochs_need_a_name(self, files: list[str]) -> None:
        message = r"reader_name: .* \(got \{'readers_file_0': 11, 'readers_file_1': 5\} samples\)"
        with pytest.raises(ArgumentConflictError, match=message):
            over(two(files, files[:5]), 2)
        named = over(
            two(files, files[:5]), 2, reader_name="readers_file_1", last_batch_policy=PARTIAL
        )
        assert [flat(named, 1) for _ in range(2)] == [list(range(5))] * 2
        assert len(flat(over(two(files, files[:5]), 2, size=8))) == 8

    def test_a_source_ends_the_epoch(self, files: list[str]) -> None:
        """Unless the reader beside it is named."""

        def four() -> Iterator[list[Any]]:
            yield from itertools.islice(ones(), 4)

        iterator = over(beside_a_source(files, four), 2)
        assert flat(iterator) == [*range(COUNT), *range(5)]
        with pytest.raises(TypeError, match="must know the size"):
            len(iterator)
        endless = over(beside_a_source(files[:8], ones), 2, reader_name="readers_file_0")
        assert [flat(endless) for _ in range(2)] == [list(range(8))] * 2

    def test_programs_of_the_reference_have_no_end(self, files: list[str]) -> None:
        compat.install()
        try:
            iterator = over(numbers(files))
            assert len(flat(itertools.islice(iterator, 9))) == 9 * BATCH
            assert len(iterator) == 0
        finally:
            compat.uninstall()

    def test_padding_that_is_not_the_readers(self, files: list[str]) -> None:
        pipeline = numbers(files)
        iterator = over(pipeline, last_batch_padded=True, last_batch_policy=PARTIAL)
        assert [flat(iterator) for _ in range(2)] == [list(range(COUNT))] * 2
        built = numbers(files)
        built.build()
        with pytest.raises(ArgumentConflictError, match="last_batch_padded: must be False"):
            over(built, last_batch_padded=True)


class TestPadding:
    """PARTIAL and DROP have readers pad."""

    @pytest.mark.parametrize("pad", [{}, {"pad_last_batch": False}, {"pad_last_batch": True}])
    @pytest.mark.parametrize("policy", [PARTIAL, DROP])
    def test_epochs_never_drift(
        self, files: list[str], policy: LastBatchPolicy, pad: dict[str, Any]
    ) -> None:
        iterator = over(numbers(files, **pad), last_batch_policy=policy)
        expected = list(range(COUNT if policy is PARTIAL else 8))
        assert [flat(iterator) for _ in range(4)] == [expected] * 4

    def test_pipelines_that_are_built_remain(self, files: list[str]) -> None:
        pipeline = numbers(files)
        pipeline.build()
        iterator = over(pipeline, last_batch_policy=PARTIAL)
        assert flat(iterator) == list(range(COUNT))
        with pytest.warns(IncompleteEpochWarning, match=r"10 of 11 samples and 1 others.*Set pad"):
            assert flat(iterator) == [*range(1, COUNT), 0]

    def test_sources_remain_in_step(self, files: list[str]) -> None:
        def counting() -> Iterator[list[Any]]:
            for start in range(0, 80, BATCH):
                yield [np.array([(start + number) % COUNT]) for number in range(BATCH)]

        pipeline = beside_a_source(files, counting)
        iterator = over(pipeline, 2, reader_name="readers_file_0", last_batch_policy=PARTIAL)
        assert flat(first := list(iterator)) == flat(first, 1) == list(range(COUNT))
        with pytest.warns(IncompleteEpochWarning, match="Set pad_last_batch=True in the reader"):
            assert flat(second := list(iterator)) == flat(second, 1)

    def test_programs_of_the_reference_drift(self, files: list[str]) -> None:
        compat.install()
        try:
            iterator = over(
                numbers(files, name="files"), reader_name="files", last_batch_policy=DROP
            )
            assert [flat(iterator) for _ in range(2)] == [
                list(range(8)),
                [1, 2, 3, 4, 5, 6, 7, 8],
            ]
        finally:
            compat.uninstall()


class TestFormerStates:
    """States of iterators that had to be told the reader, and did not have it pad."""

    @staticmethod
    def saved(make: Callable[[], BaseIterator], num_batches: int) -> tuple[str, list[list[int]]]:
        """Return a state under the rules of then, and the two batches that follow."""
        compat.install()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                iterator = make()
                for _ in range(num_batches):
                    try:
                        next(iterator)
                    except StopIteration:
                        iterator.reset()
                        next(iterator)
                state = json.dumps(iterator.state_dict())
                return state, [flat([batch]) for batch in itertools.islice(iterator, 2)]
        finally:
            compat.uninstall()

    @pytest.mark.parametrize("num_batches", range(8))
    @pytest.mark.filterwarnings("ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning")
    def test_without_an_end(self, files: list[str], num_batches: int) -> None:
        """The batches are the same; now epochs end."""
        state, following = self.saved(lambda: over(numbers(files)), num_batches)
        iterator = over(numbers(files), auto_reset=True)
        iterator.load_state_dict(json.loads(state))
        epoch, taken = next(
            (epoch, num_batches - start)
            for epoch, (start, stop) in enumerate(itertools.pairwise([0, 3, 6, 9]))
            if start <= num_batches < stop
        )
        assert (iterator.epoch, iterator.num_returned) == (epoch, taken)
        rest = iterator.epochs.num_given(epoch) - taken  # type: ignore[union-attr]
        assert [flat([batch]) for batch in iterator][:2] == following[:rest]

    @pytest.mark.parametrize("policy", [PARTIAL, DROP])
    def test_without_padding(self, files: list[str], policy: LastBatchPolicy) -> None:
        def make() -> BaseIterator:
            pipeline = numbers(files, name="files", random_shuffle=True)
            return over(pipeline, reader_name="files", last_batch_policy=policy)

        state, following = self.saved(make, 1)
        iterator = make()
        iterator.load_state_dict(json.loads(state))
        assert [flat([batch]) for batch in iterator] == following[: len(iterator) - 1]
        assert sorted(flat(iterator))[-1] <= COUNT - 1
        whole = make()
        assert [flat(whole) for _ in range(4)][2] == flat(iterator)

        later, _ = self.saved(make, 4 if policy is PARTIAL else 3)
        with pytest.warns(IncompleteEpochWarning, match="epoch 1 of the state had begun without"):
            iterator.load_state_dict(json.loads(later))
        assert (iterator.epoch, iterator.num_returned) == (1, 1)
        whole.set_epoch(1)
        epoch = [flat([batch]) for batch in whole]
        assert [flat([batch]) for batch in iterator] == epoch[1:]

    def test_checkpoints_without_padding(self, files: list[str]) -> None:
        """A pipeline that resumes from one reads as it did then."""

        def make(checkpoint: bytes | None = None) -> BaseIterator:
            with Pipeline(BATCH, 1, None, seed=3, checkpoint=checkpoint) as pipeline:
                pipeline.set_outputs(fn.readers.file(files=files, name="files")[1])
            return over(pipeline, reader_name="files", last_batch_policy=PARTIAL)

        compat.install()
        try:
            before = make()
            next(before)
            (checkpoint,) = before.checkpoints()
        finally:
            compat.uninstall()
        iterator = make(checkpoint)
        assert flat(iterator) == list(range(4, COUNT))
        with pytest.warns(IncompleteEpochWarning):
            assert flat(iterator) == [*range(1, COUNT), 0]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("pipelines", None),
            ("pipelines", [1]),
            ("pipelines", []),
            ("pipelines", [{"place": "1"}]),
            ("pipelines", [{"readers": [3], "place": [-1]}]),
            ("batch_size", 0),
            ("batch_size", "4"),
        ],
    )
    def test_damaged(self, files: list[str], name: str, value: Any) -> None:
        state, _ = self.saved(lambda: over(numbers(files), last_batch_policy=PARTIAL), 2)
        iterator = over(numbers(files), last_batch_policy=PARTIAL)
        for damaged in ({**json.loads(state), name: value}, {**iterator.state_dict(), name: value}):
            if damaged["last_batch_padded"]:
                damaged["last_batch_padded"] = False
            with pytest.raises((StateMismatchError, ArgumentTypeError)):
                iterator.load_state_dict(damaged)
        assert flat(iterator) == list(range(COUNT))
