"""Copying a batch into a tensor that exists already."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from dali_core.errors import ArgumentTypeError, ArgumentValueError


def feed_ndarray(dali_tensor: Any, arr: torch.Tensor, cuda_stream: Any = None) -> torch.Tensor:
    """Copy a sample or a batch into a PyTorch tensor.

    Parameters
    ----------
    dali_tensor : TensorCPU or TensorListCPU
        What to copy; a list of samples must have a uniform shape.
    arr : torch.Tensor
        Where to; of the same shape and type, with any strides, on any device.
    cuda_stream : torch.cuda.Stream or int, optional
        Stream to copy on, or its handle, if `arr` is on a GPU; by default PyTorch's current one.

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
            f"feed_ndarray: dali_tensor must be a TensorCPU or a TensorListCPU (got "
            f"{type(dali_tensor).__name__}). Pass an output of a pipeline."
        )
    source = from_dlpack(dali_tensor)
    for what, given, wanted in (
        ("shape", tuple(arr.shape), tuple(source.shape)),
        ("dtype", arr.dtype, source.dtype),
    ):
        if given != wanted:
            raise ArgumentValueError(
                f"feed_ndarray: arr must have the {what} of dali_tensor, {wanted} (got {given}). "
                f"Allocate it accordingly."
            )
    with _on_stream(cuda_stream) if arr.is_cuda else nullcontext():
        return arr.copy_(source)


def _on_stream(stream: Any) -> Any:
    if isinstance(stream, int):
        stream = torch.cuda.ExternalStream(stream)  # type: ignore[no-untyped-call]
    return torch.cuda.stream(stream)
