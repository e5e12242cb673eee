"""Start and end of epochs, over pipelines of numbers."""

from __future__ import annotations

import gc
import logging
import warnings
import weakref
from typing import Any

import pytest

from dali_core import compat
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    PipelineStateError,
    SampleError,
)
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.plugin.fake_pipeline import (
    FakeBatch,
    FakePipeline,
    ListAdapter,
    iterate,
    numbers,
    reader_pipeline,
    source_pipeline,
)
from tests.rest_of_epoch import rest_of_epoch

# Batches that continue with the next epoch, or repeat samples, are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

FILL, DROP, PARTIAL = LastBatchPolicy


# The examples of the reference's documentation: samples 1 to 7, batches of 2.
EXAMPLES = [
    (PARTIAL, True, [7], [1, 2]),
    (PARTIAL, False, [7], [2, 3]),
    (FILL, True, [7, 7], [1, 2]),
    (FILL, False, [7, 1], [2, 3]),
    (DROP, True, [5, 6], [1, 2]),
    (DROP, False, [5, 6], [2, 3]),
]


@pytest.mark.parametrize(("policy", "padded", "last", "following"), EXAMPLES)
@pytest.mark.parametrize("by_size", [False, True])
def test_documented_examples(
    policy: LastBatchPolicy, padded: bool, last: list[int], following: list[int], by_size: bool
) -> None:
    counted: dict[str, Any] = {"size": 7, "last_batch_padded": padded}
    iterator = iterate(
        reader_pipeline(7, 2, pad=padded),
        last_batch_policy=policy,
        auto_reset=True,
        **counted if by_size else {"reader_name": "reader"},
    )
    epoch = [[number + 1 for number in batch] for batch in numbers(iterator)]
    assert epoch[0] == [1, 2]
    assert epoch[-1] == last
    assert [number + 1 for number in next(iterator)[0]["number"]] == following


