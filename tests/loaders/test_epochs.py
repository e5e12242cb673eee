"""Epochs of loaders: every sample once, whatever happens between and within them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from dali_core import Loader, compat, fn
from dali_core import pipeline_def as define_pipeline
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    PipelineStateError,
    SampleError,
    StateMismatchError,
)
from tests.loaders.pipelines import flat, from_source, loader, numbers, read

LAST_BATCHES = {"partial": [4, 4, 2], "drop": [4, 4], "pad": [4, 4, 4]}


@pytest.mark.parametrize("last_batch", LAST_BATCHES)
def test_every_epoch_is_complete(numbered: Path, last_batch: Any) -> None:
    batches = loader(numbered, last_batch=last_batch)
    epochs = [read(batches) for _ in range(5)]
    for epoch in epochs:
        assert [len(batch) for batch in epoch] == LAST_BATCHES[last_batch]
        assert len(epoch) == len(batches)
        given = flat(epoch)
        if last_batch == "partial":
            assert sorted(given) == list(range(10))
        elif last_batch == "drop":
            assert len(set(given)) == 8
        else:
            assert set(given) == set(range(10))
            assert given[9] == given[10] == given[11]
    assert len({tuple(flat(epoch)) for epoch in epochs}) == 5


def test_fill_continues_with_the_next_epoch(numbered: Path) -> None:
    batches = loader(numbered, last_batch="fill", reader_arguments={})
    assert read(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]
    assert read(batches) == [[2, 3, 4, 5], [6, 7, 8, 9]]
    assert len(batches) == 2


def test_sizes_that_fit_need_no_policy(numbered: Path) -> None:
    for last_batch in ("partial", "drop", "pad", "fill"):
        batches = loader(numbered, 8, last_batch=last_batch)
        for _ in range(3):
            epoch = read(batches)
            assert [len(batch) for batch in epoch] == [4, 4]
            assert sorted(flat(epoch)) == list(range(8))


@pytest.mark.parametrize("stick", [False, True])
@pytest.mark.parametrize("size", [8, 9, 10, 11])
def test_drop_never_drifts_between_unequal_shards(numbered: Path, size: int, stick: bool) -> None:
    shards = [
        loader(
            numbered,
            size,
            last_batch="drop",
            reader_arguments={"num_shards": 2, "shard_id": shard, "stick_to_shard": stick},
        )
        for shard in (0, 1)
    ]
    for _ in range(4):
        epochs = [read(shard) for shard in shards]
        assert [len(epoch) for epoch in epochs] == [1, 1] == list(map(len, shards))
        assert all(len(batch) == 4 for epoch in epochs for batch in epoch)
        assert len({*flat(epochs[0]), *flat(epochs[1])}) == 8


def test_drop_must_leave_a_batch(numbered: Path) -> None:
    with pytest.raises(ArgumentConflictError, match="must not be 'drop'.*3 samples for batches of"):
        loader(numbered, 3, last_batch="drop")


def test_empty_batches_of_shards_warn(numbered: Path) -> None:
    shard = {"num_shards": 2, "stick_to_shard": True}
    with pytest.warns(UserWarning, match="shards of 4 to 5 samples end some epochs with an empty"):
        batches = loader(numbered, 9, reader_arguments=shard)
    assert [len(batch) for batch in read(batches)] == [4, 0]
    assert [
        len(batch) for batch in read(loader(numbered, 9, last_batch="pad", reader_arguments=shard))
    ] == [4, 4]
    both = [numbers(numbered, 9, 4, shard_id=number, **shard) for number in (0, 1)]
    assert [len(batch) for batch in read(Loader(both))] == [8, 1]


def test_shards_together_give_every_sample_once(numbered: Path) -> None:
    shards = [
        loader(
            numbered,
            11,
            reader_arguments={"num_shards": 3, "shard_id": shard, "random_shuffle": True},
        )
        for shard in range(3)
    ]
    for _ in range(4):
        epochs = [read(shard) for shard in shards]
        assert sorted(flat([flat(epoch) for epoch in epochs])) == list(range(11))
        assert len({len(epoch) for epoch in epochs}) == 1


def test_leaving_a_loop_loses_nothing_of_the_next_epochs(numbered: Path) -> None:
    batches, whole = loader(numbered), loader(numbered)
    expected = [read(whole) for _ in range(6)]
    assert read(batches) == expected[0]
    for (first,) in batches:
        assert first.tolist() == expected[1][0]
        break
    assert read(batches) == expected[2]
    assert next(iter(batches))[0].tolist() == expected[3][0]
    assert batches.epoch == 3
    assert read(batches) == expected[4]
    loop = iter(batches)
    assert next(loop)[0].tolist() == expected[5][0]
    assert read(loop) == expected[5][1:]  # an iterator continues
    assert next(loop, None) is None


def test_programs_for_the_reference_get_the_same_epochs(numbered: Path) -> None:
    first_batch = read(loader(numbered))[0]
    compat.install()
    try:
        batches = loader(numbered)
        for (first,) in batches:
            assert first.tolist() == first_batch
            break
        assert sorted(flat(read(batches))) == list(range(10))
        with pytest.raises(ArgumentTypeError, match="len"):
            len(Loader(from_source(4, [4])))
    finally:
        compat.uninstall()


def test_a_loop_ends_when_another_begins(numbered: Path) -> None:
    batches = loader(numbered)
    first = iter(batches)
    second = iter(batches)
    with pytest.raises(PipelineStateError, match="another one was begun"):
        next(first)
    assert sorted(flat(read(second))) == list(range(10))
    third = iter(batches)
    batches.set_epoch(5)
    with pytest.raises(PipelineStateError, match="another one was begun"):
        next(third)


def test_restart_repeats_the_epoch(numbered: Path) -> None:
    batches = loader(numbered)
    read(batches)
    loop = iter(batches)
    begun = [next(loop)[0].tolist(), next(loop)[0].tolist()]
    batches.restart()
    assert batches.epoch == 1
    again = read(batches)
    assert again[:2] == begun
    assert sorted(flat(again)) == list(range(10))


def test_set_epoch(numbered: Path) -> None:
    whole = loader(numbered)
    expected = [read(whole) for _ in range(6)]
    batches = loader(numbered)
    for epoch in (0, 1, 4, 2, 2, 3):
        batches.set_epoch(epoch)
        assert read(batches) == expected[epoch]
    next(iter(batches))
    batches.set_epoch(5)
    assert read(batches) == expected[5]
    with pytest.raises(ArgumentValueError, match="must not be negative"):
        batches.set_epoch(-1)


@pytest.mark.parametrize("last_batch", ["partial", "drop", "pad", "fill"])
def test_skip(numbered: Path, last_batch: Any) -> None:
    for count in (0, 1):
        whole, batches = (loader(numbered, last_batch=last_batch) for _ in range(2))
        read(whole)
        read(batches)
        expected = [read(whole), read(whole)]
        batches.skip(count)
        assert read(batches) == expected[0][count:]
        assert read(batches) == expected[1]
    with pytest.raises(ArgumentValueError, match="must be a number of batches of epoch"):
        batches.skip(100)
    with pytest.raises(ArgumentTypeError, match="must be an integer"):
        batches.skip(1.5)  # type: ignore[arg-type]


def test_skip_within_an_epoch_of_steps(numbered: Path) -> None:
    whole, batches = (loader(numbered, steps_per_epoch=5) for _ in range(2))
    expected = read(whole)
    batches.skip(3)
    assert read(batches) == expected[3:]
    assert read(batches) == read(whole)


def test_a_state_resumes_after_every_batch(numbered: Path) -> None:
    for options in (
        {"last_batch": "partial"},
        {"last_batch": "drop"},
        {"last_batch": "pad"},
        {"last_batch": "fill"},
        {"steps_per_epoch": 4},
        {"last_batch": "partial", "prepare_first_batch": True},
    ):
        whole = loader(numbered, **options)
        states, expected = [], []
        for _ in range(2):
            for (number,) in whole:
                expected.append(number.tolist())
                states.append(json.loads(json.dumps(whole.state_dict())))
        expected += read(whole)
        for given, state in enumerate(states, start=1):
            batches = loader(numbered, **options)
            batches.load_state_dict(state)
            rest: list[list[int]] = []
            while len(rest) < len(expected) - given:
                epoch = read(batches)
                assert epoch
                rest += epoch
            assert rest == expected[given:], (options, given)


def test_a_resumed_epoch_is_not_rewound_by_its_number(numbered: Path) -> None:
    whole = loader(numbered)
    loop = iter(whole)
    next(loop)
    state = whole.state_dict()
    batches = loader(numbered)
    batches.load_state_dict(state)
    batches.set_epoch(0)
    batches.skip(1)
    assert read(batches) == read(loop)[1:]


def test_a_state_of_other_epochs_is_refused(numbered: Path) -> None:
    state = loader(numbered).state_dict()
    with pytest.raises(StateMismatchError, match="last_batch_policy"):
        loader(numbered, last_batch="pad").load_state_dict(state)


class Model:
    """A loader as its page describes it, over epochs that are known.

    Parameters
    ----------
    epochs : list
        The batches of each epoch.
    """

    def __init__(self, epochs: list[list[list[int]]]) -> None:
        self._epochs = epochs
        self.epoch = self._given = 0
        self._resumes = False

    def begin(self) -> None:
        is_over = self._given >= len(self._epochs[self.epoch])
        if self._given and (is_over or not self._resumes):
            self.epoch, self._given, self._resumes = self.epoch + 1, 0, False

    def loop(self, count: int) -> list[list[int]]:
        self.begin()
        batches = self._epochs[self.epoch][self._given :][:count]
        self._given += len(batches)
        if batches:
            self._resumes = False
        return batches

    def resume(self) -> None:
        self._resumes = True

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch or not self._resumes:
            self.epoch, self._given, self._resumes = epoch, 0, False

    def restart(self) -> None:
        self._given, self._resumes = 0, False

    def skip(self, count: int) -> None:
        self.begin()
        self._given += count
        self._resumes = True

    @property
    def num_left(self) -> int:
        """Number of batches of the epoch that a loop would begin."""
        copy = Model(self._epochs)
        copy.__dict__.update(self.__dict__)
        copy.begin()
        return len(self._epochs[copy.epoch]) - copy._given


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(numbered: Path, seed: int) -> None:
    """Loops, breaks, states, skips and jumps give what the rule says, batch by batch."""
    rng = random.Random(seed)
    options: dict[str, Any] = {"last_batch": rng.choice(["partial", "drop", "pad"])}
    size, batch_size = rng.randint(5, 14), rng.randint(1, 5)
    if rng.random() < 0.25:
        options = {"steps_per_epoch": rng.randint(1, 6)}
    whole = loader(numbered, size, batch_size, **options)
    model = Model([read(whole) for _ in range(16)])
    batches = loader(numbered, size, batch_size, **options)
    for _ in range(12):
        action = rng.choice(["loop", "loop", "loop", "state", "epoch", "restart", "skip"])
        if action == "loop":
            count = rng.choice([0, 1, 2, 100])
            loop = iter(batches)
            given = [next(loop) for _ in range(min(count, model.num_left))]
            if count == 100:
                assert next(loop, None) is None
            assert read(given) == model.loop(count), (seed, options)
            assert batches.epoch == model.epoch
        elif action == "state":
            state = json.loads(json.dumps(batches.state_dict()))
            batches = loader(numbered, size, batch_size, **options)
            batches.load_state_dict(state)
            model.resume()
        elif action == "epoch":
            epoch = max(0, min(model.epoch + rng.randint(-1, 2), 3))
            batches.set_epoch(epoch)
            model.set_epoch(epoch)
        elif action == "restart":
            batches.restart()
            model.restart()
        else:
            count = rng.randint(0, model.num_left)
            batches.skip(count)
            model.skip(count)


class TestSteps:
    """Epochs of a given number of batches."""

    def test_reads_the_data_over_and_over(self, numbered: Path) -> None:
        batches = loader(numbered, steps_per_epoch=5, reader_arguments={})
        epochs = [read(batches) for _ in range(4)]
        assert all(len(epoch) == len(batches) == 5 for epoch in epochs)
        stream = flat([flat(epoch) for epoch in epochs])
        assert stream == [index % 10 for index in range(80)]
        assert batches.steps_per_epoch == 5

    @pytest.mark.parametrize("steps", [0, -1])
    def test_must_be_positive(self, numbered: Path, steps: int) -> None:
        with pytest.raises(ArgumentValueError, match="steps_per_epoch: must be at least 1"):
            loader(numbered, steps_per_epoch=steps)

    def test_must_be_an_integer(self, numbered: Path) -> None:
        for steps in (2.0, True, "3"):
            with pytest.raises(ArgumentTypeError, match="steps_per_epoch: must be an integer"):
                loader(numbered, steps_per_epoch=steps)

    def test_over_an_endless_source(self) -> None:
        pipeline = from_source(2, [2] * 50)
        batches = Loader(pipeline, steps_per_epoch=3)
        assert [len(read(batches)) for _ in range(3)] == [3, 3, 3]


def test_an_unknown_policy(numbered: Path) -> None:
    with pytest.raises(ArgumentValueError, match="last_batch: must be one of"):
        loader(numbered, last_batch="keep")


def test_a_bad_sample_is_an_error_of_its_batch_only(numbered: Path, tmp_path: Path) -> None:
    files = sorted(map(str, numbered.glob("class_0/*.jpg")))[:10]
    files[5] = str(tmp_path / "missing.jpg")

    @define_pipeline(batch_size=4, num_threads=1)
    def define() -> Any:
        return fn.readers.file(files=files)[1]

    batches = Loader(define())
    loop = iter(batches)
    assert next(loop)[0].tolist() == [0, 1, 2, 3]
    with pytest.raises(SampleError, match="missing"):
        next(loop)
    assert next(loop)[0].tolist() == [8, 9]
