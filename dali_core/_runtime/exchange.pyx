# cython: annotation_typing=False
"""Exchange of memory with other libraries: NumPy arrays, DLPack capsules, Python buffers."""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_ND,
    PyBUF_STRIDES,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.pycapsule cimport (
    PyCapsule_CheckExact, PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetName,
)
from libc.stdint cimport uintptr_t
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string

from dali_core import _types as types
from dali_core._runtime cimport engine
from dali_core.errors import ArgumentTypeError, ArgumentValueError, ExchangeError

cdef extern from "python_memory.hpp" namespace "dali_core":
    shared_ptr[void] hold_python_object(object owner)

cdef extern from "buffer_view.hpp" namespace "dali_core":
    cdef cppclass BufferView:
        BufferView(const engine.Tensor& tensor) except +
        engine.Tensor tensor
        Py_ssize_t* shape
        Py_ssize_t* strides

    const char* buffer_format(engine.DataType type)
    engine.DataType type_of_format(const char* format, Py_ssize_t size)

cdef enum:
    DLPACK_READ_ONLY = 1


cdef engine.Tensor import_array(object data, bint* is_read_only) except *:
    """View Python data as a tensor; what is not dense and row-major is copied."""
    import numpy

    cdef engine.Tensor tensor
    if type(data) is numpy.ndarray and view_dense_array(data, tensor, is_read_only):
        return tensor
    if PyCapsule_CheckExact(data):
        return import_capsule(data, False, is_read_only)
    if hasattr(data, "__dlpack__") and not isinstance(data, (numpy.ndarray, numpy.generic)):
        return import_exporter(data, is_read_only)
    # NumPy would take bytes for text.
    array = (
        numpy.frombuffer(data, numpy.uint8) if isinstance(data, bytes)
        else numpy.asarray(data)
    )
    if not array.flags.c_contiguous:
        # What repeats its elements may be larger than all memory.
        engine.require_host_memory(min(array.nbytes, engine.kMaxBytes))
        array = numpy.ascontiguousarray(array)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    tensor.type = type_of_numpy(array.dtype, type(data).__name__)
    set_shape(tensor, array.shape)
    tensor.data = <void*><uintptr_t>array.__array_interface__["data"][0]
    tensor.storage = hold_python_object(array)
    is_read_only[0] = not array.flags.writeable
    return tensor


cdef engine.DataType type_of_numpy(object dtype, str what) except *:
    try:
        return <engine.DataType><int>int(types.to_dali_type(dtype))
    except TypeError as error:
        raise ArgumentTypeError(
            f"Tensor data must be numbers (got {what} with dtype {dtype}). Convert it to an array "
            "of numbers."
        ) from error


cdef engine.Tensor import_exporter(object data, bint* is_read_only) except *:
    """Take over what an object exports by `__dlpack__`."""
    return import_capsule(exported_by(data, {}), False, is_read_only)


cdef object exported_by(object data, dict arguments):
    """Ask an object for a DLPack capsule of the newest version that it knows."""
    try:
        capsule = data.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:
        # Exporters from before DLPack 1.0 do not know the argument.
        capsule = data.__dlpack__(**arguments)
    except BufferError as error:
        raise ExchangeError(
            f"Tensor data must be exportable by DLPack (got {type(data).__name__}, which says: "
            f"{error}). Convert it first."
        ) from error
    if not PyCapsule_CheckExact(capsule):
        raise ArgumentTypeError(
            f"Tensor data must give a capsule from __dlpack__ (got {type(capsule).__name__} from "
            f"{type(data).__name__}). Pass an array."
        )
    return capsule


cdef bint is_capsule(object data):
    return PyCapsule_CheckExact(data)


cdef engine.Tensor import_capsule(object capsule, bint on_device, bint* is_read_only) except *:
    """Take over what a DLPack capsule of either version holds."""
    cdef engine.DLManagedTensor* managed
    cdef engine.DLManagedTensorVersioned* versioned
    try:
        if PyCapsule_IsValid(capsule, b"dltensor"):
            managed = <engine.DLManagedTensor*>PyCapsule_GetPointer(capsule, b"dltensor")
            PyCapsule_SetName(capsule, b"used_dltensor")
            is_read_only[0] = False
            return engine.import_dlpack(managed, on_device)
        if PyCapsule_IsValid(capsule, b"dltensor_versioned"):
            versioned = <engine.DLManagedTensorVersioned*>PyCapsule_GetPointer(
                capsule, b"dltensor_versioned"
            )
            if versioned.major != 1:
                raise ExchangeError(
                    f"Tensor data must be of DLPack version 1 (got version {versioned.major}). "
                    "Ask the producer for max_version=(1, 0)."
                )
            PyCapsule_SetName(capsule, b"used_dltensor_versioned")
            is_read_only[0] = (versioned.flags & DLPACK_READ_ONLY) != 0
            return engine.import_dlpack(versioned, on_device)
    except ValueError as error:
        raise ArgumentTypeError(f"Tensor data must {error}.") from error
    raise ArgumentValueError(
        f"Tensor data must be a DLPack capsule that was not consumed yet (got {capsule!r}). "
        "Make a new one: each serves once."
    )


