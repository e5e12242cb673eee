from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.any_tensor_list cimport AnyTensorList


cdef class TensorListCPU(AnyTensorList):
    pass


cdef TensorListCPU wrap_tensors(const vector[engine.Tensor]& samples, bint is_contiguous)
