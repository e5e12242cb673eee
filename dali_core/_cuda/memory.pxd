from cuda.bindings cimport cydriver
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string

from dali_core._cuda.device_state cimport StreamState
from dali_core._cuda.stream cimport Stream
from dali_core._runtime cimport engine


cdef shared_ptr[void] allocate(Stream stream, size_t bytes) except *
cdef shared_ptr[void] allocate_host(size_t bytes) except *
cdef shared_ptr[engine.BufferPool] host_pool() except *
cdef shared_ptr[void] borrow(Stream stream, void* pointer, object lender) except *
cdef int record_stream(const shared_ptr[void]& block, Stream consumer) except -1
cdef int copy(void* to, const void* from_, size_t bytes, Stream stream) except -1
# For any thread, without the GIL: null and a text if it fails.
cdef shared_ptr[void] allocate_anywhere(
    const shared_ptr[StreamState]& stream, size_t bytes, cydriver.CUresult* status, string* failure
) noexcept nogil
