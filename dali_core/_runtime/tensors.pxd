from libcpp.vector cimport vector

from dali_core._runtime cimport engine


cdef class TensorCPU:
    cdef engine.Tensor tensor
    cdef bint is_read_only


cdef class TensorListCPU:
    cdef vector[engine.Tensor] samples
    cdef bint is_contiguous
    cdef bint is_read_only


cdef TensorListCPU wrap_tensors(const vector[engine.Tensor]& samples, bint is_contiguous)
