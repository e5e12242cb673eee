"""Partition of the samples of a global batch by a sharding."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec, Sharding

from dali_core.errors import ArgumentValueError


@dataclass(frozen=True)
class BatchAxis:
    """The partition of the first dimension by a sharding.

    A part is the shard of one pipeline.  Several devices hold the same part if the mesh has other
    axes besides that of the batch; its pipeline then feeds all of them.

    Attributes
    ----------
    num_shards : int
        Parts on all devices of all processes.
    local_shards : sequence of int
        Numbers of the parts on devices of this process, in ascending order.
    local_devices : sequence of jax.Device
        For each of them, the first device of this process that holds it.
    """

    num_shards: int
    local_shards: Sequence[int]
    local_devices: Sequence[jax.Device]

    @classmethod
    def of(cls, sharding: Sharding) -> BatchAxis:
        """Compute the parts of a sharding.

        Raises
        ------
        ArgumentValueError
            If no device of it belongs to this process.
        """
        if isinstance(sharding, NamedSharding):
            sharding = NamedSharding(sharding.mesh, partition(*sharding.spec[:1]))
        # Any number of samples that is divisible by the number of devices works.
        shape = (sharding.num_devices,)
        starts = {
            device: index[0].start or 0
            for device, index in sharding.devices_indices_map(shape).items()
        }
        shard_of_start = {start: shard for shard, start in enumerate(sorted(set(starts.values())))}
        device_of_shard: dict[int, jax.Device] = {}
        for device in sorted(sharding.addressable_devices, key=operator.attrgetter("id")):
            device_of_shard.setdefault(shard_of_start[starts[device]], device)
        if not device_of_shard:
            raise ArgumentValueError(
                f"sharding: must have a device of this process, {jax.local_devices()} (got "
                f"{sharding}). Make its mesh of jax.devices(), which has those of all processes."
            )
        shards = sorted(device_of_shard)
        return cls(
            num_shards=len(shard_of_start),
            local_shards=shards,
            local_devices=[device_of_shard[shard] for shard in shards],
        )


def partition(*axes: Any) -> PartitionSpec:
    """Return a `PartitionSpec`, whose constructor has no types."""
    return PartitionSpec(*axes)
