"""Conversion of batches to JAX arrays."""

from __future__ import annotations

import atexit
from collections import defaultdict
from typing import Any

import jax
import numpy
from numpy.typing import NDArray

from dali_core.adapters import Adapter
from dali_core.plugin.pending_release import PendingRelease
from dali_core.tensors import TensorGPU, TensorListGPU
from dali_core.types import to_numpy_type
from dali_core_jax.narrowing import Narrowing, narrowed_type
from dali_core_jax.placement import default_device, on_device


def gpus() -> list[jax.Device]:
    """Return the GPUs of this process that JAX supports; none if it is installed without."""
    try:
        devices: list[jax.Device] = jax.local_devices(backend="gpu")
        return devices
    except RuntimeError:
        return []


def stream_of(device_id: int) -> int | None:
    """Return the stream in which JAX consumes data on a GPU; None if JAX has no GPU support."""
    for device in gpus():
        if device.local_hardware_id == device_id:
            return int(device.get_stream_for_external_ready_events())
    return None


def taken_over(tensor: TensorGPU) -> jax.Array | NDArray[Any]:
    """Return a copy on the tensor's GPU, or on the host if JAX does not support it.

    JAX releases imported memory when it deletes an array, even if computations that read it are
    only queued, and it does not synchronize the stream of the import with them. So the pipeline's
    memory is copied, and held until the copy has completed.
    """
    if any(device.local_hardware_id == tensor.device_id() for device in gpus()):
        dtype = numpy.dtype(to_numpy_type(tensor.dtype))
        if narrowed_type(dtype) is not None:
            # To look at the values, the host would have to wait for them.
            _narrowing.warn(dtype, f"a batch of {dtype} on a GPU")
        return copied(jax.dlpack.from_dlpack(tensor))
    return numpy.asarray(tensor.as_cpu())


def copied(array: jax.Array) -> jax.Array:
    """Return a copy on the same device, and hold the array until it is made."""
    (device,) = array.devices()
    copy = jax.device_put(array, device, may_alias=False)
    _pending[device].hold(array, copy)
    return copy


def _is_ready(array: Any) -> bool:
    # A donated array is deleted: its readiness cannot be queried.
    return not array.is_deleted() and bool(array.is_ready())


def _wait(array: Any) -> None:
    if not array.is_deleted():
        array.block_until_ready()


_narrowing = Narrowing()
_pending: defaultdict[jax.Device, PendingRelease] = defaultdict(lambda: PendingRelease(_is_ready))


@atexit.register
def _release_everything() -> None:
    for pending in _pending.values():
        pending.wait(_wait)


class JAXAdapter(Adapter):
    """Converts batches to `jax.Array`: on their GPU, or on JAX's default device.

    A batch on a GPU is imported by DLPack, JAX's stream waits for it, and it is copied there, so
    that its memory can be returned to the pipeline in time. The host does not wait.

    On a CPU the array shares the pipeline's memory, unless JAX has to convert it (64 bits become 32
    if ``jax_enable_x64`` is off) or it is not aligned to 64 bytes, which affects only single
    samples of a dense batch. Numbers that do not fit into 32 bits are an error.
    """

    name = "jax"
    loader_class = "dali_core_jax.loader:Loader"

    def stream(self, device_id: int) -> int | None:
        """Return the stream in which JAX consumes data on a GPU."""
        return stream_of(device_id)

    def from_tensor(self, tensor: Any) -> jax.Array:
        """Return an array that shares the memory of a sample or batch, if JAX supports it."""
        array = taken_over(tensor) if isinstance(tensor, TensorGPU) else numpy.asarray(tensor)
        if not isinstance(array, jax.Array):
            _narrowing.check(array, "a batch")
        return array if isinstance(array, jax.Array) else on_device(array, default_device())

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first `num_valid` samples of a batch as one of `representations`."""
        if kind == "dense" and not isinstance(batch, TensorListGPU):
            # Sliced before the conversion, because slicing a JAX array copies.
            return self.from_tensor(numpy.asarray(batch.as_tensor())[:num_valid])
        return super().represent(batch, kind, num_valid)


class HostAdapter(Adapter):
    """Converts batches to NumPy views: the iterator places those of all pipelines at once."""

    name = "jax"
    representations = ("dense",)

    def stream(self, device_id: int) -> int | None:
        """Return the stream in which JAX consumes data on a GPU."""
        return stream_of(device_id)

    def from_tensor(self, tensor: Any) -> Any:
        """Return a view of a sample or batch."""
        return taken_over(tensor) if isinstance(tensor, TensorGPU) else numpy.asarray(tensor)

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return a view of all samples of a batch: the shape must not depend on `num_valid`."""
        return self.from_tensor(batch.as_tensor())


adapter = JAXAdapter()
