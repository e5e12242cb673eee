"""Samplers decide which samples an epoch has; readers shard, pad and resume their order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, samplers
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    PipelineStateError,
    SerializationError,
    StateMismatchError,
)
from dali_core.plugin.base_iterator import BaseIterator
from dali_core.samplers.sampling import _log
from tests.samplers.reading import indices, make, read
from tests.state.listing import ListAdapter

orders = st.lists(st.integers(0, 9), min_size=4, max_size=15)


@settings(max_examples=25, deadline=None)
@given(order=orders, num_shards=st.integers(1, 4), interleaved=st.booleans())
def test_shards_together_read_the_order(
    order: list[int], num_shards: int, interleaved: bool
) -> None:
    epochs = 3
    size = len(order) * epochs  # batches of one sample; shards without padding have no gaps
    shards = []
    for shard in range(num_shards):
        sharding = {"num_shards": num_shards, "shard_id": shard, "interleaved_shards": interleaved}
        pipeline = make(10, 1, sampler=order, **sharding)
        assert pipeline.epoch_size("reader") == len(order)
        shards.append(read(pipeline, -(-size // num_shards)))
    if interleaved:
        steps = [index for step in zip(*shards, strict=True) for index, _ in step]
        assert steps[:size] == order * epochs
    else:
        starts = [shard * len(order) // num_shards for shard in range(num_shards + 1)]
        first = [shard[: starts[i + 1] - starts[i]] for i, shard in enumerate(shards)]
        assert [index for shard in first for index, _ in shard] == order


@pytest.mark.parametrize("num_shards", [1, 2, 4])
def test_global_batches_do_not_depend_on_the_number_of_shards(num_shards: int) -> None:
    sampler = samplers.Weighted(range(1, 10))
    reader = {"interleaved_shards": True, "pad_last_batch": True, "seed": 3, "sampler": sampler}

    def batches(num_shards: int) -> list[list[tuple[int, float]]]:
        shards = [
            make(9, 4 // num_shards, num_shards=num_shards, shard_id=shard, **reader)
            for shard in range(num_shards)
        ]
        return [sorted(sample for s in shards for sample in read(s, 1)) for _ in range(7)]

    assert batches(num_shards) == batches(1)


def test_padding_repeats_the_last_sample() -> None:
    pipeline = make(10, 4, sampler=[7, 7, 3, 9, 2], pad_last_batch=True)
    assert [index for index, _ in read(pipeline, 2)] == [7, 7, 3, 9, 2, 2, 2, 2]


@given(order=orders)
@settings(max_examples=10, deadline=None)
def test_shuffling_permutes_the_order_differently_in_each_epoch(order: list[int]) -> None:
    given = indices(10, 4 * len(order), sampler=np.array(order, np.uint8), random_shuffle=True)
    epochs = [given[start : start + len(order)] for start in range(0, len(given), len(order))]
    assert all(sorted(epoch) == sorted(order) for epoch in epochs)
    if len(set(order)) > 4:
        assert len(set(map(tuple, epochs))) > 1


def test_changing_an_array_later_changes_nothing() -> None:
    order = np.array([4, 2, 0])
    pipeline = make(5, 3, sampler=order)
    order[:] = 1
    assert [index for index, _ in read(pipeline, 2)] == [4, 2, 0] * 2


# Statistics: the seed is fixed, and the bounds would be exceeded once in 10,000 seeds or less.


def test_weights_are_probabilities() -> None:
    weights = [0.0, 1, 2, 3, 4, 0]
    count = 20_000
    found = Counter(indices(6, count, sampler=samplers.Weighted(weights, length=5000), seed=4))
    assert found[0] == found[5] == 0
    for index in range(1, 5):
        share = weights[index] / 10
        assert abs(found[index] - count * share) < 4 * (count * share * (1 - share)) ** 0.5


def test_without_replacement_heavy_samples_come_early_and_none_twice() -> None:
    weights = [1.0, 4, 0, 1]
    epochs = 1000
    given = indices(4, 3 * epochs, sampler=samplers.Weighted(weights, replacement=False))
    orders = np.array(given).reshape(epochs, 3)
    assert all(sorted(order) == [0, 1, 3] for order in orders.tolist())
    share = float(np.mean(orders[:, 0] == 1))
    assert abs(share - 4 / 6) < 4 * (4 / 6 * 2 / 6 / epochs) ** 0.5
    assert len({tuple(order) for order in orders.tolist()}) == 6


def test_logarithms_are_accurate() -> None:
    numbers = np.concatenate([np.linspace(2.0**-53, 1, 1000), np.logspace(-15, 0, 1000)])
    assert np.allclose(_log(numbers), np.log(numbers), rtol=1e-13, atol=1e-16)


def test_classes_are_balanced() -> None:
    labels = [0] * 90 + [5] * 9 + [7]
    count = 10_000
    found = Counter(
        labels[index] for index in indices(100, count, sampler=samplers.ClassBalanced(labels))
    )
    assert all(abs(found[label] - count / 3) < 4 * (count * 2 / 9) ** 0.5 for label in (0, 5, 7))


def test_epochs_and_seeds_draw_differently_and_the_same_again() -> None:
    sampler = samplers.Weighted([1.0] * 50)
    given = {seed: indices(50, 100, sampler=sampler, seed=seed) for seed in (1, 2)}
    assert given[1][:50] != given[1][50:]
    assert given[1] != given[2]
    assert given[1] == indices(50, 100, sampler=samplers.Weighted([1.0] * 50), seed=1)


def test_repetitions_follow_each_other_with_other_random_numbers() -> None:
    sampler = samplers.Repeated(3)
    shards = [
        read(
            make(
                6, 2, sampler=sampler, random_shuffle=True, num_shards=3, shard_id=shard,
                interleaved_shards=True,
            ),
            3,
        )
        for shard in range(3)
    ]  # fmt: skip
    steps = list(zip(*shards, strict=True))
    assert sorted(step[0][0] for step in steps) == list(range(6))
    for step in steps:
        assert len({index for index, _ in step}) == 1
        assert len({number for _, number in step}) == 3


def test_repetitions_of_a_subset_may_be_cut() -> None:
    sampler = samplers.Repeated(2, [4, 1, 3], length=5)
    assert indices(6, 10, sampler=sampler) == [4, 4, 1, 1, 3] * 2


def test_curriculum_repeats_its_choice_to_fill_epochs() -> None:
    sampler = samplers.Curriculum(lambda epoch: range(2 + epoch % 7), length=6)
    given = np.array(indices(9, 6 * 7, sampler=sampler)).reshape(7, 6).tolist()
    assert Counter(given[0]) == {0: 3, 1: 3}
    assert sorted(given[4]) == list(range(6))
    assert len(set(given[6])) == 6
    assert given[1] != given[1][:3] * 2  # each pass has its own order


def test_a_curriculum_may_give_the_order_itself() -> None:
    sampler = samplers.Curriculum(lambda epoch: [epoch, 0])
    assert indices(9, 6, sampler=sampler) == [0, 0, 1, 0, 2, 0]


class ByEpoch:
    """A sampler as PyTorch has them."""

    def __init__(self, length: int = 4) -> None:
        self.length = length
        self.epochs: list[int] = []
        self.given: Any = None

    def __len__(self) -> int:
        return self.length

    def set_epoch(self, epoch: int) -> None:
        self.epochs.append(epoch)

    def __iter__(self) -> Iterator[Any]:
        return iter(
            [(self.epochs[-1] + i) % 10 for i in range(4)] if not self.given else self.given
        )


def test_objects_are_iterated_once_for_each_epoch() -> None:
    sampler = ByEpoch()
    assert indices(10, 12, sampler=sampler) == [0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5]
    assert len(set(sampler.epochs)) == len(sampler.epochs)


def test_resuming_requests_no_earlier_epochs() -> None:
    pipeline = make(10, 4, sampler=ByEpoch())
    expected = read(pipeline, 300)[-8:]
    pipeline = make(10, 4, sampler=ByEpoch())
    read(pipeline, 298)
    state = json.loads(json.dumps(pipeline.state_dict()))
    sampler = ByEpoch()
    resumed = make(10, 4, sampler=sampler)
    resumed.load_state_dict(state)
    assert read(resumed, 2) == expected
    assert min(sampler.epochs) == 297


def test_another_order_is_a_mismatch() -> None:
    pipeline = make(10, sampler=[1, 2, 3, 4])
    read(pipeline, 2)
    state = pipeline.state_dict()
    for sampler in ([1, 2, 4, 3], samplers.Weighted([1.0] * 10, length=4), None):
        with pytest.raises(StateMismatchError, match="sampler of fn.readers.python at"):
            make(10 if sampler else 4, sampler=sampler).load_state_dict(state)
    with pytest.raises(StateMismatchError, match="the sampler of .* must be one"):
        make(10, sampler=[1, 2, 3, 4]).load_state_dict(make(4).state_dict())
    for value in ([99, 0], [0], "x", [0, -1]):
        state["readers"][0]["sampler"] = value
        with pytest.raises(StateMismatchError, match="epoch and a checksum"):
            make(10, sampler=[1, 2, 3, 4]).load_state_dict(state)


def test_an_object_without_set_epoch_cannot_go_far_back() -> None:
    class Plain:
        def __len__(self) -> int:
            return 2

        def __iter__(self) -> Iterator[int]:
            return iter((0, 1))

    pipeline = make(2, 2, sampler=Plain())
    state = pipeline.state_dict()
    read(pipeline, 30)
    with pytest.raises(PipelineStateError, match="set_epoch to go back to epoch 0"):
        pipeline.load_state_dict(state)


def failing(epoch: int) -> list[int]:
    raise KeyError("no such list")


def giving(*values: Any, length: int = 4) -> ByEpoch:
    sampler = ByEpoch(length)
    sampler.given = values
    return sampler


class Distributed(ByEpoch):
    num_replicas = 2


WRONG: list[tuple[Callable[[], Any], type[DaliCoreError], str]] = [
    (lambda: [0, 10], ArgumentValueError, r"from 0 to 9.*got 10 at place 1"),
    (lambda: [0, -1], ArgumentValueError, r"from 0 to 9.*got -1 at place 1"),
    (lambda: [0.5], ArgumentTypeError, r"array of integers.*got shape \(1,\) of float64"),
    (lambda: [[1]], ArgumentTypeError, r"one-dimensional.*got shape \(1, 1\)"),
    (list, ArgumentValueError, r"at least one \(got none\)"),
    (lambda: np.array([2**63], np.uint64), ArgumentValueError, "of 64 bits"),
    (lambda: 7, ArgumentTypeError, r"must be an array of indices.*got 7"),
    (lambda: iter([1]), ArgumentTypeError, "must be an array of indices"),
    (lambda: giving(0, 1, 2), ArgumentValueError, r"must give 4 indices.*got 3 for epoch 0"),
    (lambda: giving(*range(5)), ArgumentValueError, r"must give 4 .*got more than 4 for epoch 0"),
    (lambda: giving(0, 1, 2, 10), ArgumentValueError, r"got 10 at place 3"),
    (lambda: giving(0, 1, [2], 3), ArgumentTypeError, r"gave \[2\] at place 2 of epoch 0"),
    (lambda: giving(length=0), ArgumentValueError, "length must be at least 1"),
    (lambda: Distributed(), ArgumentValueError, "num_replicas=2.*num_shards and shard_id"),
    (lambda: samplers.Weighted([1.0] * 9), ArgumentValueError, "each of the 10 samples"),
    (lambda: samplers.Weighted([1, -1]), ArgumentValueError, r"got -1.0 for sample 1"),
    (lambda: samplers.Weighted([1, np.nan]), ArgumentValueError, r"got nan for sample 1"),
    (lambda: samplers.Weighted([0, 0]), ArgumentValueError, "positive and finite sum"),
    (lambda: samplers.Weighted([1e308] * 9), ArgumentValueError, "positive and finite sum"),
    (lambda: samplers.Weighted([]), ArgumentTypeError, "one-dimensional"),
    (lambda: samplers.Weighted([1, 0], False, 2), ArgumentValueError, r"from 1 to 1 \(got 2\)"),
    (lambda: samplers.ClassBalanced(), ArgumentTypeError, "must know the labels"),
    (lambda: samplers.ClassBalanced([1]), ArgumentValueError, "each of the 10 samples"),
    (lambda: samplers.ClassBalanced(["a"]), ArgumentTypeError, "labels must be"),
    (lambda: samplers.Repeated(0), ArgumentValueError, r"times must be at least 1 \(got 0\)"),
    (lambda: samplers.Repeated(2.5), ArgumentTypeError, "times must be an integer"),  # type: ignore[arg-type]
    (lambda: samplers.Repeated(2, length=21), ArgumentValueError, "from 1 to 20"),
    (lambda: samplers.Curriculum([1]), ArgumentTypeError, "must be callable"),  # type: ignore[arg-type]
    (lambda: samplers.Curriculum(failing), ArgumentValueError, r"raised KeyError\('no such list'"),
    (lambda: samplers.Curriculum(lambda e: [10]), ArgumentValueError, "got 10 at place 0"),
    (
        lambda: samplers.Curriculum(lambda epoch: [0] * (1 + epoch)),
        ArgumentValueError,
        r"must give 1 indices.*got 2 for epoch 1",
    ),
]
"""What is no sampler of ten samples, and the error."""


@pytest.mark.parametrize(("sampler", "kind", "message"), WRONG)
def test_wrong_samplers(
    sampler: Callable[[], Any], kind: type[DaliCoreError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        read(make(10, sampler=sampler()), 1)


def test_errors_name_the_reader() -> None:
    with pytest.raises(
        ArgumentValueError, match=r"^fn.readers.python at .*reading.py:\d+: sampler"
    ):
        make(3, sampler=[3])


def test_a_bad_epoch_later_leaves_the_batches_before_it() -> None:
    pipeline = make(
        3, 2, sampler=samplers.Curriculum(lambda epoch: [[0, 1], [2, 0], [9, 1]][epoch])
    )
    # Prefetching comes to the bad epoch at once.
    assert [index for index, _ in read(pipeline, 2)] == [0, 1, 2, 0]
    for _ in range(2):
        with pytest.raises(ArgumentValueError, match="got 9 at place 0"):
            read(pipeline, 1)


def test_iterators_give_all_batches_before_a_bad_epoch() -> None:
    sampler = samplers.Curriculum(lambda epoch: [[0, 1], [2, 0], [9, 1]][epoch])
    iterator = BaseIterator(
        make(3, 2, sampler=sampler),
        ["index", "number"],
        ListAdapter(),
        output_types=["list"] * 2,
        reader_name="reader",
    )
    assert [batch["index"] for (batch,) in iterator] == [[0, 1]]
    assert [batch["index"] for (batch,) in iterator] == [[2, 0]]
    with pytest.raises(ArgumentValueError, match="got 9 at place 0"):
        list(iterator)


def test_a_sampler_excludes_fixed_shards() -> None:
    with pytest.raises(ArgumentValueError, match="stick_to_shard must be False with a sampler"):
        make(10, sampler=[1, 2], stick_to_shard=True)


def test_labels_come_from_the_reader(tmp_path: Path) -> None:
    files = []
    for number in range(10):
        files.append(str(tmp_path / f"{number}"))
        Path(files[-1]).touch()
    with Pipeline(batch_size=1000, num_threads=1, device_id=None) as pipeline:
        _, label = fn.readers.file(
            files=files, labels=[3] * 9 + [8], sampler=samplers.ClassBalanced(length=1000)
        )
        pipeline.set_outputs(label)
    assert 400 < np.sum(pipeline.run()[0].as_array() == 8) < 600


def test_a_document_holds_an_array_of_indices(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in "0123":
        (tmp_path / "a" / f"{name}.png").write_bytes(name.encode())

    def pipeline(sampler: Any) -> Pipeline:
        pipeline = Pipeline(batch_size=3, num_threads=1, device_id=None)
        with pipeline:
            pipeline.set_outputs(*fn.readers.file(file_root=str(tmp_path), sampler=sampler))
        return pipeline

    document = pipeline(np.array([2, 0, 3])).serialize()
    data = Pipeline.deserialize(document).run()[0]
    assert [bytes(data.at(i)) for i in range(3)] == [b"2", b"0", b"3"]
    with pytest.raises(SerializationError, match="'sampler' of fn.readers.file"):
        pipeline(samplers.Weighted([1.0] * 4)).serialize()
