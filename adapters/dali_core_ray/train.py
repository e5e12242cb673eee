"""The shard of a worker of Ray Train."""

from __future__ import annotations

import ray.train

from dali_core.errors import AdapterError


def train_shard() -> dict[str, int]:
    """Return `shard_id` and `num_shards` of the worker of Ray Train that calls it.

    They are its world rank and the world size, to be passed to a reader.

    Raises
    ------
    AdapterError
        If this is no worker of Ray Train.
    """
    try:
        context = ray.train.get_context()
        rank, size = context.get_world_rank(), context.get_world_size()
    except Exception as error:
        raise AdapterError(
            f"train_shard: must be called in a worker of Ray Train (got: {error}). Call it in the "
            "function that is passed to TorchTrainer, or pass shard_id and num_shards."
        ) from error
    if rank is None or size is None:
        raise AdapterError(
            "train_shard: must be called in a worker of Ray Train (this is none). Call it in the "
            "function that is passed to TorchTrainer, or pass shard_id and num_shards."
        )
    return {"shard_id": int(rank), "num_shards": int(size)}
