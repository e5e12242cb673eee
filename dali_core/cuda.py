"""NVIDIA GPUs: what there are, streams, and memory.

Nothing of CUDA is loaded before the first call. What needs it raises `CudaUnavailableError` on a
machine without.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

from dali_core._cuda import load
from dali_core.errors import CudaError

if TYPE_CHECKING:
    from dali_core._cuda.stream import Event as Event
    from dali_core._cuda.stream import Stream as Stream

__all__ = [
    "DeviceAllocator",
    "Event",
    "Stream",
    "device_count",
    "device_name",
    "is_available",
    "memory_stats",
    "pytorch_allocator",
    "release_unused_memory",
    "rmm_allocator",
    "set_allocator",
]


class DeviceAllocator(Protocol):
    """What serves memory of devices instead of this library's own pools.

    Both methods are called in any thread, with the device's context current, and must not wait for
    the device.
    """

    def allocate(self, nbytes: int, stream_handle: int, /) -> int:
        """Return the address of memory for use in the order of a stream, or raise an error."""
        ...

    def deallocate(self, pointer: int, nbytes: int, stream_handle: int, /) -> None:
        """Take memory back; the stream may not have completed its last use."""
        ...


def __getattr__(name: str) -> Any:
    if name in ("Event", "Stream"):
        return getattr(load("stream"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_available() -> bool:
    """Return whether this process can use a GPU."""
    try:
        return device_count() > 0
    except CudaError:
        return False


def device_count() -> int:
    """Count the devices that this process sees.

    Raises
    ------
    CudaUnavailableError
        If there is none, no driver, or no cuda-bindings; the message says which.
    """
    count: int = load("driver").device_count()
    return count


def device_name(device_id: int = 0) -> str:
    """Return a device's name, such as ``"NVIDIA H100 80GB HBM3"``.

    Parameters
    ----------
    device_id : int
        Number of the device.
    """
    name: str = load("driver").device_name(device_id)
    return name


def memory_stats(device_id: int = 0) -> dict[str, int]:
    """Return how much memory is in use.

    Parameters
    ----------
    device_id : int
        Number of the device.

    Returns
    -------
    dict of str to int
        ``used_bytes`` and ``used_high_bytes``: in the hands of tensors and operators, now and at
        most so far. ``reserved_bytes`` and ``reserved_high_bytes``: taken from the device, used or
        not. ``host_used_bytes`` and ``host_idle_bytes``: pinned memory of the host, for all
        devices together.
    """
    stats: dict[str, int] = load("memory").memory_stats(device_id)
    return stats


def release_unused_memory(device_id: int | None = None) -> None:
    """Return unused memory: to the devices, and pinned memory to the system.

    Pipelines may run meanwhile. Where nothing has used a GPU yet, there is nothing to do.

    Parameters
    ----------
    device_id : int, optional
        The only device to look at; by default all that were used.
    """
    if "dali_core._cuda.memory" in sys.modules:
        load("memory").release_unused_memory(device_id)


def set_allocator(allocator: DeviceAllocator | None, device_id: int | None = None) -> None:
    """Take memory of devices from an external allocator from now on.

    Memory that is in use is returned to the allocator that it is from. An error that the allocator
    raises is the cause of an `OutOfDeviceMemoryError`.

    Parameters
    ----------
    allocator : DeviceAllocator or None
        Such as `pytorch_allocator()` or `rmm_allocator()`; None for this library's own pools.
    device_id : int, optional
        The only device that it is for; by default all that have none of their own.

    Examples
    --------
    >>> from dali_core import cuda
    >>> cuda.set_allocator(cuda.pytorch_allocator())
    """
    load("memory").set_allocator(allocator, device_id)


def pytorch_allocator() -> DeviceAllocator:
    """Return PyTorch's caching allocator, for `set_allocator`.

    Memory that one library has freed then serves the other, and ``torch.cuda.memory_allocated()``
    includes what pipelines use.
    """
    from dali_core._cuda.allocators import PyTorchAllocator

    return PyTorchAllocator()


def rmm_allocator(resource: Any = None) -> DeviceAllocator:
    """Return an allocator over a memory resource of RMM, for `set_allocator`.

    Parameters
    ----------
    resource : rmm.mr.DeviceMemoryResource, optional
        By default the one that is current for the device whenever memory is asked for.
    """
    from dali_core._cuda.allocators import RmmAllocator

    return RmmAllocator(resource)
