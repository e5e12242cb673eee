from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport TensorBase


cdef class TensorCPU(TensorBase):
    pass


cdef TensorCPU wrap_tensor(const engine.Tensor& tensor, bint is_read_only)
cdef engine.Tensor tensor_of(object data, object layout, bint* is_read_only) except *
cdef engine.Tensor copy_of(const engine.Tensor& tensor) except *
