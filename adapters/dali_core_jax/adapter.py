"""How batches become JAX arrays."""

from __future__ import annotations

from typing import Any

import jax
import numpy
from numpy.typing import NDArray

from dali_core.adapters import Adapter
from dali_core.tensors import TensorGPU, TensorListGPU
from dali_core_jax.placement import default_device, on_device


def gpus() -> list[jax.Device]:
    """Return the GPUs of this process that JAX knows; none if it is installed without."""
    try:
        devices: list[jax.Device] = jax.local_devices(backend="gpu")
        return devices
    except RuntimeError:
        return []


def stream_of(device_id: int) -> int | None:
    """Return the stream in which JAX takes over data of a GPU; None if it does not know that."""
    for device in gpus():
        if device.local_hardware_id == device_id:
            return int(device.get_stream_for_external_ready_events())
    return None


def taken_over(tensor: TensorGPU) -> jax.Array | NDArray[Any]:
    """Return an array on the GPU of a tensor, or a copy on the host if JAX does not know that."""
    if any(device.local_hardware_id == tensor.device_id() for device in gpus()):
        return jax.dlpack.from_dlpack(tensor)
    return numpy.asarray(tensor.as_cpu())


class JAXAdapter(Adapter):
    """Hands batches over as `jax.Array`: on the GPU where they are, or on JAX's default device.

    A batch on a GPU is imported by DLPack: JAX's stream waits for it, and nothing is copied. What a
    computation gets to overwrite (``donate_argnums``) may be this very memory there, so do not
    donate a batch that something else still holds, such as another output with the same data.

    On a CPU the array lies where the pipeline computed it, unless JAX has to convert it (64 bits
    become 32 if ``jax_enable_x64`` is off) or it does not begin at a multiple of 64 bytes, which
    concerns single samples of a dense batch only.
    """

    name = "jax"

    def stream(self, device_id: int) -> int | None:
        """Return the stream in which JAX takes over data of a GPU."""
        return stream_of(device_id)

    def from_tensor(self, tensor: Any) -> jax.Array:
        """Return an array that shares the memory of a sample or batch, where JAX can do that."""
        array = taken_over(tensor) if isinstance(tensor, TensorGPU) else numpy.asarray(tensor)
        return array if isinstance(array, jax.Array) else on_device(array, default_device())

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first `num_valid` samples of a batch as one of `representations`."""
        if kind == "dense" and not isinstance(batch, TensorListGPU):
            # Left out before it is an array of JAX, which would copy what remains.
            return self.from_tensor(numpy.asarray(batch.as_tensor())[:num_valid])
        return super().represent(batch, kind, num_valid)


class HostAdapter(Adapter):
    """Views batches as NumPy arrays: an iterator places those of all its pipelines at once."""

    name = "jax"
    representations = ("dense",)

    def stream(self, device_id: int) -> int | None:
        """Return the stream in which JAX takes over data of a GPU."""
        return stream_of(device_id)

    def from_tensor(self, tensor: Any) -> Any:
        """View the memory of a sample or batch."""
        return taken_over(tensor) if isinstance(tensor, TensorGPU) else numpy.asarray(tensor)

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """View all samples of a batch: its shape must not depend on how many are valid."""
        return self.from_tensor(batch.as_tensor())


adapter = JAXAdapter()
