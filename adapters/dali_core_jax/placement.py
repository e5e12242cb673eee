"""Placement of batches on devices, and assembly of those of several pipelines.

Batches on a GPU are JAX arrays there already, and are not moved if that is the target. All others
are views of host memory, which JAX does not copy on a CPU if they are aligned to 64 bytes, as the
batches of a pipeline are.  It treats such memory as immutable: donated arguments
(``donate_argnums``) are copied then, so arrays that share memory cannot modify each other.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import numpy
from jax.sharding import Mesh, NamedSharding, Sharding, SingleDeviceSharding
from numpy.typing import NDArray

from dali_core.errors import AdapterError, ArgumentTypeError, ArgumentValueError
from dali_core_jax.batch_axis import BatchAxis, partition

Part: TypeAlias = NDArray[Any] | jax.Array


def default_device() -> jax.Device:
    """Return JAX's default device."""
    chosen = jax.config.jax_default_device
    return chosen if isinstance(chosen, jax.Device) else jax.local_devices(backend=chosen)[0]


def on_device(array: NDArray[Any] | jax.Array, device: jax.Device) -> jax.Array:
    """Return an array on a device, sharing the memory if JAX supports it."""
    if isinstance(array, jax.Array):
        return jax.device_put(array, device)
    # Half the time of jax.device_put and of jax.dlpack.from_dlpack, and never a donatable buffer.
    return jax.make_array_from_callback(array.shape, _only(device), lambda _: array)


@functools.cache
def _only(device: jax.Device) -> Sharding:
    return SingleDeviceSharding(device)


class Placement(ABC):
    """Assembles one array from the batches of all pipelines."""

    @abstractmethod
    def place(self, parts: Sequence[Part]) -> jax.Array:
        """Return an array of the batches, one for each pipeline."""


class OnOneDevice(Placement):
    """The batch of one pipeline, unchanged, on one device.

    Parameters
    ----------
    device : jax.Device, optional
        Defaults to JAX's default device at the time.
    """

    def __init__(self, device: jax.Device | None = None) -> None:
        self._device = device

    def place(self, parts: Sequence[Part]) -> jax.Array:
        """Return the batch."""
        (part,) = parts
        return on_device(part, self._device or default_device())


class Stacked(Placement):
    """The batches along a leading axis, copied together on JAX's default device."""

    def place(self, parts: Sequence[Part]) -> jax.Array:
        """Return an array of shape (pipelines, samples, ...)."""
        _check_equal_shapes(parts)
        device = default_device()
        return jax.numpy.stack([on_device(part, device) for part in parts])


class OnEachDevice(Placement):
    """The batches along a leading axis, each on its own device, as `jax.pmap` expects.

    Parameters
    ----------
    devices : sequence of jax.Device
        Devices of this process, in the order of the pipelines.
    """

    def __init__(self, devices: Sequence[jax.Device]) -> None:
        mesh = Mesh(numpy.array(devices), ("device",))
        self._sharding = NamedSharding(mesh, partition("device"))

    def place(self, parts: Sequence[Part]) -> jax.Array:
        """Return an array of shape (devices, samples, ...)."""
        shape = _check_equal_shapes(parts)
        if isinstance(parts[0], jax.Array):
            devices = self._sharding.mesh.devices.flat
            rows = [
                on_device(part, device)[numpy.newaxis]
                for part, device in zip(parts, devices, strict=True)
            ]
            return jax.make_array_from_single_device_arrays(
                (len(parts), *shape), self._sharding, rows
            )
        return jax.make_array_from_callback(
            (len(parts), *shape),
            self._sharding,
            lambda index: parts[index[0].start or 0][numpy.newaxis],
        )


