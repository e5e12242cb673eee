"""A mismatch raises an error before anything changes, which states what to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import (
    ArgumentTypeError,
    DaliCoreError,
    PipelineStateError,
    StateMismatchError,
)
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.rest_of_epoch import rest_of_epoch
from tests.state.listing import ListAdapter
from tests.state.making import COUNT, Lines, batches, drawing, reading, take, taking, write_files

OPTIONS = {"num_threads": 1, "device_id": None}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture
def pipeline(files: dict[str, Any]) -> Pipeline:
    return reading(files, {**OPTIONS, "seed": 6}, random_shuffle=True, num_shards=2)


def iterator_over(pipeline: Pipeline, **arguments: Any) -> BaseIterator:
    names = ["label", "uniform", "normal"]
    return BaseIterator(pipeline, names, ListAdapter(), **{"reader_name": "reader", **arguments})


MALFORMED: list[tuple[Callable[[dict[str, Any]], Any], type[DaliCoreError], str]] = [
    (lambda state: None, ArgumentTypeError, r"must be a dict \(got a NoneType\)"),
    (lambda state: json.dumps(state), ArgumentTypeError, r"must be a dict \(got a str\)"),
    (lambda state: {}, StateMismatchError, r"must have the entry 'kind' \(got \[\]\)"),
    (
        lambda state: {"kind": 1},
        StateMismatchError,
        r"'kind' of the state must be of type str \(got 1",
    ),
    (lambda state: {"kind": "model"}, StateMismatchError, "got that of a model"),
    (lambda state: {**state, "version": 2}, StateMismatchError, r"got 2\).*a newer one"),
    (lambda state: {**state, "version": 0}, StateMismatchError, r"version 1 to 1 \(got 0\)"),
    (lambda state: {**state, "version": "1"}, StateMismatchError, "'version' .* of type int"),
]
"""Creates an object that is not a state of this library, and the expected error message."""


@pytest.mark.parametrize(("change", "kind", "message"), MALFORMED)
def test_malformed_states(
    change: Callable[[dict[str, Any]], Any],
    kind: type[DaliCoreError],
    message: str,
    pipeline: Pipeline,
) -> None:
    with pytest.raises(kind, match=rf"^Pipeline\.load_state_dict: .*{message}"):
        pipeline.load_state_dict(change(pipeline.state_dict()))
    iterator = iterator_over(pipeline)
    with pytest.raises(kind, match=rf"^iterator\.load_state_dict: .*{message}"):
        iterator.load_state_dict(change(iterator.state_dict()))


def test_every_entry_is_needed_and_checked(pipeline: Pipeline) -> None:
    iterator = iterator_over(pipeline)
    for owner in (pipeline, iterator):
        state = owner.state_dict()
        for name in state:
            less = {key: value for key, value in state.items() if key != name}
            with pytest.raises(StateMismatchError, match=f"must have the entry '{name}'"):
                owner.load_state_dict(less)
            if state[name] is not None and name != "reader_name":
                with pytest.raises(StateMismatchError, match=name.replace("_", ".")):
                    owner.load_state_dict({**state, name: object()})
        owner.load_state_dict(state)
    for wrong in ({"samples": [{"sample": 3}]}, {"samples": 3}, {"last_key": 3}):
        with pytest.raises(StateMismatchError, match="bad_samples of the state must be"):
            pipeline.load_state_dict({**pipeline.state_dict(), "bad_samples": wrong})
    for place in ([1, 2], [1, 2, -3], [1, 2, "3"], [True, 2, 3]):
        with pytest.raises(StateMismatchError, match="'place' .* must be 3 numbers from 0 on"):
            pipeline.load_state_dict({**pipeline.state_dict(), "place": place})


def test_states_of_other_classes_raise(pipeline: Pipeline) -> None:
    iterator = iterator_over(pipeline)
    with pytest.raises(StateMismatchError, match=r"that of a dali_core\.Pipeline"):
        pipeline.load_state_dict(iterator.state_dict())
    with pytest.raises(StateMismatchError, match=r"got that of a dali_core\.Pipeline"):
        iterator.load_state_dict(pipeline.state_dict())


def test_other_data_and_order(files: dict[str, Any], pipeline: Pipeline) -> None:
    same = {"random_shuffle": True, "num_shards": 2}
    fewer = {**files, "files": files["files"][1:], "labels": files["labels"][1:]}
    cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        (fewer, same, rf"number of samples .* \(got {COUNT - 1}, and {COUNT} in the state\)"),
        (files, {**same, "seed": 8}, "seed and random_shuffle"),
        (files, {**same, "random_shuffle": False}, "seed and random_shuffle"),
        (files, {**same, "num_shards": 3}, r"num_shards .*got 3, and 2 .*interleaved"),
        (files, {**same, "stick_to_shard": True}, "stick_to_shard .*got True, and False"),
        (files, {**same, "pad_last_batch": True}, "pad_last_batch .*got True, and False"),
        (files, {**same, "interleaved_shards": True}, "interleaved.*got True, and False"),
        ({**files, "name": "other"}, same, "name .*got 'other', and 'reader'"),
    ]
    for data, reader, message in cases:
        other = reading(data, OPTIONS, **reader)
        with pytest.raises(
            StateMismatchError,
            match=rf"fn.readers.file at .*making.py.*{message}|"
            rf"{message}",
        ):
            other.load_state_dict(pipeline.state_dict())


def test_another_graph(files: dict[str, Any], pipeline: Pipeline) -> None:
    def build(define: Callable[[Any], Any]) -> Pipeline:
        with Pipeline(3, **OPTIONS) as other:
            _, labels = fn.readers.file(**files, random_shuffle=True, num_shards=2)
            other.set_outputs(*define(labels))
        return other

    def copied(labels: Any) -> Any:
        return fn.python_function(labels, function=lambda label: label)

    cases: list[tuple[Callable[[Any], Any], str]] = [
        (
            lambda x: (x, fn.random.normal(), fn.random.normal(copied(x))),
            "operator 1 is fn.random.n",
        ),
        (lambda x: (x, copied(x)), "there are 2 operators here, and were 4"),
        (lambda x: (x, fn.random.normal(copied(x)), fn.random.uniform()), "operator 2 is"),
    ]
    for define, message in cases:
        with pytest.raises(StateMismatchError, match=message):
            build(define).load_state_dict(pipeline.state_dict())

    with Pipeline(3, **OPTIONS) as one:
        a, b = fn.random.uniform(), fn.random.uniform()
        one.set_outputs(a, b)
    with Pipeline(3, **OPTIONS) as two:
        a, b = fn.random.uniform(), fn.random.uniform()
        two.set_outputs(b, a)
    with pytest.raises(StateMismatchError, match="connected in another way"):
        two.load_state_dict(one.state_dict())


def test_arguments_may_change(files: dict[str, Any]) -> None:
    """Larger images during training do not change the graph; nor does moved data."""

    def make(top: float) -> Pipeline:
        with Pipeline(3, **OPTIONS, seed=1) as pipeline:
            pipeline.set_outputs(fn.random.uniform(range=[0.0, top]))
        return pipeline

    before = make(1.0)
    before.run()
    after = make(2.0)
    after.load_state_dict(before.state_dict())
    np.testing.assert_allclose(after.run()[0].as_array(), 2 * before.run()[0].as_array())


def test_seeds() -> None:
    given = drawing({"batch_size": 3, "seed": 7, **OPTIONS})
    given.run()
    with pytest.raises(StateMismatchError, match=r"seed .* must be 8 \(got 7\)\. Leave out seed"):
        drawing({"batch_size": 3, "seed": 8, **OPTIONS}).load_state_dict(given.state_dict())
    for state in (given.state_dict(), given.state_dict() | {"seed": 12}):
        # The native operators have been built with the seed that was drawn.
        unknown = drawing({"batch_size": 3, **OPTIONS})
        unknown.run()
        before = unknown.state_dict()["seed"]
        unknown.load_state_dict(state)
        assert unknown.state_dict()["seed"] == state["seed"] != before
        expected = drawing({"batch_size": 3, "seed": state["seed"], **OPTIONS})
        expected.run()
        assert [take(unknown) for _ in range(3)] == [take(expected) for _ in range(3)]
        unknown.close()


def test_another_seed_does_not_disturb_sources() -> None:
    """A source object continues where it was, though the runner was rebuilt."""
    source = Lines()
    pipeline = taking({"batch_size": 3, **OPTIONS}, source, cycle="quiet")
    other = taking({"batch_size": 3, "seed": 5, **OPTIONS}, Lines(), cycle="quiet")
    for _ in range(4):
        take(pipeline), take(other)
    pipeline.load_state_dict(other.state_dict())
    assert pipeline.state_dict()["seed"] == 5
    assert [take(pipeline) for _ in range(9)] == [take(other) for _ in range(9)]


def test_mismatch_leaves_the_pipeline_unchanged(pipeline: Pipeline, files: dict[str, Any]) -> None:
    expected = reading(files, {**OPTIONS, "seed": 6}, random_shuffle=True, num_shards=2)
    assert take(pipeline) == take(expected)
    for name, value in (("graph", {}), ("readers", []), ("place", [0]), ("seed", 1)):
        with pytest.raises(StateMismatchError):
            pipeline.load_state_dict({**expected.state_dict(), name: value})
        assert take(pipeline) == take(expected)


def test_iterators_that_count_otherwise(files: dict[str, Any], pipeline: Pipeline) -> None:
    state = iterator_over(pipeline).state_dict()

    def like_it(**arguments: Any) -> BaseIterator:
        same = reading(files, OPTIONS, random_shuffle=True, num_shards=2)
        return iterator_over(same, **arguments)

    for arguments, message in (
        ({"last_batch_policy": LastBatchPolicy.DROP}, "last_batch_policy .*'DROP'.*got 'FILL'"),
        ({"reader_name": None, "size": 9}, r"reader_name .*None.*got 'reader'"),
    ):
        with pytest.raises(StateMismatchError, match=message):
            like_it(**arguments).load_state_dict(state)
    like_it(auto_reset=True, prepare_first_batch=False).load_state_dict(state)
    like_it(reader_name=None).load_state_dict(state)  # it is found
    with pytest.raises(StateMismatchError, match="number of pipelines .* must be 1 .got 2"):
        like_it().load_state_dict({**state, "pipelines": [*state["pipelines"], {"kind": 1}]})


def test_checkpoints_that_do_not_belong_together(files: dict[str, Any]) -> None:
    def make(*checkpoints: bytes | None) -> BaseIterator:
        pipelines = [
            reading(files, {**OPTIONS, "checkpoint": checkpoint}, num_shards=2, shard_id=shard)
            for shard, checkpoint in enumerate(checkpoints)
        ]
        return BaseIterator(
            pipelines, ["label", "uniform", "normal"], ListAdapter(), reader_name="reader"
        )

    iterator = make(None, None)
    one, two = iterator.checkpoints()
    next(make(one, two))
    for wrong in ((two, one), (one, one), (one, None), (None, two)):
        with pytest.raises(StateMismatchError, match="must all be made with their own checkpoints"):
            make(*wrong)


@pytest.mark.parametrize("checkpoint", ["garbage", b"garbage", b"", b"\xff\xfe", "[]", "{}"])
def test_checkpoints_that_are_none(checkpoint: Any) -> None:
    pipeline = drawing({"batch_size": 1, "checkpoint": checkpoint, **OPTIONS})
    for _ in range(2):  # it does not become usable by the failure
        with pytest.raises((StateMismatchError, ArgumentTypeError), match="checkpoint"):
            pipeline.run()
    assert not pipeline.is_restored_from_checkpoint
    with pytest.raises(ArgumentTypeError, match=r"checkpoint must be bytes.*load_state_dict"):
        Pipeline(1, checkpoint={})  # type: ignore[arg-type]


class Strange:
    """A source with a state of any kind."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def __iter__(self) -> Iterator[Any]:
        yield from batches(5)()

    def state_dict(self) -> Any:
        if isinstance(self.state, Exception):
            raise self.state
        return self.state

    def load_state_dict(self, state: Any) -> None:
        raise NotImplementedError


