"""An adapter for a framework that reads device addresses in its own stream."""

from __future__ import annotations

from typing import Any

import numpy

from dali_core import types
from dali_core.adapters import Adapter
from dali_core.testing import DeviceAdapterSuite
from tests.cuda.other_library import Reading, new_stream


class Array:
    """Device memory, with a reference to its owner."""

    def __init__(self, tensor: Any, stream: int | None) -> None:
        self.owner = tensor
        self.stream = stream
        self.is_known = stream is not None
        interface = {**tensor.__cuda_array_interface__, "stream": stream}
        self.__cuda_array_interface__ = interface
        dtype = types.to_numpy_type(tensor.dtype)
        self.like = numpy.empty(interface["shape"], dtype)

    def __getitem__(self, part: slice) -> Array:
        result = Array(self.owner, self.stream)
        result.like = self.like[part]
        result.__cuda_array_interface__["shape"] = result.like.shape
        return result

    def __len__(self) -> int:
        return len(self.like)

    def read(self) -> Reading:
        """Copy the data to the host in the framework's stream, or immediately in a new one."""
        address = self.__cuda_array_interface__["data"][0]
        reading = Reading(address, self.like, self.stream or new_stream(self.owner.device_id()))
        if not self.is_known:
            # Only the framework knows how long the memory is needed.
            reading.owner = self.owner  # type: ignore[attr-defined]
        return reading


class AddressAdapter(Adapter):
    """Passes addresses.

    Parameters
    ----------
    has_streams : bool
        Whether the framework works in a stream of its own on each device.
    """

    name = "address"

    def __init__(self, *, has_streams: bool = True) -> None:
        self.has_streams = has_streams
        self.streams: dict[int, int] = {}

    def from_tensor(self, tensor: Any) -> Array:
        return Array(tensor, self.stream(tensor.device_id()))

    def stream(self, device_id: int) -> int | None:
        if not self.has_streams:
            return None
        if device_id not in self.streams:
            self.streams[device_id] = new_stream(device_id)
        return self.streams[device_id]


class Suite(DeviceAdapterSuite):
    """The suite of the library."""

    adapter = AddressAdapter()


class SuiteWithoutStreams(DeviceAdapterSuite):
    """The same, with a host that waits."""

    adapter = AddressAdapter(has_streams=False)
