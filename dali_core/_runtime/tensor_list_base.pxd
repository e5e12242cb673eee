from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport TensorBase

cdef extern from "tensor_list.hpp" namespace "dali_core" nogil:
    bint have_one_shape(const vector[engine.Tensor]& samples)
    bint are_contiguous(const vector[engine.Tensor]& samples)
    engine.Tensor joined(
        const vector[engine.Tensor]& samples, const engine.Tensor& kind, const engine.Shape& shape
    ) except +
    vector[engine.Tensor] split(const engine.Tensor& whole) except +


cdef class TensorListBase:
    cdef object __weakref__
    cdef vector[engine.Tensor] samples
    # What samples would be like, for as long as there are none.
    cdef engine.Tensor kind
    # Whether the samples lie one after the other in memory, without gaps.
    cdef bint is_contiguous
    cdef bint is_read_only

    # Of the same class, over memory that this list has.
    cdef TensorBase _wrap(self, const engine.Tensor& tensor)
    cdef TensorListBase _empty_part(self)
    # Moves the samples of this list into one block, which is not shared.
    cdef int _gather(self) except -1

    cdef engine.Tensor _first(self)
    cdef TensorBase _sample(self, index)
    cdef TensorListBase _slice(self, object index)
    cdef TensorBase _as_tensor(self)
    cdef TensorBase _as_reshaped_tensor(self, object shape)
    cdef int _gather_if_apart(self) except -1


cdef int set_layouts(
    vector[engine.Tensor]& samples, engine.Tensor& kind, object layout
) except -1
cdef int check_layouts(vector[engine.Tensor]& samples, str where) except -1
cdef int check_same_types(const vector[engine.Tensor]& samples, str where) except -1
cdef vector[engine.Tensor] rows_of(
    const engine.Tensor& whole, engine.Tensor& kind, str where
) except *
