from libc.stdint cimport int64_t, uintptr_t
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from dali_core._runtime cimport engine

cdef extern from "sample_copies.hpp" namespace "dali_core" nogil:
    bint have_one_owner(const vector[engine.Tensor]& samples)


cdef object tensor_memory()
cdef object stream_of(object stream, int device)
cdef object side_stream(int device, object ready)
cdef vector[engine.Tensor] copied_on_device(
    const vector[engine.Tensor]& samples, object stream, int64_t alignment=*
) except *
cdef vector[engine.Tensor] copied_to_device(
    const vector[engine.Tensor]& samples, int device, object stream
) except *
cdef vector[engine.Tensor] copied_to_host(
    const vector[engine.Tensor]& samples, object ready
) except *
cdef int copy_out(
    const vector[engine.Tensor]& samples, uintptr_t to, object ready, object cuda_stream,
    bint non_blocking, bint with_kernel,
) except -1
cdef shared_ptr[void] borrowed(const engine.Tensor& tensor, object stream) except *
cdef int record_stream(const vector[engine.Tensor]& samples, object stream) except -1
