from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor cimport TensorCPU


cdef class TensorListCPU:
    cdef object __weakref__
    cdef vector[engine.Tensor] samples
    # What samples would be like, for as long as there are none.
    cdef engine.Tensor kind
    # Whether the samples lie one after the other in memory, without gaps.
    cdef bint is_contiguous
    cdef bint is_read_only

    cdef engine.Tensor _first(self)
    cdef TensorCPU _sample(self, index)
    cdef TensorCPU _joined(self, const engine.Shape& shape)
    cdef int _gather_if_apart(self) except -1
    cdef int _gather(self) except -1


cdef TensorListCPU wrap_tensors(const vector[engine.Tensor]& samples, bint is_contiguous)
