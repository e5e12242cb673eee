"""The loader that gives arrays of JAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import jax
import numpy
from jax.sharding import Sharding
from numpy.typing import NDArray

from dali_core.adapters import Adapter
from dali_core.errors import AdapterError, ArgumentTypeError
from dali_core.loaders import BaseLoader, Placement
from dali_core.tensors import TensorGPU
from dali_core_jax.adapter import stream_of, taken_over
from dali_core_jax.narrowing import Narrowing
from dali_core_jax.placement import Part, default_device, for_rank, on_device

if TYPE_CHECKING:
    from typing_extensions import TypeVar, Unpack

    from dali_core import Pipeline
    from dali_core.loaders import LoaderOptions

    Batch = TypeVar("Batch", default=tuple[jax.Array, ...])
else:
    from typing import TypeVar

    Batch = TypeVar("Batch")


class _LateAdapter(Adapter):
    """Leaves batches of the host in NumPy's arrays, which `JAXPlacement` converts in the end."""

    name = "jax"

    def stream(self, device_id: int) -> int | None:
        """Return the stream in which JAX consumes data on a GPU."""
        return stream_of(device_id)

    def from_tensor(self, tensor: Any) -> Part:
        """Return a view of a sample or batch, or a copy on its GPU."""
        return taken_over(tensor) if isinstance(tensor, TensorGPU) else numpy.asarray(tensor)


class JAXPlacement(Placement):
    """Moves, joins and rearranges arrays, which are of NumPy if they come from the host.

    Parameters
    ----------
    device : jax.Device or jax.sharding.Sharding, optional
        Where arrays are moved to; by default JAX's default device.
    """

    def __init__(self, device: Any) -> None:
        if device is not None and not isinstance(device, jax.Device | Sharding):
            raise ArgumentTypeError(
                f"device: must be a jax.Device or a jax.sharding.Sharding (got {device!r}). Pass "
                "one of jax.devices(), or leave it out for the default device."
            )
        self._device = device
        self._narrowing = Narrowing()

    def move(self, array: Part, name: str) -> jax.Array:
        """Return the array on the device, or spread over devices."""
        if isinstance(array, numpy.ndarray):
            self._narrowing.check(array, f"output {name!r}")
        if isinstance(self._device, Sharding):
            return _spread(array, for_rank(self._device, array.ndim), name)
        if isinstance(array, numpy.ndarray) or self._device is not None:
            return on_device(array, self._device or default_device())
        return array

    def join(self, parts: Sequence[Part]) -> Part:
        """Return the batches of several pipelines as one array."""
        module = numpy if isinstance(parts[0], numpy.ndarray) else jax.numpy
        joined: Part = module.concatenate(parts)
        return joined

    def channels_last(self, array: Part, channels: int) -> Part:
        """Return images with the channels as last axis."""
        module = numpy if isinstance(array, numpy.ndarray) else jax.numpy
        moved: Part = module.moveaxis(array, channels, -1)
        return moved

    def class_indices(self, array: Part) -> Part:
        """Return int32 of shape (samples,); numbers that do not fit are left for `move` to find."""
        if array.dtype not in (numpy.int32, numpy.int64) or array.shape[1:] != (1,):
            return array
        return array.reshape(-1)


class Loader(BaseLoader[Batch]):
    """Iterate over the epochs of a pipeline, in batches of JAX's arrays.

    On a CPU they share the memory of the pipeline's outputs, which is not reused before they are
    gone. Class indices are int32 of shape (samples,). Functions that are compiled by `jax.jit` are
    compiled once more for a smaller last batch: ``last_batch="drop"`` and ``"pad"`` have none.

    See `dali_core.loaders.BaseLoader` for the parameters. `device` is a `jax.Device`, or a
    `jax.sharding.Sharding` whose first dimension is that of the samples: batches are then global
    arrays, of which the pipelines of each process give the part of that process.
    """

    adapter = _LateAdapter()
    placement = JAXPlacement

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Loader[tuple[jax.Array, ...]],
            pipeline: Pipeline | Sequence[Pipeline],
            names: Sequence[str] | None = None,
            *,
            as_dict: Literal[False] = False,
            **options: Unpack[LoaderOptions],
        ) -> None: ...

        @overload
        def __init__(
            self: Loader[dict[str, jax.Array]],
            pipeline: Pipeline | Sequence[Pipeline],
            names: Sequence[str] | None = None,
            *,
            as_dict: Literal[True],
            **options: Unpack[LoaderOptions],
        ) -> None: ...

        def __init__(self, *args: Any, **keywords: Any) -> None: ...


def _spread(array: NDArray[Any] | jax.Array, sharding: Sharding, name: str) -> jax.Array:
    try:
        return jax.make_array_from_process_local_data(sharding, array)
    except ValueError as error:
        raise AdapterError(
            f"output {name!r}: device must be a sharding that can divide a batch of shape "
            f"{array.shape} (got {sharding}: {error}). Choose a batch size that the number of "
            "devices divides, and last_batch='drop' or 'pad'."
        ) from error
