from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_list_base cimport TensorListBase


cdef class TensorListGPU(TensorListBase):
    # The `dali_core._cuda` stream in whose order the data are computed and may be used.
    cdef object _stream
    # The event after which the data are complete; None if they are.
    cdef object _ready

    cdef int _set_samples(self, list tensors) except -1
    # Moves the samples into one block, where each begins at a multiple of `alignment`.
    cdef int _move(self, int64_t alignment) except -1
    # Lets a stream wait for the data, whose memory is not free before the stream is past that.
    cdef int _use_in(self, object stream) except -1


cdef TensorListGPU wrap_device_tensors(
    const vector[engine.Tensor]& samples, bint is_contiguous, object stream, object ready
)
