from libc.stdint cimport uintptr_t

from dali_core._runtime cimport engine

cdef object _UNSET


cdef class TensorBase:
    cdef object __weakref__
    cdef engine.Tensor tensor
    cdef bint is_read_only


cdef object given(str where, dict values)
cdef object type_of(const engine.Tensor& tensor)
cdef str layout_of(const engine.Tensor& tensor)
cdef str source_of(const engine.Tensor& tensor)
cdef int set_source(engine.Tensor& tensor, str source) except -1
cdef int reinterpret_as(engine.Tensor& tensor, object new_type, str where) except -1
cdef object integer_of(object value, str what)
cdef uintptr_t address_of(object ptr, str where) except? 0
cdef dict array_interface_of(TensorBase tensor)
