"""A foreign library that creates and reads device arrays by calls of the driver.

For programs that run with the simulated driver, or with a real one.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import sys
from typing import Any

import numpy
from cuda.bindings import driver

from tests.runtime.dlpack_producer import Consumer, Producer


def call(function: Any, *arguments: Any) -> Any:
    """Call the driver, and return the results."""
    status, *results = function(*arguments)
    assert status == driver.CUresult.CUDA_SUCCESS, (function.__name__, status)
    return results[0] if results else None


def enter(device: int) -> None:
    """Make a device's primary context current for the rest of the program."""
    call(driver.cuInit, 0)
    if device not in _contexts:
        _contexts[device] = call(driver.cuDevicePrimaryCtxRetain, device)
    call(driver.cuCtxSetCurrent, _contexts[device])


def new_stream(device: int = 0) -> int:
    """Create a non-blocking stream."""
    enter(device)
    _streams.append(int(call(driver.cuStreamCreate, driver.CUstream_flags.CU_STREAM_NON_BLOCKING)))
    return _streams[-1]


_contexts: dict[int, Any] = {}
_streams: list[int] = []
_arrays: list[DeviceArray] = []


@atexit.register
def _give_back_everything() -> None:
    program = vars(sys.modules["__main__"])
    for name in [name for name in program if not name.startswith("__")]:
        del program[name]
    gc.collect()
    for array in _arrays:
        array.free()
    for stream in _streams:
        call(driver.cuStreamDestroy, stream)
    for device in _contexts:
        call(driver.cuDevicePrimaryCtxRelease, device)


class DeviceArray:
    """An array on a device, whose data is copied in stream order.

    Parameters
    ----------
    array : numpy.ndarray
        The data, with any strides.
    stream : int, optional
        Handle of the stream; by default a new one.
    device : int
        Number of the device.
    kind : int
        What the device is, by DLPack.
    **stated : int
        Values that `Producer` states instead of the true ones.
    """

    def __init__(
        self,
        array: Any,
        *,
        stream: int | None = None,
        device: int = 0,
        kind: int = 2,
        **stated: int,
    ) -> None:
        self.array = numpy.asarray(array)
        enter(device)
        self.stream = new_stream(device) if stream is None else stream
        self.device = device
        self.is_freed = False
        _arrays.append(self)
        base = self.array if self.array.base is None else self.array.base
        assert isinstance(base, numpy.ndarray)
        self.num_bytes = max(base.nbytes, 1)
        # Pinned, so that it is read in stream order.
        self._host = call(driver.cuMemHostAlloc, self.num_bytes, 1)
        ctypes.memmove(int(self._host), base.ctypes.data, base.nbytes)
        self._memory = call(driver.cuMemAllocAsync, self.num_bytes, self.stream)
        call(driver.cuMemcpyHtoDAsync, self._memory, int(self._host), base.nbytes, self.stream)
        self.pointer = int(self._memory) + self.array.ctypes.data - base.ctypes.data
        self.consumer_streams: list[int | None] = []
        self.producer = Producer(
            self.array,
            device=kind,
            device_id=device,
            address=self.pointer,
            **stated,  # type: ignore[arg-type]
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.producer.__dlpack_device__()

    def __dlpack__(self, *, stream: int | None = None, max_version: Any = None) -> Any:
        self.consumer_streams.append(stream)
        if stream != -1:
            call(driver.cuCtxPushCurrent, _contexts[self.device])
            event = call(driver.cuEventCreate, 2)
            call(driver.cuEventRecord, event, self.stream)
            call(driver.cuStreamWaitEvent, 1 if stream is None else stream, event, 0)
            call(driver.cuEventDestroy, event)
            call(driver.cuCtxPopCurrent)
        return self.producer.__dlpack__()

    def free(self) -> None:
        """Free the memory, and wait for that; in stream order if the stream is of this library."""
        if self.is_freed:
            return
        self.is_freed = True
        enter(self.device)
        if self.stream in _streams:
            call(driver.cuMemFreeAsync, self._memory, self.stream)
            call(driver.cuStreamSynchronize, self.stream)
        else:  # it may have been destroyed
            call(driver.cuMemFree, self._memory)
        call(driver.cuMemFreeHost, int(self._host))


class Interface:
    """Has only `__cuda_array_interface__`."""

    def __init__(self, source: Any, **changes: Any) -> None:
        self.source = source
        self.__cuda_array_interface__ = {
            "shape": source.array.shape,
            "typestr": source.array.dtype.str,
            "data": (source.pointer, False),
            "version": 3,
            "stream": source.stream,
            **changes,
        }


class Reading:
    """An asynchronous copy of device data to the host, in a stream.

    Parameters
    ----------
    address : int
        The address of the data.
    like : numpy.ndarray
        An array of the same shape and type.
    stream : int
        The stream of the copy.
    """

    def __init__(self, address: int, like: Any, stream: int) -> None:
        self.like, self.stream = like, stream
        self._host = int(call(driver.cuMemHostAlloc, max(like.nbytes, 1), 1))
        call(driver.cuMemcpyDtoHAsync, self._host, address, like.nbytes, stream)

    def result(self) -> Any:
        """Wait for the stream, and for no other; then return the data."""
        call(driver.cuStreamSynchronize, self.stream)
        text = ctypes.string_at(self._host, self.like.nbytes)
        call(driver.cuMemFreeHost, self._host)
        return numpy.frombuffer(text, self.like.dtype).reshape(self.like.shape)


def consume(capsule: Any, like: Any, stream: int) -> Any:
    """Read a capsule's data in a stream, and delete the capsule before the copy has completed."""
    consumer = Consumer(capsule)
    assert consumer.shape == like.shape
    reading = Reading(consumer.address, like, stream)
    consumer.give_back()
    return reading.result()
