"""Iterators and loaders over pipelines whose batches are divided by the lengths of samples."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

from dali_core import Loader
from dali_core.adapters import Adapter
from dali_core.batching import Budget, Pack
from dali_core.errors import ArgumentConflictError, StateMismatchError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.batching.test_planned_pipelines import LENGTHS, RULES, Numbers, numbers, planned


class ArrayAdapter(Adapter):
    """Arrays are those of NumPy."""

    name = "array"

    def from_tensor(self, tensor: Any) -> np.ndarray:
        return np.asarray(tensor)


BUDGET = RULES["budget"]
READER = "readers_python_indices_0"


def flat(batch: Any) -> list[int]:
    return [int(one) for one in np.asarray(batch[0]).reshape(-1)]


def iterate(rank: int = 0, ranks: int = 1, rule: Any = BUDGET, **options: Any) -> BaseIterator:
    options.setdefault("prepare_first_batch", False)
    pad = options.pop("pad", False)
    pipeline = numbers(rank, ranks, batching=rule, pad=pad)
    return BaseIterator(pipeline, ["number"], ArrayAdapter(), reader_name=READER, **options)


def of_iterator(batch: Any) -> list[int]:
    return [int(one) for one in np.asarray(batch[0]["number"]).reshape(-1)]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("prepared", [False, True])
def test_epochs_of_an_iterator_are_those_of_the_plan(name: str, prepared: bool) -> None:
    iterator = iterate(rule=RULES[name], prepare_first_batch=prepared)
    steps = planned(RULES[name], 1, 3)
    for epoch in range(3):
        found = [of_iterator(batch) for batch in iterator]
        length = len(iterator)
        assert len(found) == length
        assert found == [step[0] for step in steps[:length]]
        assert iterator.epoch == epoch
        steps = steps[length:]
    assert not steps


def test_state_of_an_iterator_at_every_step() -> None:
    iterator, other = iterate(), iterate()
    expected = [step[0] for step in planned(BUDGET, 1, 2)]
    for step in range(0, len(expected) - 2, 3):
        state = json.loads(json.dumps(iterator.state_dict()))
        assert len(json.dumps(state)) < 4000
        other.load_state_dict(state)
        found = [of_iterator(batch) for batch in itertools.islice(endless(other), 2)]
        assert found == expected[step : step + 2]
        for _ in range(3):
            next(endless(iterator))


def endless(iterator: BaseIterator) -> Any:
    while True:
        try:
            yield next(iterator)
        except StopIteration:
            iterator.reset()


@pytest.mark.parametrize("now", [1, 2, 8])
def test_iterators_resume_with_another_number_of_processes(now: int) -> None:
    then = 4
    iterators = [iterate(rank, then) for rank in range(then)]
    for iterator in iterators:
        for _ in range(4):
            next(iterator)
    states = [iterator.state_dict() for iterator in iterators]
    others = [iterate(rank, now) for rank in range(now)]
    for rank, other in enumerate(others):
        other.load_state_dict(states[rank % then])
    bins = [batch for step in planned(BUDGET, 1, 1) for batch in step]
    rest = [[of_iterator(batch) for batch in other] for other in others]
    assert [one for step in zip(*rest, strict=True) for one in step] == bins[
        16 : len(bins) // now * now
    ]
    assert len({len(other) for other in others}) == 1


def test_resume_after_no_whole_number_of_steps() -> None:
    iterator = iterate(0, 2)
    next(iterator)
    with pytest.raises(StateMismatchError, match="whole number"):
        iterate(0, 4).load_state_dict(iterator.state_dict())


def test_seek_skip_restart_and_set_epoch() -> None:
    steps = [[one[0] for one in planned(BUDGET, 1, 6)]]
    lengths = [len(BUDGET.rule.plan(LENGTHS, seed=3, epoch=e, window=64)) for e in range(6)]
    epochs = [list(itertools.islice(rest, n)) for rest in [iter(steps[0])] for n in lengths]
    iterator = iterate()
    assert of_iterator(next(iterator)) == epochs[0][0]
    iterator.seek(4, 7)
    assert of_iterator(next(iterator)) == epochs[4][7]
    iterator.skip(3)
    assert of_iterator(next(iterator)) == epochs[4][11]
    iterator.restart()
    assert of_iterator(next(iterator)) == epochs[4][0]
    iterator.reset()  # leaves the epoch early
    assert of_iterator(next(iterator)) == epochs[5][0]
    iterator.set_epoch(1)
    assert of_iterator(next(iterator)) == epochs[1][0]
    iterator.set_epoch(5)
    assert [of_iterator(batch) for batch in iterator] == epochs[5]
    iterator.set_epoch(2)
    assert [of_iterator(batch) for batch in iterator] == epochs[2]


@pytest.mark.parametrize("policy", LastBatchPolicy)
def test_last_step_of_an_epoch(policy: LastBatchPolicy) -> None:
    ranks = 5
    iterators = [iterate(rank, ranks, pad=True, last_batch_policy=policy) for rank in range(ranks)]
    bins = [one.tolist() for one in BUDGET.rule.plan(LENGTHS, seed=3, window=64)]
    assert len(bins) % ranks == 3
    found = [[of_iterator(batch) for batch in iterator] for iterator in iterators]
    flat_bins = [batch for step in zip(*found, strict=True) for batch in step]
    if policy is LastBatchPolicy.DROP:
        assert flat_bins == bins[: len(bins) // ranks * ranks]
    elif policy is LastBatchPolicy.PARTIAL:
        assert flat_bins == [*bins, [], []]
    else:
        assert flat_bins == [*bins, *bins[:2]]
        steps = [iterator.step for iterator in iterators]
        assert [step.weight for step in steps if step] == [1, 1, 1, 0, 0]
        assert [step.num_tokens for step in steps if step][3:] == [0, 0]


def test_tokens_of_a_step_are_known_without_communication() -> None:
    ranks = 4
    iterators = [iterate(rank, ranks) for rank in range(ranks)]
    assert iterators[0].step is None
    for _ in range(9):
        batches = [of_iterator(next(iterator)) for iterator in iterators]
        tokens = [int(LENGTHS[batch].sum()) for batch in batches]
        for iterator, batch, own in zip(iterators, batches, tokens, strict=True):
            step = iterator.step
            assert step is not None
            assert (step.num_samples, step.num_tokens) == (len(batch), own)
            assert step.global_tokens == sum(tokens)


def test_several_pipelines_in_one_process() -> None:
    pipelines = [numbers(rank, 2, batching=BUDGET) for rank in range(2)]
    iterator = BaseIterator(pipelines, ["number"], ArrayAdapter(), reader_name=READER)
    found = [[flat([shard["number"]]) for shard in batch] for batch in iterator]
    assert found == planned(BUDGET, 2, 1)
    step = iterator.step
    assert step is not None
    assert step.num_tokens == step.global_tokens == LENGTHS[[*found[-1][0], *found[-1][1]]].sum()


def test_description() -> None:
    text = str(iterate(1, 2).describe(2))
    report = BUDGET.rule.plan(LENGTHS, seed=3, window=64).report(2)
    assert f"epoch 0: {report.num_steps} steps, fill {report.fill:.4f}" in text
    least, median, most = report.step_tokens
    assert f"tokens of a step {least} to {most} (median {median})" in text
    assert "epoch 1: " in text
    assert "process 1 of 2" in text


@pytest.mark.parametrize("last_batch", ["partial", "drop", "pad"])
def test_loader(last_batch: Any) -> None:
    ranks = 5
    loaders = [
        Loader(numbers(rank, ranks, batching=BUDGET), last_batch=last_batch)
        for rank in range(ranks)
    ]
    bins = [one.tolist() for one in BUDGET.rule.plan(LENGTHS, seed=3, window=64)]
    rest = {"partial": [[], []], "drop": [], "pad": bins[:2]}[last_batch]
    expected = [*bins, *rest] if last_batch != "drop" else bins[: len(bins) // ranks * ranks]
    found = [[flat(batch) for batch in loader] for loader in loaders]
    assert [batch for step in zip(*found, strict=True) for batch in step] == expected
    assert {len(loader) for loader in loaders} == {len(expected) // ranks}
    step = loaders[0].step
    assert step is not None
    assert step.global_tokens == sum(
        int(LENGTHS[batch].sum()) for batch in expected[-ranks:][: ranks - len(rest)]
    )
    assert "at most" in str(loaders[0].describe(1))
    state = loaders[0].state_dict()
    assert len(json.dumps(state)) < 4000
    other = Loader(numbers(0, ranks, batching=BUDGET), last_batch=last_batch)
    other.load_state_dict(state)
    assert len([flat(batch) for batch in other]) > 0
    for loader in (*loaders, other):
        loader.close()


def test_loader_resumes_within_an_epoch() -> None:
    bins = [one.tolist() for one in BUDGET.rule.plan(LENGTHS, seed=3, window=64)]
    with Loader(numbers(batching=BUDGET)) as loader, Loader(numbers(batching=BUDGET)) as other:
        batches = iter(loader)
        for _ in range(6):
            next(batches)
        other.load_state_dict(loader.state_dict())
        assert [flat(batch) for batch in other] == bins[6:]


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(ArgumentConflictError, match="must not be 'fill'"):
        Loader(numbers(batching=BUDGET), last_batch="fill")
    with pytest.raises(ArgumentConflictError, match="steps_per_epoch: must be left out"):
        Loader(numbers(batching=BUDGET), steps_per_epoch=3)
    with pytest.raises(ArgumentConflictError, match="reader_name: must be given"):
        BaseIterator(numbers(batching=BUDGET), ["number"], ArrayAdapter(), size=10)
    different = [numbers(0, 2, batching=BUDGET), numbers(1, 2, batching=Budget(299).windows(64))]
    with pytest.raises(ArgumentConflictError, match="same batching"):
        BaseIterator(different, ["number"], ArrayAdapter(), reader_name=READER)


def test_first_batch_does_not_count_the_epoch() -> None:
    lengths = np.full(10**6, 10, np.int32)
    rule = Pack(100).windows(1000)
    with Loader(numbers(data=Numbers(lengths), batching=rule)) as loader:
        next(iter(loader))
        plan = loader.pipelines[0].batching.bins(0)  # type: ignore[attr-defined]
        assert len(plan._windows) < 5
        assert len(loader) == 10**5
