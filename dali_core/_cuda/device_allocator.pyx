# cython: annotation_typing=False
"""Memory for operators on a device, as C++ asks for it."""

from cuda.bindings cimport cydriver
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string

from dali_core._cuda.device_state cimport StreamState
from dali_core._cuda.device_work cimport DeviceMemory
from dali_core._cuda.memory cimport allocate_anywhere, host_pool
from dali_core._cuda.stream cimport Stream
from dali_core._runtime cimport engine

cdef extern from "device_allocator.hpp" namespace "dali_core" nogil:
    cdef cppclass StreamAllocator(DeviceMemory):
        StreamAllocator(
            shared_ptr[StreamState] stream, shared_ptr[engine.BufferPool] host_pool,
            shared_ptr[void] (*allocate)(
                const shared_ptr[StreamState]&, size_t, cydriver.CUresult*, string*
            ) noexcept nogil
        ) except +


cdef class DeviceAllocator:
    """Allocates memory in the order of a stream.

    Parameters
    ----------
    stream : Stream
        The stream, which also says on which device.
    """

    def __init__(self, Stream stream not None):
        self.stream = stream
        self.allocator = shared_ptr[DeviceMemory](
            <DeviceMemory*>new StreamAllocator(stream.state, host_pool(), allocate_anywhere)
        )

    cdef DeviceMemory* memory(self) noexcept:
        return self.allocator.get()
