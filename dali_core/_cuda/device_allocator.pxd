from libcpp.memory cimport shared_ptr

from dali_core._cuda.device_work cimport DeviceMemory
from dali_core._cuda.stream cimport Stream


cdef class DeviceAllocator:
    cdef readonly Stream stream
    cdef shared_ptr[DeviceMemory] allocator
    # Lives as long as this object, and may be used by any thread without the GIL.
    cdef DeviceMemory* memory(self) noexcept
