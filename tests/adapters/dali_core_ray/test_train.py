"""The shard of a worker of Ray Train."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import ray.train
from dali_core_ray.train import train_shard

from dali_core.errors import AdapterError


def test_shard_is_the_rank_in_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    context = SimpleNamespace(get_world_rank=lambda: 2, get_world_size=lambda: 5)
    monkeypatch.setattr(ray.train, "get_context", lambda: context)
    assert train_shard() == {"shard_id": 2, "num_shards": 5}


def test_no_shard_outside_ray_train(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RuntimeError("outside")

    monkeypatch.setattr(ray.train, "get_context", refuse)
    with pytest.raises(AdapterError, match="must be called in a worker of Ray Train"):
        train_shard()