def test_sources_whose_state_is_not_plain() -> None:
    pipeline = taking({"batch_size": 3, **OPTIONS}, Strange({"array": np.zeros(3)}))
    plain = taking({"batch_size": 3, "seed": pipeline.state_dict()["seed"], **OPTIONS}, batches(5))
    assert take(pipeline) == take(plain)
    with pytest.raises(StateMismatchError, match=r"'external_source.*numbers, texts.*tolist"):
        pipeline.state_dict()
    # Without a request of the state there is no error.
    pipeline = taking({"batch_size": 3, **OPTIONS}, Strange(OSError("disk is full")))
    names = ["data", "uniform", "coin"]
    iterator = BaseIterator(pipeline, names, ListAdapter(), output_types=["list"] * 3)
    next(iterator), next(iterator)
    with pytest.raises(StateMismatchError, match=r"raised OSError\('disk is full'\)") as caught:
        iterator.state_dict()
    assert isinstance(caught.value.__cause__, OSError)
    assert len(list(rest_of_epoch(iterator))) == 3


def test_sources_that_cannot_start_over() -> None:
    def saved(source: Any, **arguments: Any) -> dict[str, Any]:
        pipeline = taking({"batch_size": 3, **OPTIONS}, source, **arguments)
        take(pipeline), take(pipeline)
        return pipeline.state_dict()

    used = taking({"batch_size": 3, "prefetch_queue_depth": 1, **OPTIONS}, batches(5)())
    take(used)
    with pytest.raises(PipelineStateError, match=r"fn.external_source at .*able to start over"):
        used.load_state_dict(used.state_dict() | {"sources": {}})
    used = taking({"batch_size": 3, "prefetch_queue_depth": 1, **OPTIONS}, batches(5)())
    take(used)
    # It is not restarted, but continued, if it has advanced less far.
    used.load_state_dict(saved(batches(5)()) | {"seed": 3})
    expected = taking({"batch_size": 3, "seed": 3, **OPTIONS}, batches(5)())
    take(expected), take(expected)
    assert [take(used) for _ in range(3)] == [take(expected) for _ in range(3)]
    shorter = taking({"batch_size": 3, **OPTIONS}, batches(1))
    with pytest.raises(StateMismatchError, match=r"at least the 2 items .*got 1"):
        shorter.load_state_dict(saved(batches(5)))
    other = taking({"batch_size": 3, **OPTIONS}, Lines())
    with pytest.raises(StateMismatchError, match="the one that the state is from"):
        other.load_state_dict(saved(batches(5)))

    def without_argument() -> list[np.ndarray]:
        return [np.zeros(1)] * 3

    unknown = taking({"batch_size": 3, **OPTIONS}, without_argument)
    with pytest.raises(PipelineStateError, match="must take the number of the batch"):
        unknown.load_state_dict(saved(without_argument))
    named = taking({"batch_size": 3, **OPTIONS}, batches(5), name="lines")
    with pytest.raises(StateMismatchError, match=r"those of \['lines'\] .*names of then"):
        named.load_state_dict(saved(batches(5)))
    untouched = taking({"batch_size": 3, **OPTIONS}, without_argument).state_dict()
    unknown.load_state_dict(untouched)


