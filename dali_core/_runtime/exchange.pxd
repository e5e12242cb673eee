from dali_core._runtime cimport engine


cdef engine.Tensor import_array(object data, bint* is_read_only) except *
cdef engine.Tensor import_exporter(object data, bint* is_read_only) except *
cdef object export_capsule(const engine.Tensor& tensor, bint versioned, bint copy, bint read_only)
cdef int export_buffer(
    Py_buffer* buffer, int flags, object owner, const engine.Tensor& tensor, bint read_only
) except -1
cdef void release_buffer(Py_buffer* buffer) noexcept
cdef int set_shape(engine.Tensor& tensor, object shape) except -1
cdef int set_layout(engine.Tensor& tensor, object layout) except -1
