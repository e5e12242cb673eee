from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_list_base cimport TensorListBase


cdef class TensorListCPU(TensorListBase):
    pass


cdef TensorListCPU wrap_tensors(const vector[engine.Tensor]& samples, bint is_contiguous)