class TestReset:
    def test_end_of_epoch_is_repeated_until_reset(self) -> None:
        iterator = iterate(reader_pipeline(4, 2), reader_name="reader")
        assert numbers(iterator) == [[0, 1], [2, 3]]
        for _ in range(2):
            with pytest.raises(StopIteration):
                next(iterator)
        iterator.reset()
        assert iterator.next()[0]["number"] == [0, 1]

    def test_for_begins_the_next_epoch(self) -> None:
        iterator = iterate(reader_pipeline(5, 2), reader_name="reader")
        assert numbers(iterator) == [[0, 1], [2, 3], [4, 0]]
        assert numbers(iterator) == [[1, 2], [3, 4]]

    def test_leaving_a_loop_early_in_programs_of_the_reference(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        compat.install()
        try:
            iterator = iterate(reader_pipeline(6, 2), reader_name="reader")
            for batch in iterator:
                assert batch[0]["number"] == [0, 1]
                break
            with caplog.at_level(logging.WARNING, "dali_core"):
                assert numbers(iterator) == [[2, 3], [4, 5]]
            assert "the epoch is not over" in caplog.text
        finally:
            compat.uninstall()

    def test_reset_in_mid_epoch_in_programs_of_the_reference(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        compat.install()
        try:
            iterator = iterate(reader_pipeline(6, 2), reader_name="reader")
            next(iterator)
            with caplog.at_level(logging.WARNING, "dali_core"):
                iterator.reset()
            assert len(caplog.records) == 1
            assert next(iterator)[0]["number"] == [2, 3]
        finally:
            compat.uninstall()

    @pytest.mark.parametrize("prepare", [False, True])
    def test_reset_of_an_unused_iterator_changes_nothing(
        self, prepare: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        iterator = iterate(reader_pipeline(2, 2), reader_name="reader", prepare_first_batch=prepare)
        iterator.reset()
        assert numbers(iterator) == [[0, 1]]
        assert not caplog.records

    def test_reset_after_the_last_batch_needs_no_stop_iteration(self) -> None:
        for policy, following in ((FILL, [1, 2]), (DROP, [1, 2])):
            iterator = iterate(
                reader_pipeline(5, 2), reader_name="reader", last_batch_policy=policy
            )
            for _ in range(len(iterator)):
                next(iterator)
            iterator.reset()
            assert next(iterator)[0]["number"] == following, policy

    def test_auto_reset(self) -> None:
        for auto_reset in (True, "yes"):
            iterator = iterate(reader_pipeline(4, 2), reader_name="reader", auto_reset=auto_reset)
            assert [numbers(iterator) for _ in range(3)] == [[[0, 1], [2, 3]]] * 3


class TestUnknownSize:
    def test_the_source_ends_the_epoch(self) -> None:
        iterator = iterate(source_pipeline(3, 2))
        assert numbers(iterator) == [[0, 1], [2, 3], [4, 5]]
        with pytest.raises(StopIteration):
            next(iterator)
        assert numbers(iterator) == [[0, 1], [2, 3], [4, 5]]

    def test_auto_reset(self) -> None:
        iterator = iterate(source_pipeline(2, 1), auto_reset=True)
        assert [numbers(iterator) for _ in range(3)] == [[[0], [1]]] * 3

    def test_length_is_0_for_programs_of_the_reference(self) -> None:
        iterator = iterate(source_pipeline(3, 2))
        compat.install()
        try:
            assert len(iterator) == 0
            assert iterator
            assert len(list(iterator)) == 3
        finally:
            compat.uninstall()
        with pytest.raises(TypeError):
            len(iterator)

    def test_length_is_a_type_error(self) -> None:
        iterator = iterate(source_pipeline(3, 2))
        with pytest.raises(TypeError, match=r"len\(\): .*Give it reader_name or size"):
            len(iterator)
        assert iterator.size == -1
        assert iterator
        assert len(list(iterator)) == 3

    def test_short_batches_pass(self) -> None:
        pipeline = FakePipeline(lambda: iter([[1, 2], [3]]), 2)
        assert numbers(iterate(pipeline)) == [[1, 2], [3]]

    def test_a_source_that_ends_too_early_ends_the_epoch(self) -> None:
        iterator = iterate(source_pipeline(2, 2), size=10)
        assert numbers(iterator) == [[0, 1], [2, 3]]
        with pytest.raises(StopIteration):
            next(iterator)


class TestShortBatches:
    """Batches of other lengths, where the size of an epoch is given."""

    @pytest.mark.parametrize("policy", LastBatchPolicy)
    def test_short_batches_raise(self, policy: LastBatchPolicy) -> None:
        pipeline = FakePipeline(lambda: iter([[0, 1], [2, 3], [4]]), 2)
        iterator = iterate(pipeline, size=5, last_batch_policy=policy)
        assert [next(iterator)[0]["number"] for _ in range(2)] == [[0, 1], [2, 3]]
        if policy is not DROP:  # which never uses its last batch
            with pytest.raises(AssertionError, match=r"must have 2 samples.*\(got 1\)"):
                next(iterator)

    def test_short_first_batch_raises(self) -> None:
        for prepare in (False, True):
            pipeline = FakePipeline(lambda: iter([[0]]), 2)
            with pytest.raises(ArgumentConflictError, match="Leave size out"):
                next(iterate(pipeline, size=1, prepare_first_batch=prepare))

    def test_outputs_are_released(self) -> None:
        pipelines = [source_pipeline(3, 2), FakePipeline(lambda: iter([[0, 1], [2], [3, 4]]), 2)]
        iterator = iterate(pipelines, size=12)
        next(iterator)
        with pytest.raises(ArgumentConflictError):
            next(iterator)
        assert next(iterator) == [{"number": [4, 5]}, {"number": [3, 4]}]


def test_early_end_of_one_pipeline_stops_the_others() -> None:
    pipelines = [source_pipeline(9, 2), source_pipeline(1, 2)]
    iterator = iterate(pipelines, size=12)
    assert [len(batch) for batch in iterator] == [2]
    assert [pipeline.num_taken for pipeline in pipelines] == [2, 1]
    assert pipelines[0].empty()


class TestSeveralPipelines:
    def test_partial_reader_gives_empty_batches(self) -> None:
        pipelines = [reader_pipeline(9, 4, 2, shard) for shard in (0, 1)]
        iterator = iterate(pipelines, reader_name="reader", last_batch_policy=PARTIAL)
        assert list(iterator) == [
            [{"number": [0, 1, 2, 3]}, {"number": [4, 5, 6, 7]}],
            [{"number": []}, {"number": [8]}],
        ]

    def test_partial_size_gives_a_shorter_list(self) -> None:
        pipelines = [reader_pipeline(9, 2, 3, shard) for shard in (0, 1, 2)]
        iterator = iterate(pipelines, size=9, last_batch_policy=PARTIAL)
        assert list(iterator)[-1] == [{"number": [2, 3]}, {"number": [5]}]

    def test_pipelines_are_synchronized(self) -> None:
        pipelines = [reader_pipeline(9, 2, 3, shard, stick=True) for shard in (0, 1, 2)]
        iterator = iterate(pipelines, reader_name="reader", auto_reset=True)
        for _ in range(5):
            list(iterator)
        assert len({pipeline.num_taken for pipeline in pipelines}) == 1


class TestFailures:
    class BrokenOnce(FakePipeline):
        broken = True

        def share_outputs(self) -> tuple[FakeBatch, ...]:
            outputs = super().share_outputs()
            if outputs[0][0] == 2 and self.broken:
                self.broken = False
                self.release_outputs()
                raise SampleError("cannot read", sample=0)
            return outputs

    @pytest.mark.parametrize("bad_first", [False, True])
    def test_the_batch_after_a_failed_one_comes_next(self, bad_first: bool) -> None:
        pipelines = [
            source_pipeline(4, 2),
            self.BrokenOnce(lambda: iter([[0, 1], [2, 3], [4, 5], [6, 7]]), 2),
        ]
        iterator = iterate(pipelines[::-1] if bad_first else pipelines, size=16)
        assert next(iterator) == [{"number": [0, 1]}] * 2
        with pytest.raises(SampleError, match="cannot read"):
            next(iterator)
        assert list(rest_of_epoch(iterator)) == [[{"number": [4, 5]}] * 2, [{"number": [6, 7]}] * 2]

    def test_a_failed_first_batch_is_reported_when_it_is_asked_for(self) -> None:
        pipeline = self.BrokenOnce(lambda: iter([[2, 3], [4, 5]]), 2)
        iterator = iterate(pipeline, size=4, auto_reset=True)
        with pytest.raises(SampleError, match="cannot read"):
            next(iterator)
        assert numbers(rest_of_epoch(iterator)) == [[4, 5]]

    def test_a_failure_in_a_dropped_batch_is_not_reported(self) -> None:
        pipeline = self.BrokenOnce(lambda: iter([[0, 1], [2, 3], [4, 5]]), 2)
        iterator = iterate(pipeline, size=3, last_batch_policy=DROP)
        assert numbers(iterator) == [[0, 1]]
        assert pipeline.num_taken == 2
        assert numbers(iterator) == [[4, 5]]

    def test_a_failed_conversion_releases_the_outputs(self) -> None:
        class Broken(ListAdapter):
            def from_tensor(self, tensor: list[int]) -> list[int]:
                if tensor[0] == 2:
                    raise ValueError("cannot convert")
                return tensor

        iterator = BaseIterator(source_pipeline(3, 2), ["number"], Broken())
        next(iterator)
        with pytest.raises(ValueError, match="cannot convert"):
            next(iterator)
        assert next(iterator)[0]["number"] == [4, 5]

    @pytest.mark.parametrize("prepare", [False, True])
    def test_drop_with_a_shard_smaller_than_a_batch(self, prepare: bool) -> None:
        options = {
            "reader_name": "reader",
            "last_batch_policy": DROP,
            "prepare_first_batch": prepare,
        }
        if prepare:
            with pytest.raises(PipelineStateError, match="at least one batch"):
                iterate(reader_pipeline(3, 4), **options)
            return
        iterator = iterate(reader_pipeline(3, 4), **options)
        assert (len(iterator), iterator.size) == (0, 3)
        assert [list(iterator) for _ in range(3)] == [[], [], []]

    def test_an_empty_source_cannot_be_prepared(self) -> None:
        with pytest.raises(PipelineStateError, match="got none"):
            iterate(source_pipeline(0, 2))
        assert list(iterate(source_pipeline(0, 2), prepare_first_batch=False)) == []

    def test_wrong_number_of_outputs(self) -> None:
        with pytest.raises(ArgumentValueError, match="got 2 names for 1 outputs"):
            BaseIterator(reader_pipeline(4, 2), ["a", "b"], ListAdapter(), size=4)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": 0}, ArgumentValueError, r"size: must be positive.*got 0"),
        ({"size": 2.5}, ArgumentTypeError, r"size: must be an integer \(got 2.5\)"),
        ({"size": 4, "reader_name": "reader"}, ArgumentValueError, "size: must not be given"),
        (
            {"last_batch_padded": True, "reader_name": "reader"},
            ArgumentValueError,
            "last_batch_padded: must not be given",
        ),
        ({"last_batch_policy": 0}, ArgumentValueError, r"last_batch_policy: .*\(got 0\)"),
        ({"last_batch_policy": "most"}, ArgumentValueError, r"or its name"),
        ({"auto_reset": "maybe"}, ArgumentValueError, r"auto_reset: .*\(got 'maybe'\)"),
        ({"auto_reset": 1}, ArgumentValueError, r"auto_reset: .*\(got 1\)"),
        ({"output_types": ["sparse"]}, ArgumentValueError, r"output_types: .*got \['sparse'\]"),
        ({"output_types": []}, ArgumentValueError, "output_types: must have an entry"),
    ],
)
def test_contradictory_options(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        iterate(reader_pipeline(4, 2), **options)


@pytest.mark.parametrize("policy", [PARTIAL, DROP, FILL])
def test_last_batch_policy_by_its_name(policy: LastBatchPolicy) -> None:
    for name in (policy.name, policy.name.lower()):
        iterators = [
            iterate(reader_pipeline(5, 2), reader_name="reader", last_batch_policy=value)
            for value in (policy, name)
        ]
        first, second = ([len(batch[0]["number"]) for batch in one] for one in iterators)
        assert first == second


@pytest.mark.parametrize(
    ("pipelines", "error", "message"),
    [
        ([], ArgumentConflictError, "at least one pipeline"),
        (None, ArgumentConflictError, r"at least one pipeline \(got None\)"),
        (["pipeline"], ArgumentTypeError, r"\(got 'pipeline'\)"),
        (
            [reader_pipeline(4, 2), reader_pipeline(4, 3)],
            ArgumentValueError,
            r"same batch size \(got \[2, 3\]\)",
        ),
        (
            [reader_pipeline(4, 2), reader_pipeline(5, 2)],
            ArgumentValueError,
            r"same num_samples in all pipelines \(got \[4, 5\]\)",
        ),
        (
            [reader_pipeline(4, 2, 2, 0), reader_pipeline(4, 2, 3, 0)],
            ArgumentValueError,
            "same num_shards",
        ),
        (
            [reader_pipeline(4, 2, pad=True), reader_pipeline(4, 2)],
            ArgumentValueError,
            "same pad_last_batch",
        ),
        (
            [reader_pipeline(4, 2, stick=True), reader_pipeline(4, 2)],
            ArgumentValueError,
            "same stick_to_shard",
        ),
    ],
)
def test_unsuitable_pipelines(pipelines: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        iterate(pipelines, reader_name="reader")


def test_unknown_size_needs_a_single_pipeline() -> None:
    with pytest.raises(ArgumentValueError, match="-1 for a single pipeline"):
        iterate([source_pipeline(2, 2), source_pipeline(2, 2)])


@pytest.mark.parametrize(
    ("output_map", "error"),
    [("number", ArgumentTypeError), ([1], ArgumentTypeError), ([], ArgumentValueError)],
)
def test_unsuitable_names(output_map: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="output_map: must"):
        BaseIterator(reader_pipeline(4, 2), output_map, ListAdapter(), size=4)
    with pytest.raises(ArgumentValueError, match="distinct names"):
        BaseIterator(reader_pipeline(4, 2), ["a", "a"], ListAdapter(), size=4)


def test_fill_last_batch_is_deprecated() -> None:
    for fill, last in ((True, [4, 0]), (False, [4])):
        with pytest.warns(DeprecationWarning, match="Use last_batch_policy"):
            iterator = iterate(reader_pipeline(5, 2), reader_name="reader", fill_last_batch=fill)
        assert numbers(iterator)[-1] == last


def test_a_policy_without_a_size_warns() -> None:
    for options in ({"last_batch_policy": DROP}, {"last_batch_padded": True}):
        with pytest.warns(UserWarning, match="no effect"):
            iterate(source_pipeline(2, 2), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(iterate(source_pipeline(2, 2)))) == 2


def test_the_first_batch_is_prepared_on_request_only() -> None:
    prepared, lazy = reader_pipeline(4, 2), reader_pipeline(4, 2)
    iterators = [
        iterate(prepared, reader_name="reader"),
        iterate(lazy, reader_name="reader", prepare_first_batch=False),
    ]
    assert (prepared.num_taken, lazy.num_taken) == (1, 0)
    assert [numbers(iterator) for iterator in iterators] == [[[0, 1], [2, 3]]] * 2


def test_an_iterator_is_freed_without_the_cycle_collector() -> None:
    pipeline = reader_pipeline(4, 2)
    reference = weakref.ref(pipeline)
    gc.disable()
    try:
        list(iterate(pipeline, reader_name="reader"))
        del pipeline
        assert reference() is None
    finally:
        gc.enable()
