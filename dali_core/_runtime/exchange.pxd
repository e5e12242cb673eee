from dali_core._runtime cimport engine


cdef engine.Tensor import_array(object data, bint* is_read_only) except *
cdef engine.Tensor import_exporter(object data, bint* is_read_only) except *
cdef engine.Tensor import_capsule(object capsule, bint on_device, bint* is_read_only) except *
cdef object exported_by(object data, dict arguments)
cdef bint is_capsule(object data)
cdef engine.DataType type_of_numpy(object dtype, str what) except *
cdef object export_capsule(
    const engine.Tensor& tensor, bint versioned, bint is_copy, bint read_only, str where
)
cdef int export_buffer(
    Py_buffer* buffer, int flags, object owner, const engine.Tensor& tensor, bint read_only
) except -1
cdef void release_buffer(Py_buffer* buffer) noexcept
cdef int set_shape(engine.Tensor& tensor, object shape) except -1
cdef int set_layout(engine.Tensor& tensor, object layout) except -1
