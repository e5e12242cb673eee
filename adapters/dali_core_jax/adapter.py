"""How batches become JAX arrays."""

from __future__ import annotations

from typing import Any

import jax
import numpy

from dali_core.adapters import Adapter
from dali_core_jax.placement import default_device, on_device


class JAXAdapter(Adapter):
    """Hands batches over as `jax.Array` on JAX's default device.

    On a CPU the array lies where the pipeline computed it, unless JAX has to convert it (64 bits
    become 32 if ``jax_enable_x64`` is off) or it does not begin at a multiple of 64 bytes, which
    concerns single samples of a dense batch only.
    """

    name = "jax"

    def from_tensor(self, tensor: Any) -> jax.Array:
        """Return an array that shares the memory of a sample or batch, where JAX can do that."""
        return on_device(numpy.asarray(tensor), default_device())

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first `num_valid` samples of a batch as one of `representations`."""
        if kind == "dense":
            # Left out before it is an array of JAX, which would copy what remains.
            return self.from_tensor(numpy.asarray(batch.as_tensor())[:num_valid])
        return super().represent(batch, kind, num_valid)


class HostAdapter(Adapter):
    """Views batches as NumPy arrays: an iterator places those of all its pipelines at once."""

    name = "jax"
    representations = ("dense",)

    def from_tensor(self, tensor: Any) -> Any:
        """View the memory of a sample or batch."""
        return numpy.asarray(tensor)

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """View all samples of a batch: its shape must not depend on how many are valid."""
        return self.from_tensor(batch.as_tensor())


adapter = JAXAdapter()