cdef bint view_dense_array(object array, engine.Tensor& tensor, bint* is_read_only) except -1:
    """View a NumPy array through its buffer, the fastest way; False if it needs another."""
    cdef Py_buffer buffer
    cdef int i
    try:
        PyObject_GetBuffer(array, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    except (BufferError, ValueError):
        return False
    try:
        tensor.type = type_of_format(buffer.format, buffer.itemsize)
        if tensor.type == engine.DataType.kNone or buffer.ndim > engine.kMaxDims:
            return False
        tensor.shape.ndim = buffer.ndim
        for i in range(buffer.ndim):
            tensor.shape.dims[i] = buffer.shape[i]
        if not engine.is_possible(tensor.shape, tensor.type):
            return False
        tensor.data = buffer.buf
        is_read_only[0] = buffer.readonly
    finally:
        PyBuffer_Release(&buffer)
    # An array keeps its memory in place as long as it is referenced.
    tensor.storage = hold_python_object(array)
    return True


cdef object export_capsule(
    const engine.Tensor& tensor, bint versioned, bint is_copy, bint read_only, str where
):
    """Make a DLPack capsule. Capsules of the old version cannot say that memory is read-only."""
    cdef engine.DLManagedTensorVersioned* managed
    if versioned:
        managed = engine.export_versioned(tensor, is_copy)
        if read_only:
            managed.flags |= DLPACK_READ_ONLY
        return PyCapsule_New(managed, b"dltensor_versioned", _drop_versioned)
    if read_only:
        raise ExchangeError(
            f"{where}: memory must be writable for consumers of DLPack before version 1.0 (got "
            "read-only memory). Ask for a copy, or make the tensor from a writable array."
        )
    return PyCapsule_New(engine.export_unversioned(tensor), b"dltensor", _drop_unversioned)


cdef int export_buffer(
    Py_buffer* buffer, int flags, object owner, const engine.Tensor& tensor, bint read_only
) except -1:
    """Fill in a view of a tensor by the buffer protocol."""
    cdef BufferView* view
    if read_only and flags & PyBUF_WRITABLE:
        raise ExchangeError(
            "TensorCPU: memory must be writable for this use (it is read-only, as what it was made "
            "from). Copy it first."
        )
    view = new BufferView(tensor)
    buffer.internal = view
    buffer.obj = owner
    buffer.buf = tensor.data
    buffer.len = tensor.num_bytes()
    buffer.readonly = read_only
    buffer.itemsize = engine.size_of(tensor.type)
    buffer.format = NULL
    if flags & PyBUF_FORMAT:
        buffer.format = <char*>buffer_format(tensor.type)
    buffer.ndim = 1
    buffer.shape = NULL
    if flags & PyBUF_ND:
        buffer.ndim = tensor.shape.ndim
        buffer.shape = view.shape
    buffer.strides = NULL
    if (flags & PyBUF_STRIDES) == PyBUF_STRIDES:
        buffer.strides = view.strides
    buffer.suboffsets = NULL
    return 0


cdef void release_buffer(Py_buffer* buffer) noexcept:
    """Release what `export_buffer` holds."""
    cdef BufferView* view = <BufferView*>buffer.internal
    del view


cdef int set_shape(engine.Tensor& tensor, object shape) except -1:
    cdef int i
    if len(shape) > engine.kMaxDims:
        raise ArgumentValueError(
            f"Tensor data must have at most {engine.kMaxDims} dimensions (got {len(shape)}). "
            "Reshape it, such as by merging dimensions that belong together."
        )
    tensor.shape.ndim = len(shape)
    try:
        for i in range(tensor.shape.ndim):
            tensor.shape.dims[i] = shape[i]
        engine.check_size(tensor.shape, tensor.type)
    except (OverflowError, ValueError) as error:
        raise ArgumentValueError(f"Tensor data: {error}") from error
    return 0


cdef int set_layout(engine.Tensor& tensor, object layout) except -1:
    """Name the dimensions; None or an empty string for no layout."""
    if layout is None:
        layout = ""
    if not isinstance(layout, str):
        raise ArgumentTypeError(
            f"Tensor layout must be a string or None (got {layout!r}, a {type(layout).__name__}). "
            "Write one letter for each dimension, such as 'HWC'."
        )
    if layout and (len(layout) != tensor.shape.ndim or not layout.isascii() or "\0" in layout):
        raise ArgumentValueError(
            f"Tensor layout must have one ASCII letter for each of the {tensor.shape.ndim} "
            f"dimensions (got {layout!r}). Leave it out, or name every dimension."
        )
    tensor.layout = engine.Layout(<string>layout.encode())
    return 0


cdef void _drop_unversioned(object capsule) noexcept:
    cdef engine.DLManagedTensor* managed
    # A consumer that took the tensor has renamed the capsule.
    if PyCapsule_IsValid(capsule, b"dltensor"):
        managed = <engine.DLManagedTensor*>PyCapsule_GetPointer(capsule, b"dltensor")
        managed.deleter(managed)


cdef void _drop_versioned(object capsule) noexcept:
    cdef engine.DLManagedTensorVersioned* managed
    if PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        managed = <engine.DLManagedTensorVersioned*>PyCapsule_GetPointer(
            capsule, b"dltensor_versioned"
        )
        managed.deleter(managed)
