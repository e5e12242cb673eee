"""Pipelines whose batches are divided by the lengths of samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, pipeline_def
from dali_core.batching import Bucket, Budget, Fixed, Pack, Planned
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    StateMismatchError,
)

LENGTHS = np.clip(np.random.default_rng(0).lognormal(np.log(30), 1.1, 300), 1, 100).astype(np.int32)
RULES = {
    "budget": Budget(300).windows(64),
    "pack": Pack(100).windows(64),
    "rows": Pack(100).windows(64, rows=3),
    "once": Budget(300).windows(64, repack="once"),
    "bucket": Bucket([20, 50, 100], batch_sizes=[6, 4, 2], group=4).windows(64),
    "few": Budget(300, max_samples=5).windows(64),
}


class Numbers:
    """Gives the number of each sample, and knows the lengths."""

    def __init__(self, lengths: Any = LENGTHS, bad: tuple[int, ...] = ()) -> None:
        self.lengths = lengths
        self.bad = bad

    def __len__(self) -> int:
        return len(LENGTHS) if self.lengths is None else len(self.lengths)

    def __getitem__(self, index: int) -> np.ndarray:
        if index in self.bad:
            raise ValueError("bad")
        return np.array([index])


@pipeline_def(num_threads=2)
def numbers(
    rank: int = 0,
    ranks: int = 1,
    *,
    data: Any = None,
    pad: bool = False,
    shuffle: bool = True,
) -> Any:
    return fn.readers.python(
        Numbers() if data is None else data,
        random_shuffle=shuffle,
        seed=3,
        shard_id=rank,
        num_shards=ranks,
        pad_last_batch=pad,
    )


def take(pipeline: Pipeline, count: int) -> list[list[int]]:
    return [[int(np.asarray(one)[0]) for one in pipeline.run()[0]] for _ in range(count)]


def planned(batching: Planned, ranks: int, epochs: int, pad: bool = False) -> list[list[list[int]]]:
    """Return what each rank gives at each step, from plans by themselves."""
    rows, steps = batching.rows, []
    for epoch in range(epochs):
        plan = batching.rule.plan(  # type: ignore[attr-defined]
            LENGTHS, seed=3, epoch=epoch, window=batching.window, repack=batching.repack
        )
        bins = [one.tolist() for one in plan]
        while pad and len(bins) % (rows * ranks):
            bins.append(None)
        for first in range(0, len(bins) - rows * ranks + 1, rows * ranks):
            step = [bins[first + rank * rows :][:rows] for rank in range(ranks)]
            steps.append([[i for row in mine if row for i in row] for mine in step])
    return steps


@pytest.mark.parametrize("ranks", [1, 2, 8])
@pytest.mark.parametrize("name", RULES)
def test_batches_are_those_of_the_plan(name: str, ranks: int) -> None:
    expected = planned(RULES[name], ranks, 3)
    pipelines = [numbers(rank, ranks, batching=RULES[name]) for rank in range(ranks)]
    found = [take(pipeline, len(expected)) for pipeline in pipelines]
    assert [list(step) for step in zip(*found, strict=True)] == expected
    assert len({len(batch) for batch in found[0]}) > 1 or name == "few"


@pytest.mark.parametrize(
    "options",
    [
        {"num_threads": 1},
        {"prefetch_queue_depth": 5},
        {"exec_async": False, "exec_pipelined": False},
    ],
)
def test_threads_and_prefetching_change_nothing(options: dict[str, Any]) -> None:
    expected = [step[0] for step in planned(RULES["budget"], 1, 2)]
    assert take(numbers(batching=RULES["budget"], **options), len(expected)) == expected


def test_random_numbers_of_a_sample_do_not_depend_on_its_batch() -> None:
    @pipeline_def(num_threads=2, seed=5)
    def drawn() -> Any:
        data = fn.readers.python(Numbers(), random_shuffle=True, seed=3)
        return data, fn.random.uniform(range=(0.0, 1.0))

    def by_sample(**options: Any) -> dict[int, float]:
        pipeline, found = drawn(**options), {}
        while len(found) < len(LENGTHS):
            index, value = pipeline.run()
            found |= {
                int(np.asarray(i)[0]): float(np.asarray(v))
                for i, v in zip(index, value, strict=True)
            }
        return found

    assert by_sample(batching=RULES["budget"]) == by_sample(batch_size=10)


@pytest.mark.parametrize("name", RULES)
def test_resume_at_every_step_equals_continuing(name: str) -> None:
    expected = [step[0] for step in planned(RULES[name], 1, 2)]
    pipeline = numbers(batching=RULES[name])
    resumed = numbers(batching=RULES[name])
    for step in range(0, len(expected) - 3, 1 + len(expected) // 40):
        pipeline.load_state_dict(json.loads(json.dumps(pipeline.state_dict())))
        state = pipeline.state_dict()
        assert len(json.dumps(state)) < 1000
        resumed.load_state_dict(state)
        assert take(resumed, 3) == expected[step : step + 3]
        take(pipeline, min(1 + len(expected) // 40, len(expected) - step))


@pytest.mark.parametrize("now", [1, 2, 8])
@pytest.mark.parametrize("name", ["budget", "rows", "once"])
def test_resume_with_another_number_of_processes(name: str, now: int) -> None:
    then, steps = 4, 4
    bins = [batch for step in planned(RULES[name], 1, 1) for batch in step]
    pipelines = [numbers(rank, then, batching=RULES[name]) for rank in range(then)]
    states = []
    for pipeline in pipelines:
        take(pipeline, steps)
        states.append(pipeline.state_dict())
    others = [numbers(rank, now, batching=RULES[name]) for rank in range(now)]
    for rank, other in enumerate(others):
        other.load_state_dict(states[rank % then])
    found = [take(other, 16 // now) for other in others]
    order = [batch for step in zip(*found, strict=True) for batch in step]
    assert order == bins[then * steps : then * steps + 16]


def test_resume_after_no_whole_number_of_steps() -> None:
    pipeline = numbers(0, 2, batching=RULES["budget"])
    take(pipeline, 3)
    with pytest.raises(StateMismatchError, match="whole number of steps"):
        numbers(0, 4, batching=RULES["budget"]).load_state_dict(pipeline.state_dict())


def test_padded_epochs_give_each_sample() -> None:
    ranks = 4
    expected = planned(RULES["budget"], ranks, 2, pad=True)
    pipelines = [numbers(rank, ranks, batching=RULES["budget"], pad=True) for rank in range(ranks)]
    found = [take(pipeline, len(expected)) for pipeline in pipelines]
    for step, batches in enumerate(expected):
        for rank, batch in enumerate(batches):
            assert found[rank][step] == batch or not batch
            assert found[rank][step]
    given = [i for step in expected[: len(expected) // 2] for batch in step for i in batch]
    assert sorted(given) == list(range(len(LENGTHS)))


def test_lengths_beside_a_reader_of_files(tmp_path: Path) -> None:
    sizes = [5, 1, 7, 3, 2, 6, 4, 8]
    for number, size in enumerate(sizes):
        (tmp_path / f"{number}.bin").write_bytes(bytes(size))

    @pipeline_def(num_threads=2)
    def files() -> Any:
        content, _ = fn.readers.file(files=sorted(map(str, tmp_path.iterdir())))
        return content

    pipeline = files(batching=Budget(16), lengths=np.array(sizes))
    plan = [[sizes[i] for i in one] for one in Budget(16).plan(sizes, shuffle=False)]
    batches = [[len(np.asarray(one)) for one in pipeline.run()[0]] for _ in plan]
    assert batches == plan


def test_several_readers_have_the_same_samples() -> None:
    @pipeline_def(num_threads=2, batching=RULES["budget"])
    def two(seed: int) -> Any:
        first = fn.readers.python(Numbers(), random_shuffle=True, seed=3)
        return first, fn.readers.python(Numbers(), random_shuffle=True, seed=seed)

    first, second = two(3).run()
    assert [i.tolist() for i in map(np.asarray, first)] == [
        i.tolist() for i in map(np.asarray, second)
    ]
    with pytest.raises(ArgumentConflictError, match="order must be that of"):
        two(4).build()


def test_sampler_with_repetitions() -> None:
    listed = np.random.default_rng(1).integers(0, 300, 200)

    @pipeline_def(num_threads=1, batching=Budget(300).windows(64))
    def sampled() -> Any:
        return fn.readers.python(Numbers(), sampler=listed)

    pipeline, found = sampled(), []
    while len(found) < 200:
        found += take(pipeline, 1)[0]
    assert sorted(found) == sorted(listed.tolist())


def test_bad_samples_leave_the_plan_as_it_is() -> None:
    expected = [step[0] for step in planned(RULES["budget"], 1, 1)]
    bad = {expected[1][0], expected[4][-1]}
    pipeline = numbers(
        data=Numbers(bad=tuple(bad)), batching=RULES["budget"], on_sample_error="replace"
    )
    found = take(pipeline, len(expected))
    for batch, wanted in zip(found, expected, strict=True):
        assert len(batch) == len(wanted)
        assert set(batch) == set(wanted) - bad
    assert len(pipeline.bad_samples) == 2


def test_states_of_other_lengths_or_rules_are_refused() -> None:
    state = numbers(batching=RULES["budget"]).state_dict()
    other = numbers(data=Numbers(LENGTHS[::-1].copy()), batching=RULES["budget"])
    with pytest.raises(StateMismatchError, match="lengths"):
        other.load_state_dict(state)
    for batching in ({"batching": Budget(299).windows(64)}, {"batching": Budget(300)}):
        with pytest.raises(StateMismatchError, match="batching"):
            numbers(**batching).load_state_dict(state)
    with pytest.raises(StateMismatchError, match="batching"):
        numbers(batch_size=10).load_state_dict(state)
    with pytest.raises(StateMismatchError, match="batching"):
        numbers(batching=RULES["budget"]).load_state_dict(numbers(batch_size=300).state_dict())


def test_damaged_states_are_refused() -> None:
    pipeline = numbers(batching=RULES["budget"])
    take(pipeline, 20)
    state = pipeline.state_dict()
    for window in ([0, 1, 10**6], [0, 10**6, 3], [0, 1, 65], [1, 0, 0], [0, 1, -1], [0], "x"):
        with pytest.raises(StateMismatchError):
            numbers(batching=RULES["budget"]).load_state_dict({**state, "window": window})
    with pytest.raises(StateMismatchError, match="a batch ends"):
        numbers(batching=RULES["budget"]).load_state_dict({**state, "place": [20, 2**32 - 1, 0]})


def test_arguments_that_do_not_fit() -> None:
    class Unknown(Numbers):
        lengths = property(lambda self: None, lambda self, value: None)  # type: ignore[assignment]

    with pytest.raises(ArgumentConflictError, match="must know the lengths"):
        numbers(data=Unknown(), batching=Budget(300)).build()
    with pytest.raises(ArgumentValueError, match="an entry for each of 300 samples"):
        numbers(batching=Budget(300), lengths=LENGTHS[1:]).build()
    with pytest.raises(ArgumentValueError, match="every sample must fit"):
        numbers(batching=Budget(50)).build()
    with pytest.raises(ArgumentConflictError, match="batching that uses them"):
        numbers(batch_size=3, lengths=LENGTHS)
    with pytest.raises(ArgumentConflictError, match="given once"):
        numbers(batching=Budget(300).windows(lengths=LENGTHS), lengths=LENGTHS)
    with pytest.raises(ArgumentTypeError, match="must be Budget"):
        numbers(batching="budget")
    with pytest.raises(ArgumentConflictError, match="batch_size must not be given"):
        numbers(batching=Bucket([100], batch_sizes=3), batch_size=3)
    with pytest.raises(ArgumentConflictError, match="must not split"):
        numbers(batching=Pack(100, "split"))

    @pipeline_def(num_threads=1, batching=Budget(300))
    def without_reader() -> Any:
        return fn.random.uniform(range=(0.0, 1.0))

    with pytest.raises(GraphError, match="a reader must give"):
        without_reader().build()


def test_batch_size_beside_the_batching() -> None:
    assert numbers(batching=Fixed(4)).batch_size == 4
    assert max(map(len, take(numbers(batching=Budget(300), batch_size=7), 30))) == 7
    rows = [batch for step in planned(Pack(100).windows(rows=2), 1, 1) for batch in step]
    assert take(numbers(batching=Pack(100), batch_size=2), 5) == rows[:5]


def test_an_epoch_too_small_for_all_processes() -> None:
    pipeline = numbers(0, 200, batching=Budget(10**6))
    with pytest.raises(ArgumentValueError, match="must have a batch for each of 200 processes"):
        pipeline.build()
