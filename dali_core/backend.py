"""Tensor classes under the module name of the reference API."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from dali_core import cuda
from dali_core._cuda import load
from dali_core.errors import ArgumentValueError, CudaError
from dali_core.tensors import TensorCPU as TensorCPU
from dali_core.tensors import TensorGPU as TensorGPU
from dali_core.tensors import TensorListCPU as TensorListCPU
from dali_core.tensors import TensorListGPU as TensorListGPU

_ON_HOST = (1, 3, 11)  # kDLCPU, and pinned memory of CUDA and ROCm
_growth_factors = {"host": 1.1, "device": 1.1}
_shrink_threshold = [0.5]


def ReleaseUnusedMemory() -> None:  # noqa: N802
    """Return unused memory, of devices and pinned. Pipelines may run meanwhile."""
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
    """Make a pinned block of the host now, which serves an allocation of this size later.

    Parameters
    ----------
    bytes : int
        Its size.
    """
    load("memory").preallocate_host(bytes)


def GetNvjpegVersion() -> int:  # noqa: N802
    """Return -1: this library is not linked with nvJPEG."""
    return -1


def GetCUDADeviceCount() -> int:  # noqa: N802
    """Return the number of devices that this process sees; 0 without a driver."""
    try:
        return cuda.device_count()
    except CudaError:
        return 0


def CheckDLPackCapsule(ptr: object) -> tuple[bool, bool]:  # noqa: N802
    """Return whether an object is an unconsumed DLPack capsule, and whether of a device.

    Parameters
    ----------
    ptr : object
        Anything.

    Returns
    -------
    tuple of bool
        Whether it is a capsule, and whether its data are on a device.
    """
    for name, start in ((b"dltensor", 0), (b"dltensor_versioned", 4 * _POINTER)):
        if _is_capsule(ctypes.py_object(ptr), name):
            address = _capsule_address(ctypes.py_object(ptr), name)
            kind = ctypes.c_int32.from_address(address + start + _POINTER).value
            return True, kind not in _ON_HOST
    return False, False


def SetHostBufferShrinkThreshold(threshold: float) -> None:  # noqa: N802
    """Remember a threshold, without effect: buffers of the right size are pooled.

    Parameters
    ----------
    threshold : float
        0 to 1.
    """
    if not 0 <= threshold <= 1:
        raise ArgumentValueError(
            f"SetHostBufferShrinkThreshold: threshold must be from 0 to 1 (got {threshold})."
        )
    _shrink_threshold[0] = float(threshold)


def GetHostBufferShrinkThreshold() -> float:  # noqa: N802
    """Return what was set."""
    return _shrink_threshold[0]


def SetBufferGrowthFactor(factor: float) -> None:  # noqa: N802
    """Remember a factor for the host and for devices, without effect.

    Parameters
    ----------
    factor : float
        1 to 4.
    """
    SetHostBufferGrowthFactor(factor)
    SetDeviceBufferGrowthFactor(factor)


def SetHostBufferGrowthFactor(factor: float) -> None:  # noqa: N802
    """Remember a factor for the host, without effect: buffers of the right size are pooled.

    Parameters
    ----------
    factor : float
        1 to 4.
    """
    _growth_factors["host"] = _checked_factor("SetHostBufferGrowthFactor", factor)


def SetDeviceBufferGrowthFactor(factor: float) -> None:  # noqa: N802
    """Remember a factor for devices, without effect: buffers of the right size are pooled.

    Parameters
    ----------
    factor : float
        1 to 4.
    """
    _growth_factors["device"] = _checked_factor("SetDeviceBufferGrowthFactor", factor)


def GetHostBufferGrowthFactor() -> float:  # noqa: N802
    """Return what was set."""
    return _growth_factors["host"]


def GetDeviceBufferGrowthFactor() -> float:  # noqa: N802
    """Return what was set."""
    return _growth_factors["device"]


_POINTER = ctypes.sizeof(ctypes.c_void_p)


def _prototype(name: str, result: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, ctypes.py_object, ctypes.c_char_p)((name, ctypes.pythonapi))


_is_capsule = _prototype("PyCapsule_IsValid", ctypes.c_int)
_capsule_address = _prototype("PyCapsule_GetPointer", ctypes.c_void_p)


def _checked_factor(function: str, factor: float) -> float:
    if not (math.isfinite(factor) and 1 <= factor <= 4):
        raise ArgumentValueError(f"{function}: factor must be from 1 to 4 (got {factor}).")
    return float(factor)