class Sharded(Placement):
    """A global array; every process holds the batches of its own pipelines.

    Parameters
    ----------
    sharding : jax.sharding.Sharding
        How the first dimension, of all samples, is partitioned over devices.
    """

    def __init__(self, sharding: Sharding) -> None:
        self._sharding = sharding
        self._axis = BatchAxis.of(sharding)
        self._part_of_shard = {shard: i for i, shard in enumerate(self._axis.local_shards)}

    def place(self, parts: Sequence[Part]) -> jax.Array:
        """Return an array of shape (samples of all processes, ...)."""
        num_samples, *sample = _check_equal_shapes(parts)
        shape = (num_samples * self._axis.num_shards, *sample)

        def piece(index: tuple[slice, ...] | None) -> Any:
            first, *others = index or ()
            part = parts[self._part_of_shard[(first.start or 0) // num_samples]]
            within = (slice(None), *others)
            is_whole = all(
                (a.start or 0, a.stop or n) == (0, n)
                for a, n in zip(others, part.shape[1:], strict=False)
            )
            return part if is_whole else part[within]

        try:
            target = for_rank(self._sharding, len(shape))
            if isinstance(parts[0], jax.Array):
                pieces = [
                    on_device(piece(index), device)
                    for device, index in target.addressable_devices_indices_map(shape).items()
                ]
                return jax.make_array_from_single_device_arrays(shape, target, pieces)
            return jax.make_array_from_callback(shape, target, piece)
        except ValueError as error:
            raise AdapterError(
                f"sharding: must be able to divide a global batch of shape {shape} (got "
                f"{self._sharding}: {error}). Shard the first dimension only, or make the others "
                "divisible."
            ) from error


def for_rank(sharding: Sharding, rank: int) -> Sharding:
    """Return a sharding without dimensions that an output, such as labels, does not have."""
    if isinstance(sharding, NamedSharding) and len(sharding.spec) > rank:
        return NamedSharding(
            sharding.mesh,
            partition(*sharding.spec[:rank]),
            memory_kind=sharding.memory_kind,
        )
    return sharding


def make_placement(
    num_pipelines: int,
    sharding: Sharding | None,
    devices: Sequence[jax.Device] | None,
    pmap_compatible: bool | None,
) -> Placement:
    """Return the placement of the batches of an iterator, from its arguments.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments contradict each other or the number of pipelines.
    """
    check_sharding_or_devices(sharding, devices)
    if sharding is not None:
        _check_num_pipelines(num_pipelines, len(BatchAxis.of(sharding).local_shards), sharding)
        return Sharded(sharding)
    if devices is not None:
        _check_num_pipelines(num_pipelines, len(devices), devices)
        if num_pipelines == 1 and pmap_compatible is False:
            return OnOneDevice(devices[0])
        return OnEachDevice(devices)
    if num_pipelines > 1:
        return Stacked()
    return OnEachDevice([default_device()]) if pmap_compatible else OnOneDevice()


def check_sharding_or_devices(
    sharding: Sharding | None, devices: Sequence[jax.Device] | None
) -> None:
    """Reject invalid shardings, invalid devices, and both together."""
    if sharding is not None and devices is not None:
        raise ArgumentValueError(
            "devices: must not be given together with sharding, which names its devices. Leave "
            "one of them out."
        )
    if sharding is not None and not isinstance(sharding, Sharding):
        raise ArgumentTypeError(
            f"sharding: must be a jax.sharding.Sharding (got {sharding!r}). Make one, such as "
            'NamedSharding(Mesh(jax.devices(), ("batch",)), PartitionSpec("batch")).'
        )
    if devices is None:
        return
    if not all(isinstance(device, jax.Device) for device in devices):
        raise ArgumentTypeError(
            f"devices: must be a list of jax.Device (got {devices!r}). Pass jax.devices()."
        )
    if not devices or len(set(devices)) != len(devices):
        raise ArgumentValueError(
            f"devices: must name different devices, at least one (got {list(devices)}). Pass "
            "jax.devices()."
        )
    if jax.process_count() > 1:
        raise AdapterError(
            f"devices: must be used in a single process (got {jax.process_count()} processes). "
            "Use sharding, which divides batches among processes."
        )


def _check_num_pipelines(given: int, expected: int, where: Sharding | Sequence[jax.Device]) -> None:
    if given != expected:
        raise ArgumentValueError(
            f"pipelines: must be one for each part of the batch on this process's devices, "
            f"{expected} for {where} (got {given}). Make as many, each with its own shard_id."
        )


def _check_equal_shapes(parts: Sequence[Part]) -> tuple[int, ...]:
    """Return the shape that the batches of all pipelines must have in common."""
    shapes = [part.shape for part in parts]
    if len(set(shapes)) > 1:
        raise AdapterError(
            f"iterator: the batches of all pipelines must have the same shape (got {shapes}). "
            "Resize or pad the samples in the pipelines."
        )
    return shapes[0]
