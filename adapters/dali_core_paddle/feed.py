"""Copies of batches to existing memory."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any

import paddle

from dali_core.errors import ArgumentConflictError, ArgumentTypeError
from dali_core.tensors import TensorGPU, TensorListGPU
from dali_core_paddle.adapter import adapter


def feed_ndarray(dali_tensor: Any, ptr: Any, cuda_stream: Any = None) -> Any:
    """Copy a sample or a batch to an address, or to a PaddlePaddle tensor.

    Parameters
    ----------
    dali_tensor : TensorCPU, TensorListCPU, TensorGPU or TensorListGPU
        The source; a list of samples must have a uniform shape.
    ptr : int, ctypes.c_void_p or paddle.Tensor
        The destination: an address, where there must be room for all elements, one after another;
        or a tensor of the same shape and dtype.
    cuda_stream : int or object, optional
        Stream of the copy or its handle, if the source is on a GPU and the destination is an
        address. The host waits for the copy only if it is left out.

    Returns
    -------
    object
        `ptr`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If one of them is something else, or they do not fit each other.
    """
    if not hasattr(dali_tensor, "copy_to_external"):
        raise ArgumentTypeError(
            f"feed_ndarray: dali_tensor must be a tensor or a list of tensors (got "
            f"{type(dali_tensor).__name__}). Pass an output of a pipeline."
        )
    if isinstance(ptr, paddle.Tensor):
        return _copied(dali_tensor, ptr)
    if isinstance(ptr, bool) or not isinstance(ptr, (int, c_void_p)):
        raise ArgumentTypeError(
            f"feed_ndarray: ptr must be an address or a paddle.Tensor (got {type(ptr).__name__}). "
            "Pass tensor.data_ptr(), or the tensor."
        )
    if isinstance(dali_tensor, (TensorGPU, TensorListGPU)):
        dali_tensor.copy_to_external(ptr, cuda_stream, non_blocking=cuda_stream is not None)
    else:
        dali_tensor.copy_to_external(ptr)
    return ptr


def _copied(dali_tensor: Any, destination: Any) -> Any:
    if hasattr(dali_tensor, "as_tensor"):
        dali_tensor = dali_tensor.as_tensor()
    source = adapter.from_tensor(dali_tensor)
    for what, given, expected in (
        ("shape", tuple(destination.shape), tuple(source.shape)),
        ("dtype", destination.dtype, source.dtype),
    ):
        if given != expected:
            raise ArgumentConflictError(
                f"feed_ndarray: ptr must have the {what} of dali_tensor, {expected} (got {given}). "
                "Allocate it accordingly."
            )
    destination.copy_(source, True)
    return destination
