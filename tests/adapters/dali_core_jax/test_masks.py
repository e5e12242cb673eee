"""Masks: batches of one shape, and which of their samples belong to the epoch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dali_core.batching.epoch_plan import EpochPlan
from dali_core.batching.fixed import Fixed
from dali_core.batching.schedule import BatchSchedule
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.plugin.batch_schedule import SizedEpochs
from tests.adapters.dali_core_jax.pipelines import flat, numbers, shards, source_pipeline

jax = pytest.importorskip("jax", reason="not available: JAX")

from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

from dali_core.plugin.jax import DALIGenericIterator, LastBatchPolicy  # noqa: E402

# Batches that continue with the next epoch are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

FILL, DROP, PARTIAL = LastBatchPolicy


def epochs(iterator: Any, count: int) -> list[list[tuple[list[int], list[bool]]]]:
    return [[(flat(batch["x"]), flat(batch["mask"])) for batch in iterator] for _ in range(count)]


@pytest.mark.parametrize(
    ("policy", "pad", "last", "mask", "following"),
    [
        (FILL, False, [6, 0], [True, False], [1, 2]),
        (FILL, True, [6, 6], [True, False], [0, 1]),
        (PARTIAL, False, [6, 6], [True, False], [0, 1]),
        (PARTIAL, True, [6, 6], [True, False], [0, 1]),
        (DROP, False, [4, 5], [True, True], [0, 1]),
        (DROP, True, [4, 5], [True, True], [0, 1]),
    ],
)
def test_one_pipeline(
    tmp_path: Path,
    policy: LastBatchPolicy,
    pad: bool,
    last: list[int],
    mask: list[bool],
    following: list[int],
) -> None:
    iterator = DALIGenericIterator(
        numbers(tmp_path, 7, batch_size=2, pad_last_batch=pad),
        ["x"],
        reader_name="numbers",
        auto_reset=True,
        last_batch_policy=policy,
        mask_name="mask",
    )
    first, second = epochs(iterator, 2)
    assert first[-1] == (last, mask)
    assert all(valid == [True, True] for _, valid in first[:-1])
    assert second[0] == (following, [True, True])


@pytest.mark.parametrize("where", ["sharding", "devices", "stacked"])
@pytest.mark.parametrize("num_samples", [29, 32, 13])
def test_partial_epochs_on_eight_devices_have_each_sample_once(
    tmp_path: Path, where: str, num_samples: int
) -> None:
    mesh = Mesh(jax.devices(), ("batch",))
    options: dict[str, Any] = {
        "sharding": {"sharding": NamedSharding(mesh, PartitionSpec("batch"))},
        "devices": {"devices": jax.devices()},
        "stacked": {},
    }[where]
    iterator = DALIGenericIterator(
        shards(tmp_path, num_samples, 8, batch_size=2, pad_last_batch=True),
        ["x"],
        reader_name="numbers",
        auto_reset=True,
        last_batch_policy=PARTIAL,
        mask_name="mask",
        **options,
    )
    for _ in range(3):
        seen = []
        for batch in iterator:
            rows = (16,) if where == "sharding" else (8, 2)
            assert batch["x"].shape == (*rows, 1)
            assert (batch["mask"].shape, batch["mask"].dtype) == (rows, bool)
            if where != "stacked":
                assert batch["mask"].sharding.mesh == batch["x"].sharding.mesh
            seen += flat(batch["x"][batch["mask"]])
        assert sorted(seen) == list(range(num_samples))


def test_static_shapes_avoid_recompilation(tmp_path: Path) -> None:
    compiled = 0

    @jax.jit
    def count(batch: Any) -> Any:
        nonlocal compiled
        compiled += 1
        return batch["mask"].sum()

    iterator = DALIGenericIterator(
        numbers(tmp_path, 7, batch_size=4, pad_last_batch=True),
        ["x"],
        reader_name="numbers",
        last_batch_policy=PARTIAL,
        mask_name="mask",
    )
    assert [int(count(batch)) for batch in iterator] == [4, 3]
    assert compiled == 1


def test_size_of_several_pipelines() -> None:
    def batches(first: int) -> list[Any]:
        return [numpy.full((2, 1), first + index, numpy.int32) for index in range(9)]

    iterator = DALIGenericIterator(
        [source_pipeline(batches(0)), source_pipeline(batches(100))],
        ["x"],
        size=5,
        last_batch_policy=PARTIAL,
        mask_name="mask",
    )
    (epoch,) = epochs(iterator, 1)
    assert epoch == [
        ([0, 0, 100, 100], [True] * 4),
        ([1, 1, 101, 101], [True, False, False, False]),
    ]


def test_unknown_size() -> None:
    batches = [numpy.zeros((2, 1), numpy.int32), numpy.ones((1, 1), numpy.int32)]
    (epoch,) = epochs(DALIGenericIterator(source_pipeline(batches), ["x"], mask_name="mask"), 1)
    assert epoch == [([0, 0], [True, True]), ([1], [True])]


def test_wrong_names(tmp_path: Path) -> None:
    pipeline = numbers(tmp_path, 7, batch_size=2)
    with pytest.raises(ArgumentValueError, match=r"mask_name: must differ .*'x' beside \['x'\]"):
        DALIGenericIterator(pipeline, ["x"], size=7, mask_name="x")
    with pytest.raises(ArgumentTypeError, match=r"mask_name: must be a name or None \(got True\)"):
        DALIGenericIterator(pipeline, ["x"], size=7, mask_name=True)


@given(
    num_samples=st.integers(1, 40),
    num_shards=st.integers(1, 5),
    batch_size=st.integers(1, 6),
    pad=st.booleans(),
    stick=st.booleans(),
    policy=st.sampled_from(LastBatchPolicy),
)
def test_counts_against_the_samples_of_the_plan(
    num_samples: int, num_shards: int, batch_size: int, pad: bool, stick: bool, policy: Any
) -> None:
    num_samples = max(num_samples, num_shards)
    for shard in range(num_shards):
        plan = EpochPlan(num_samples, num_shards, shard, stick_to_shard=stick, pad_last_batch=pad)
        batches = Fixed(batch_size).plan(plan)
        schedule = BatchSchedule(batches, policy)
        for epoch in range(4):
            for index in range(schedule.num_given(epoch)):
                count = schedule.num_in_epoch(epoch, index)
                if policy is not FILL:
                    assert count == schedule.num_valid(epoch, index)
                    continue
                begin = (schedule.first_batch(epoch) + index) * batch_size
                runs = batches.samples(begin, batch_size)
                own = [run for run in runs if run.epoch == epoch and not run.is_padding]
                assert count == sum(run.length for run in own)
                assert own == runs[: len(own)]


@given(size=st.integers(1, 30), num_pipelines=st.integers(1, 4), batch_size=st.integers(1, 4))
def test_counts_of_a_size_add_up(size: int, num_pipelines: int, batch_size: int) -> None:
    padded = SizedEpochs(size, True, num_pipelines, Fixed(batch_size), FILL)
    for epoch in range(3):
        counts = [padded.num_in_epoch(epoch, index) for index in range(padded.num_given(epoch))]
        assert {len(count) for count in counts} == {num_pipelines}
        assert sum(map(sum, counts)) == size