def test_items_that_fail_again_are_skipped_and_others_are_not() -> None:
    class Reading:
        def __init__(self, *bad: int) -> None:
            self.bad = bad

        def __iter__(self) -> Iterator[Any]:
            return iter(map(self.item, range(8)))

        def item(self, number: int) -> list[np.ndarray]:
            if number in self.bad:
                raise OSError(f"cannot read {number}")
            return [np.int64([number])] * 3

    def make(*bad: int) -> Pipeline:
        return taking({"batch_size": 3, "seed": 1, **OPTIONS}, Reading(*bad))

    before = make(1, 4)
    for _ in range(3):
        take(before)
    after = make(1, 4)
    after.load_state_dict(before.state_dict())
    assert [take(after) for _ in range(6)] == [take(before) for _ in range(6)]
    fresh = make(1, 4)
    take(fresh), take(fresh), take(fresh)
    with pytest.raises(PipelineStateError, match="give its first 3 items again .item 2 failed"):
        make(1, 2).load_state_dict(fresh.state_dict())


def test_fed_data_must_be_fed_again_after_resume() -> None:
    def make() -> Pipeline:
        pipeline = taking({"batch_size": 2, "seed": 1, "prefetch_queue_depth": 2, **OPTIONS}, None)
        pipeline.build()
        return pipeline

    def feed(pipeline: Pipeline, number: int) -> None:
        name = next(iter(pipeline._run.runner.steps)).name  # type: ignore[union-attr]
        pipeline.feed_input(name, [np.int64([number]), np.int64([-number])])

    before = make()
    for number in range(5):
        feed(before, number)
    given = [take(before) for _ in range(2)]
    state = before.state_dict()
    given += [take(before) for _ in range(2)]
    for after in (make(), before):
        after.load_state_dict(state)
        after.reset()  # has no effect in mid-epoch, and consumes nothing
        for number in range(2, 5):
            feed(after, number)
        assert [take(after) for _ in range(2)] == given[2:]
