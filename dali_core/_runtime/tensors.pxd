from libcpp.vector cimport vector

from dali_core._runtime cimport engine


cdef class TensorCPU:
    cdef engine.Tensor tensor
    cdef Py_ssize_t[8] buffer_shape
    cdef Py_ssize_t[8] buffer_strides


cdef class TensorListCPU:
    cdef vector[engine.Tensor] samples
    cdef bint contiguous


cdef TensorCPU wrap_tensor(const engine.Tensor& tensor)
cdef TensorListCPU wrap_tensors(const vector[engine.Tensor]& samples, bint contiguous)
cdef engine.Tensor tensor_of(object data, str layout) except *
cdef str layout_of(const engine.Tensor& tensor)
