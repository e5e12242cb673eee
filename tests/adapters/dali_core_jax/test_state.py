"""Resuming from a saved state: after every step, on other devices, after peeking."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core import DataNode, fn
from dali_core.errors import StateMismatchError
from tests.adapters.dali_core_jax.pipelines import flat, read_numbers

jax = pytest.importorskip("jax", reason="not available: JAX")

from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

from dali_core.plugin.jax import (  # noqa: E402
    DALIGenericIterator,
    LastBatchPolicy,
    clu,
    data_iterator,
)
from tests.rest_of_epoch import rest_of_epoch  # noqa: E402

# Partial batches without padding are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

NUM_SAMPLES = 45


def define(folder: Path, shard_id: int, num_shards: int, **reader: Any) -> Any:
    number: DataNode = read_numbers(
        folder, NUM_SAMPLES, shard_id, num_shards, random_shuffle=True, **reader
    )
    return number, fn.random.uniform(range=[0, 1], shape=[3])


def make(
    folder: Path,
    num_devices: int = 8,
    decorator: Callable[..., Any] = data_iterator,
    num_threads: int = 1,
    checkpoints: list[bytes] | None = None,
    policy: LastBatchPolicy = LastBatchPolicy.PARTIAL,
    **reader: Any,
) -> Any:
    """Make an iterator whose global batches have 16 samples."""
    decorated = decorator(
        lambda shard_id, num_shards: define(folder, shard_id, num_shards, **reader),
        output_map=["x", "random"],
        reader_name="numbers",
        auto_reset=True,
        last_batch_policy=policy,
        mask_name="mask",
        sharding=NamedSharding(Mesh(jax.devices()[:num_devices], ("d",)), PartitionSpec("d")),
    )
    return decorated(batch_size=16, num_threads=num_threads, seed=3, checkpoints=checkpoints)


def contents(batch: dict[str, Any]) -> list[Any]:
    return [flat(batch[name]) for name in ("x", "mask", "random")]


def remaining(iterator: DALIGenericIterator) -> list[Any]:
    """Return the batches up to the end of this epoch, and of the next one, as `record` does."""
    return [*(contents(batch) for batch in rest_of_epoch(iterator)), "end", *record(iterator, 1)]


def record(iterator: DALIGenericIterator, num_epochs: int = 2) -> list[Any]:
    """Return the batches up to the end of an epoch, "end", and so on."""
    found: list[Any] = []
    for _ in range(num_epochs):
        found += [*(contents(batch) for batch in iterator), "end"]
    return found


@pytest.mark.parametrize("policy", [LastBatchPolicy.PARTIAL, LastBatchPolicy.FILL])
def test_resumes_at_every_step(tmp_path: Path, policy: LastBatchPolicy) -> None:
    iterator = make(tmp_path, policy=policy)
    rest = record(make(tmp_path, policy=policy))
    for _ in range(2):
        for batch in iterator:
            assert contents(batch) == rest.pop(0)
            resumed = make(tmp_path, policy=policy, num_threads=2)
            resumed.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
            # After an epoch's last batch, a loop begins the next epoch.
            expected = rest[1:] if rest[0] == "end" else rest
            assert record(resumed)[: len(expected)] == expected
        assert rest.pop(0) == "end"
    assert rest == []


def test_checkpoints(tmp_path: Path) -> None:
    iterator = make(tmp_path)
    for _ in range(2):
        next(iterator)
    checkpoints = iterator.checkpoints()
    assert len(checkpoints) == 8
    assert all(isinstance(json.loads(checkpoint), dict) for checkpoint in checkpoints)
    resumed = make(tmp_path, checkpoints=checkpoints)
    assert record(resumed) == remaining(iterator)


def test_resumes_on_other_numbers_of_devices(tmp_path: Path) -> None:
    def taken_together(iterator: Any) -> list[Any]:
        # Samples are interleaved over devices, so a global batch has them in another order.
        return [
            sorted(numpy.asarray(batch["x"])[numpy.asarray(batch["mask"])].ravel().tolist())
            for batch in rest_of_epoch(iterator)
        ]

    options = {"interleaved_shards": True, "pad_last_batch": True}
    iterator = make(tmp_path, **options)
    next(iterator)
    state = iterator.state_dict()
    expected = taken_together(iterator)
    assert [len(batch) for batch in expected] == [16, 13]
    for num_devices in (1, 2, 4):
        other = make(tmp_path, num_devices, **options)
        other.load_state_dict(state)
        assert taken_together(other) == expected


def test_state_mismatch_raises(tmp_path: Path) -> None:
    state = make(tmp_path).state_dict()
    other = make(tmp_path, policy=LastBatchPolicy.DROP)
    with pytest.raises(StateMismatchError, match="last_batch_policy.*PARTIAL"):
        other.load_state_dict(state)


@pytest.mark.parametrize("prepare", [0, 1, 2, 3])
def test_peek_does_not_advance_the_state(tmp_path: Path, prepare: int) -> None:
    iterator = make(tmp_path, decorator=clu.peekable_data_iterator)
    for _ in range(prepare):
        next(iterator)
    plain = iterator.state_dict()
    if prepare < 3:
        seen = contents(iterator.peek())
        assert iterator.state_dict() == plain
        checkpoints = iterator.checkpoints()
        for resumed in (
            make(tmp_path, decorator=clu.peekable_data_iterator, checkpoints=checkpoints),
            make(tmp_path, checkpoints=checkpoints),
        ):
            assert contents(next(resumed)) == seen
    other = make(tmp_path, decorator=clu.peekable_data_iterator)
    other.peek()
    other.load_state_dict(plain)
    assert record(other) == (remaining(iterator) if prepare < 3 else record(iterator))


def test_orbax_saves_and_restores_the_state(tmp_path: Path) -> None:
    orbax = pytest.importorskip("orbax.checkpoint", reason="not available: Orbax")
    iterator = make(tmp_path)
    next(iterator)
    with orbax.Checkpointer(orbax.JsonCheckpointHandler()) as checkpointer:
        checkpointer.save(tmp_path / "state", args=orbax.args.JsonSave(iterator.state_dict()))
        state = checkpointer.restore(tmp_path / "state", args=orbax.args.JsonRestore())
    resumed = make(tmp_path)
    resumed.load_state_dict(state)
    assert record(resumed) == remaining(iterator)
