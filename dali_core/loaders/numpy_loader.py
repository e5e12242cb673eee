"""The loader that gives arrays of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from dali_core.adapters import Adapter
from dali_core.errors import ArgumentValueError
from dali_core.loaders.loader import BaseLoader
from dali_core.loaders.placement import Placement
from dali_core.tensors import TensorGPU

Array: TypeAlias = NDArray[Any]

if TYPE_CHECKING:
    from typing_extensions import TypeVar, Unpack

    from dali_core.loaders.options import LoaderOptions
    from dali_core.pipeline import Pipeline

    Batch = TypeVar("Batch", default=tuple[Array, ...])
else:
    from typing import TypeVar

    Batch = TypeVar("Batch")


class NumPyAdapter(Adapter):
    """Converts batches to arrays of NumPy, on the host."""

    name = "numpy"

    def from_tensor(self, tensor: Any) -> Array:
        """Return an array that shares the memory of a sample or batch, or a copy from a GPU."""
        return np.asarray(tensor.as_cpu() if isinstance(tensor, TensorGPU) else tensor)


class NumPyPlacement(Placement):
    """Joins and rearranges arrays of NumPy.

    Parameters
    ----------
    device : str, optional
        ``"cpu"``.
    """

    def __init__(self, device: Any) -> None:
        if device not in (None, "cpu"):
            raise ArgumentValueError(
                f"device: must be None or 'cpu' for arrays of NumPy (got {device!r}). Use the "
                "loader of a framework, such as dali_core.pytorch.Loader."
            )

    def move(self, array: Array, name: str) -> Array:
        """Return the array."""
        return array

    def join(self, parts: Sequence[Array]) -> Array:
        """Return the batches of several pipelines as one array."""
        return np.concatenate(parts)

    def channels_last(self, array: Array, channels: int) -> Array:
        """Return a view with the channels as last axis."""
        return np.moveaxis(array, channels, -1)

    def class_indices(self, array: Array) -> Array:
        """Return int64 of shape (samples,)."""
        is_one_each = array.dtype in (np.int32, np.int64) and array.shape[1:] == (1,)
        return array.reshape(-1).astype(np.int64) if is_one_each else array


class Loader(BaseLoader[Batch]):
    """Iterate over the epochs of a pipeline, in batches of NumPy arrays.

    Arrays share the memory of the pipeline's outputs, which is not reused before they are gone;
    batches on a GPU are copied to the host. Class indices are int64. See `BaseLoader` for the
    parameters; `device` must be left out or be ``"cpu"``.
    """

    adapter = NumPyAdapter()
    placement = NumPyPlacement

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Loader[tuple[Array, ...]],
            pipeline: Pipeline | Sequence[Pipeline],
            names: Sequence[str] | None = None,
            *,
            as_dict: Literal[False] = False,
            **options: Unpack[LoaderOptions],
        ) -> None: ...

        @overload
        def __init__(
            self: Loader[dict[str, Array]],
            pipeline: Pipeline | Sequence[Pipeline],
            names: Sequence[str] | None = None,
            *,
            as_dict: Literal[True],
            **options: Unpack[LoaderOptions],
        ) -> None: ...

        def __init__(self, *args: Any, **keywords: Any) -> None: ...
