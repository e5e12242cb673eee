"""Samplers of PyTorch decide on the order of readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.samplers.reading import indices, make, read

torch = pytest.importorskip("torch", reason="not available: torch")
data = torch.utils.data


def seeded() -> Any:
    return torch.Generator().manual_seed(4)


SAMPLERS: dict[str, Callable[[], Any]] = {
    "sequential": lambda: data.SequentialSampler(range(10)),
    "random": lambda: data.RandomSampler(range(10), generator=seeded()),
    "subset": lambda: data.SubsetRandomSampler([3, 1, 4, 5], generator=seeded()),
    "weighted": lambda: data.WeightedRandomSampler([1.0] * 10, 6, generator=seeded()),
    "distributed": lambda: data.DistributedSampler(range(10), num_replicas=1, rank=0, seed=2),
}


@pytest.mark.parametrize("make_sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_epochs_are_iterations(make_sampler: Callable[[], Any]) -> None:
    sampler = make_sampler()
    expected = []
    for epoch in range(3):
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(epoch)
        expected += list(sampler)
    assert indices(10, len(expected), sampler=make_sampler()) == expected


@pytest.mark.parametrize("make_sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_new_sampler_resumes_at_every_step(make_sampler: Callable[[], Any]) -> None:
    pipeline = make(10, 3, sampler=make_sampler(), num_shards=2, shard_id=1)
    states, expected = [], []
    for _ in range(6):
        states.append(json.dumps(pipeline.state_dict()))
        expected.append(read(pipeline, 1))
    for step, state in enumerate(states):
        resumed = make(10, 3, sampler=make_sampler(), num_shards=2, shard_id=1)
        resumed.load_state_dict(json.loads(state))
        assert [read(resumed, 1) for _ in range(6 - step)] == expected[step:]


def test_tensors_are_arrays_of_indices() -> None:
    assert indices(10, 3, sampler=torch.tensor([4, 2, 9])) == [4, 2, 9]
