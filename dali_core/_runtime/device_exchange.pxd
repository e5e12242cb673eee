from libcpp.vector cimport vector

from dali_core._runtime cimport engine


cdef tuple import_on_device(
    object data, object stream, object device_id, engine.Tensor& tensor, bint* is_read_only,
    str where,
)
cdef vector[engine.Tensor] adopt_on_device(list samples, object stream, str where) except *
cdef int check_device(int device, object wanted, str where) except -1
