"""Tensor classes under the module name of the reference API."""

from __future__ import annotations

from dali_core import cuda
from dali_core._cuda import load
from dali_core.tensors import TensorCPU as TensorCPU
from dali_core.tensors import TensorGPU as TensorGPU
from dali_core.tensors import TensorListCPU as TensorListCPU
from dali_core.tensors import TensorListGPU as TensorListGPU


def ReleaseUnusedMemory() -> None:  # noqa: N802
    """Return memory that nobody uses, of devices and page-locked. Pipelines may run meanwhile."""
    cuda.release_unused_memory()


def PreallocateDeviceMemory(bytes: int, device_id: int) -> None:  # noqa: A002, N802
    """Take memory from a device now, so that allocations of as much are quick later.

    Parameters
    ----------
    bytes : int
        How much can be allocated afterwards without asking the device.
    device_id : int
        Number of the device.
    """
    load("memory").preallocate(bytes, device_id)


def PreallocatePinnedMemory(bytes: int) -> None:  # noqa: A002, N802
    """Make a page-locked block of the host now, which serves an allocation of this size later.

    Parameters
    ----------
    bytes : int
        Its size.
    """
    load("memory").preallocate_host(bytes)
