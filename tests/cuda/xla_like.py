"""A framework that treats imported memory as XLA does.

An imported array is defined once an idle stream, made for imports only, has waited for its data.
Computations run in another stream, which waits for that. Deleting an array releases its memory at
once, whatever is queued in the other stream.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
from cuda.bindings import driver

from dali_core.plugin.pending_release import PendingRelease
from tests.cuda.other_library import Consumer, Reading, call, new_stream


class Array:
    """Memory on a device that is complete after an event, and how it is released."""

    def __init__(
        self, address: int, like: Any, defined: Any, release: Callable[[], object]
    ) -> None:
        self.address, self.like, self.defined, self.release = address, like, defined, release

    def is_ready(self) -> bool:
        """Return whether the data are there."""
        return bool(driver.cuEventQuery(self.defined)[0] == driver.CUresult.CUDA_SUCCESS)

    def __del__(self) -> None:
        self.release()
        call(driver.cuEventDestroy, self.defined)


class Client:
    """The framework, on one device."""

    def __init__(self) -> None:
        self.external, self.compute = new_stream(), new_stream()
        self.pending = PendingRelease(Array.is_ready)

    def _event(self, stream: int) -> Any:
        event = call(driver.cuEventCreate, 2)
        call(driver.cuEventRecord, event, stream)
        return event

    def from_dlpack(self, tensor: Any) -> Array:
        """Import a tensor without copying it."""
        like = numpy.empty(tensor.shape(), "u1")
        consumer = Consumer(tensor.__dlpack__(stream=self.external))
        return Array(consumer.address, like, self._event(self.external), consumer.give_back)

    def copied(self, array: Array) -> Array:
        """Queue a copy on the device, and hold the array until it is made."""
        call(driver.cuStreamWaitEvent, self.compute, array.defined, 0)
        size = array.like.nbytes
        memory = call(driver.cuMemAllocAsync, size, self.compute)
        call(driver.cuMemcpyDtoDAsync, int(memory), array.address, size, self.compute)
        free = partial(call, driver.cuMemFreeAsync, memory, self.compute)
        copy = Array(int(memory), array.like, self._event(self.compute), free)
        self.pending.hold(array, copy)
        return copy

    def read(self, array: Array) -> Reading:
        """Queue a copy to the host."""
        call(driver.cuStreamWaitEvent, self.compute, array.defined, 0)
        return Reading(array.address, array.like, self.compute)
