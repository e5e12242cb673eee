"""The loader that gives tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import torch

from dali_core.loaders import BaseLoader, Placement
from dali_core_pytorch.adapter import adapter

if TYPE_CHECKING:
    from typing_extensions import TypeVar, Unpack

    from dali_core import Pipeline
    from dali_core.loaders import LoaderOptions

    Batch = TypeVar("Batch", default=tuple[torch.Tensor, ...])
else:
    from typing import TypeVar

    Batch = TypeVar("Batch")


class TorchPlacement(Placement):
    """Moves, joins and rearranges tensors.

    Parameters
    ----------
    device : torch.device, str or int, optional
        Where tensors are moved to; by default they stay where they are.
    """

    def __init__(self, device: Any) -> None:
        self._device = None if device is None else torch.device(device)

    def move(self, array: torch.Tensor, name: str) -> torch.Tensor:
        """Return the tensor on the device, for which the host does not wait."""
        if self._device is None:
            return array
        if self._device.type != "cuda" or array.is_cuda:
            return array.to(self._device)
        # The memory of a batch is reused when it is released; PyTorch keeps its own until then.
        pinned = torch.empty_like(array, pin_memory=True)
        return pinned.copy_(array).to(self._device, non_blocking=True)

    def join(self, parts: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the batches of several pipelines as one tensor."""
        return torch.cat(list(parts))

    def channels_last(self, array: torch.Tensor, channels: int) -> torch.Tensor:
        """Return a tensor of shape (N, C, ...), in memory with channels last."""
        is_image = array.ndim == 4
        memory_format = torch.channels_last if is_image else torch.channels_last_3d
        return array.movedim(channels, 1).contiguous(memory_format=memory_format)

    def class_indices(self, array: torch.Tensor) -> torch.Tensor:
        """Return int64 of shape (samples,)."""
        is_one_each = array.dtype in (torch.int32, torch.int64) and array.shape[1:] == (1,)
        return array.reshape(-1).to(torch.int64) if is_one_each else array


class Loader(BaseLoader[Batch]):
    """Iterate over the epochs of a pipeline, in batches of PyTorch's tensors.

    Tensors share the memory of the pipeline's outputs, which is not reused before they are gone.
    Class indices are int64 of shape (samples,), as `torch.nn.functional.cross_entropy` expects.
    See `dali_core.loaders.BaseLoader` for the parameters; `device` is what `torch.device` takes.
    """

    adapter = adapter
    placement = TorchPlacement

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Loader[tuple[torch.Tensor, ...]],
            pipeline: Pipeline | Sequence[Pipeline],
            names: Sequence[str] | None = None,
            *,
            as_dict: Literal[False] = False,
            **options: Unpack[LoaderOptions],
        ) -> None: ...

        @overload
        def __init__(
            self: Loader[dict[str, torch.Tensor]],
            pipeline: Pipeline | Sequence[Pipeline],
            names: Sequence[str] | None = None,
            *,
            as_dict: Literal[True],
            **options: Unpack[LoaderOptions],
        ) -> None: ...

        def __init__(self, *args: Any, **keywords: Any) -> None: ...
