"""Other libraries' allocators of device memory, as `set_allocator` takes them."""

from __future__ import annotations

import importlib
from typing import Any

from dali_core._cuda import load


class PyTorchAllocator:
    """PyTorch's caching allocator: its statistics then include this library's memory."""

    def __init__(self) -> None:
        torch: Any = importlib.import_module("torch")
        self._allocate = torch.cuda.caching_allocator_alloc
        self._deallocate = torch.cuda.caching_allocator_delete
        self._current_device = load("driver").current_device

    def allocate(self, nbytes: int, stream_handle: int) -> int:
        """Return the address of memory for use in the order of a stream."""
        return int(self._allocate(nbytes, self._current_device(), stream_handle))

    def deallocate(self, pointer: int, nbytes: int, stream_handle: int) -> None:
        """Take memory back, for reuse in the order of the same stream."""
        self._deallocate(pointer)


class _ForeignStream:
    """A stream for libraries that know the protocol of streams."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self._handle)


class RmmAllocator:
    """A memory resource of RMM.

    Parameters
    ----------
    resource : rmm.mr.DeviceMemoryResource, optional
        By default the one that is current for the device when memory is asked for.
    """

    def __init__(self, resource: Any = None) -> None:
        self._resource = resource
        self._current_resource = importlib.import_module("rmm.mr").get_current_device_resource
        self._stream = importlib.import_module("rmm.pylibrmm.stream").Stream
        self._resources: dict[int, Any] = {}

    def allocate(self, nbytes: int, stream_handle: int) -> int:
        """Return the address of memory for use in the order of a stream."""
        resource = self._resource or self._current_resource()
        pointer = int(resource.allocate(nbytes, self._stream(_ForeignStream(stream_handle))))
        self._resources[pointer] = resource
        return pointer

    def deallocate(self, pointer: int, nbytes: int, stream_handle: int) -> None:
        """Return memory to the resource that it is from."""
        resource = self._resources.pop(pointer)
        resource.deallocate(pointer, nbytes, self._stream(_ForeignStream(stream_handle)))
