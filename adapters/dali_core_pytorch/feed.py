"""Copies of batches to existing tensors."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from dali_core.errors import ArgumentConflictError, ArgumentTypeError
from dali_core.tensors import TensorGPU


def feed_ndarray(dali_tensor: Any, arr: torch.Tensor, cuda_stream: Any = None) -> torch.Tensor:
    """Copy a sample or a batch to a PyTorch tensor.

    Parameters
    ----------
    dali_tensor : TensorCPU, TensorListCPU, TensorGPU or TensorListGPU
        The source; a list of samples must have a uniform shape.
    arr : torch.Tensor
        The destination; of the same shape and dtype, with any strides, on any device.
    cuda_stream : torch.cuda.Stream, int or object, optional
        Stream of the copy or its handle, if either is on a GPU; defaults to PyTorch's current
        stream. It waits for `dali_tensor`; the caller only does if `arr` is on the host.

    Returns
    -------
    torch.Tensor
        `arr`.
    """
    if not isinstance(arr, torch.Tensor):
        raise ArgumentTypeError(
            f"feed_ndarray: arr must be a torch.Tensor (got {type(arr).__name__}). Allocate it "
            "with torch.empty."
        )
    if hasattr(dali_tensor, "as_tensor"):
        dali_tensor = dali_tensor.as_tensor()
    if not hasattr(dali_tensor, "__dlpack__"):
        raise ArgumentTypeError(
            f"feed_ndarray: dali_tensor must be a tensor or a list of tensors (got "
            f"{type(dali_tensor).__name__}). Pass an output of a pipeline."
        )
    is_on_device = isinstance(dali_tensor, TensorGPU)
    device = dali_tensor.device_id() if is_on_device else arr.device
    with _on_stream(cuda_stream, device) if arr.is_cuda or is_on_device else nullcontext():
        # Imported here, so that this stream is the one that waits.
        return _copied(from_dlpack(dali_tensor), arr)


def _copied(source: torch.Tensor, arr: torch.Tensor) -> torch.Tensor:
    for what, given, expected in (
        ("shape", tuple(arr.shape), tuple(source.shape)),
        ("dtype", arr.dtype, source.dtype),
    ):
        if given != expected:
            raise ArgumentConflictError(
                f"feed_ndarray: arr must have the {what} of dali_tensor, {expected} (got {given}). "
                f"Allocate it accordingly."
            )
    return arr.copy_(source)


def _on_stream(stream: Any, device: Any) -> Any:
    if hasattr(stream, "__cuda_stream__") and not isinstance(stream, torch.cuda.Stream):
        _, stream = stream.__cuda_stream__()
    stream = getattr(stream, "value", stream)  # of ctypes
    if isinstance(stream, int):
        stream = torch.cuda.ExternalStream(stream, device)  # type: ignore[no-untyped-call]
    return torch.cuda.stream(stream)
