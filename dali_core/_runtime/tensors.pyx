"""Tensors in host memory: what pipelines give out, and what users may feed in.

Memory is owned by reference count. Whatever a tensor shows stays as it is for as long as the
tensor, or anything made from it without copying, is alive.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from dali_core import types
from dali_core._runtime cimport engine

cdef extern from "python_memory.hpp" namespace "dali_core":
    shared_ptr[void] hold_python_object(object owner)

cdef dict _FORMATS = {
    types.UINT8: b"B", types.UINT16: b"H", types.UINT32: b"I", types.UINT64: b"Q",
    types.INT8: b"b", types.INT16: b"h", types.INT32: b"i", types.INT64: b"q",
    types.FLOAT16: b"e", types.FLOAT: b"f", types.FLOAT64: b"d", types.BOOL: b"?",
}
cdef dict _BY_NUMBER = {int(member): member for member in types.DALIDataType}


cdef class TensorCPU:
    """A tensor in host memory: dense, row-major, with an element type and perhaps a layout.

    It works with NumPy and every consumer of DLPack or of the buffer protocol, without copying.

    Parameters
    ----------
    data : object
        Anything with `__dlpack__`, the buffer protocol or `__array_interface__`; a DLPack capsule; or
        another tensor. Memory that is dense and row-major is shared, any other is copied.
    layout : str
        One letter a dimension, such as ``"HWC"``; empty for none.
    is_pinned : bool
        Accepted for compatibility: whether memory is page-locked makes no difference on the host.
    """

    def __init__(self, object data, str layout="", bint is_pinned=False):
        self.tensor = tensor_of(data, layout)

    @property
    def dtype(self):
        """Element type, a `types.DALIDataType`."""
        return _BY_NUMBER[<int>self.tensor.type]

    def shape(self):
        """Give the extents, outermost first, as a list of int."""
        return [self.tensor.shape.dims[i] for i in range(self.tensor.shape.ndim)]

    def ndim(self):
        """Give the number of dimensions."""
        return self.tensor.shape.ndim

    def layout(self):
        """Give the layout, such as ``"HWC"``; empty if there is none."""
        return layout_of(self.tensor)

    def source_info(self):
        """Give the name of the file that the sample was read from; empty if unknown."""
        return _source_of(self.tensor)

    def get_property(self, str name):
        """Look up ``"layout"`` or ``"source_info"``.

        Raises
        ------
        KeyError
            If there is no such property.
        """
        if name == "layout":
            return self.layout()
        if name == "source_info":
            return self.source_info()
        raise KeyError(
            f"TensorCPU.get_property: name must be 'layout' or 'source_info' (got {name!r})."
        )

    def data_ptr(self):
        """Give the address of the first element."""
        return <uintptr_t>self.tensor.data

    def as_cpu(self):
        """Give this tensor itself, since it is on the host."""
        return self

    def squeeze(self, dim=None):
        """Remove dimensions of extent 1 in place, together with their letters in the layout.

        Parameters
        ----------
        dim : int, optional
            The only dimension to remove; negative counts from the end.

        Returns
        -------
        bool
            Whether the shape changed.
        """
        cdef int ndim = self.tensor.shape.ndim
        if dim is not None and not -ndim <= dim < ndim:
            raise IndexError(
                f"TensorCPU.squeeze: dim must be in [-{ndim}, {ndim - 1}] (got {dim})."
            )
        wanted = range(ndim) if dim is None else (dim % ndim,)
        shape = self.shape()
        kept = [i for i in range(ndim) if not (i in wanted and shape[i] == 1)]
        if len(kept) == ndim:
            return False
        layout = self.layout()
        _set_shape(self.tensor, [shape[i] for i in kept])
        _set_layout(self.tensor, "".join(layout[i] for i in kept) if layout else "")
        return True

    def copy_to_external(self, ptr):
        """Copy the elements to an address.

        Parameters
        ----------
        ptr : ctypes.c_void_p or int
            Where to write; the memory there must hold the whole tensor.
        """
        cdef uintptr_t address = _address_of(ptr, "TensorCPU.copy_to_external")
        cdef size_t count = <size_t>self.tensor.num_bytes()
        with nogil:
            memcpy(<void*>address, self.tensor.data, count)

    def __len__(self):
        if self.tensor.shape.ndim == 0:
            raise TypeError("TensorCPU: a tensor without dimensions has no length.")
        return self.tensor.shape.dims[0]

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        cdef int i
        cdef int ndim = self.tensor.shape.ndim
        cdef Py_ssize_t itemsize = engine.size_of(self.tensor.type)
        cdef Py_ssize_t stride = itemsize
        for i in range(ndim - 1, -1, -1):
            self.buffer_shape[i] = self.tensor.shape.dims[i]
            self.buffer_strides[i] = stride
            stride *= self.tensor.shape.dims[i]
        cdef bytes element_format = _FORMATS[self.dtype]
        buffer.buf = self.tensor.data
        buffer.obj = self
        buffer.len = self.tensor.num_bytes()
        buffer.readonly = 0
        buffer.itemsize = itemsize
        # The bytes object lives in the module's table, so its characters stay where they are.
        buffer.format = NULL
        if flags & PyBUF_FORMAT:
            buffer.format = element_format
        buffer.ndim = ndim
        buffer.shape = NULL
        if flags & PyBUF_ND:
            buffer.shape = self.buffer_shape
        buffer.strides = NULL
        if (flags & PyBUF_STRIDES) == PyBUF_STRIDES:
            buffer.strides = self.buffer_strides
        buffer.suboffsets = NULL
        buffer.internal = NULL

    @property
    def __array_interface__(self):
        return {
            "version": 3,
            "shape": tuple(self.shape()),
            "typestr": _numpy_dtype(self.dtype).str,
            "data": (<uintptr_t>self.tensor.data, False),
            "strides": None,
        }

    def __array__(self, dtype=None, copy=None):
        import numpy

        array = numpy.frombuffer(self, _numpy_dtype(self.dtype)).reshape(self.shape()) \
            if self.tensor.num_elements() else numpy.empty(self.shape(), _numpy_dtype(self.dtype))
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    "TensorCPU.__array__: copy=False needs the tensor's own dtype "
                    f"{array.dtype} (got {dtype}). Leave out dtype, or allow the copy."
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Export the tensor to another framework.

        Parameters
        ----------
        stream : None
            Host memory has no stream.
        max_version : tuple of int, optional
            Newest DLPack version that the consumer reads; without it the old capsule is made.
        dl_device : tuple of int, optional
            Device where the consumer wants the data; only the host, ``(1, 0)``, is possible.
        copy : bool, optional
            Whether the consumer asks for memory of its own.
        """
        if stream is not None:
            raise ValueError(
                f"TensorCPU.__dlpack__: stream must be None for host memory (got {stream!r})."
            )
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(
                f"TensorCPU.__dlpack__: dl_device must be the host, (1, 0) (got {dl_device!r}). "
                "Import the tensor on the host and copy it there."
            )
        cdef engine.Tensor exported = _copy_of(self.tensor) if copy else self.tensor
        cdef void* managed
        if max_version is not None and max_version[0] >= 1:
            managed = engine.export_versioned(exported, bool(copy))
            return PyCapsule_New(managed, b"dltensor_versioned", _drop_versioned)
        managed = engine.export_unversioned(exported)
        return PyCapsule_New(managed, b"dltensor", _drop_unversioned)

    def __repr__(self):
        import numpy

        layout = f", layout={self.layout()!r}" if self.layout() else ""
        body = numpy.array2string(numpy.asarray(self), threshold=32, edgeitems=2)
        return f"TensorCPU({body}, dtype={self.dtype}, shape={self.shape()}{layout})"


cdef class TensorListCPU:
    """A batch of tensors in host memory, with equal element types and possibly different shapes.

    Parameters
    ----------
    data : object
        A list of tensors or arrays; or one array, tensor or DLPack capsule whose first dimension is
        the batch; or another list.
    layout : str, optional
        Layout of each sample, without a letter for the batch.
    is_pinned : bool
        Accepted for compatibility.
    """

    def __init__(self, object data, object layout=None, bint is_pinned=False):
        cdef TensorListCPU other
        cdef engine.Tensor whole
        if isinstance(data, TensorListCPU):
            other = data
            self.samples = other.samples
            self.contiguous = other.contiguous
            if layout is not None:
                _set_layouts(self.samples, layout)
        elif isinstance(data, (list, tuple)):
            for item in data:
                self.samples.push_back(tensor_of(item, layout or ""))
            _check_same_types(self.samples)
            self.contiguous = _lie_side_by_side(self.samples)
        else:
            whole = tensor_of(data, "")
            if whole.shape.ndim == 0:
                raise ValueError(
                    "TensorListCPU: data must have the batch as its first dimension (got a scalar)."
                )
            _split(whole, self.samples)
            _set_layouts(self.samples, layout or "")
            self.contiguous = True

    @property
    def dtype(self):
        """Element type of all samples, a `types.DALIDataType`."""
        if self.samples.empty():
            return types.NO_TYPE
        return _BY_NUMBER[<int>self.samples[0].type]

    def layout(self):
        """Give the layout of each sample, such as ``"HWC"``; empty if there is none."""
        return "" if self.samples.empty() else layout_of(self.samples[0])

    def ndim(self):
        """Give the number of dimensions of each sample."""
        return 0 if self.samples.empty() else self.samples[0].shape.ndim

    def shape(self):
        """Give the shape of each sample, as a list of tuples."""
        cdef size_t i
        cdef int d
        return [
            tuple([self.samples[i].shape.dims[d] for d in range(self.samples[i].shape.ndim)])
            for i in range(self.samples.size())
        ]

    def is_dense_tensor(self):
        """Tell whether all samples have one shape and lie side by side, so `as_tensor` works."""
        return bool(self.contiguous)

    def as_tensor(self):
        """View the batch as one tensor whose first dimension is the batch, without copying.

        Raises
        ------
        ValueError
            If the samples differ in shape; the message lists the shapes.
        """
        cdef TensorCPU result = TensorCPU.__new__(TensorCPU)
        if not self.contiguous:
            raise ValueError(
                "TensorListCPU.as_tensor: all samples must have the same shape "
                f"(got {_summary(self.shape())}). Resize, crop or pad them in the pipeline, or take "
                "the samples one by one with at(i)."
            )
        result.tensor = _joined(self.samples)
        return result

    def as_reshaped_tensor(self, shape):
        """View the batch as one tensor of another shape with as many elements, without copying.

        Parameters
        ----------
        shape : sequence of int
            Extents of the result, batch included.
        """
        cdef TensorCPU result = self.as_tensor()
        cdef int64_t count = 1
        for extent in shape:
            count *= extent
        if count != result.tensor.num_elements():
            raise ValueError(
                f"TensorListCPU.as_reshaped_tensor: shape must have {result.tensor.num_elements()} "
                f"elements (got {tuple(shape)})."
            )
        _set_shape(result.tensor, list(shape))
        _set_layout(result.tensor, "")
        return result

    def as_array(self):
        """View the batch as one NumPy array, without copying. All samples must have one shape."""
        import numpy

        return numpy.asarray(self.as_tensor())

    def as_cpu(self):
        """Give this list itself, since it is on the host."""
        return self

    def at(self, Py_ssize_t index):
        """View one sample as a NumPy array, without copying."""
        import numpy

        return numpy.asarray(self[index])

    def data_ptr(self):
        """Give the address of the first element of the first sample."""
        return <uintptr_t>self.samples[0].data if not self.samples.empty() else 0

    def copy_to_external(self, ptr):
        """Copy all samples, one after the other, to an address.

        Parameters
        ----------
        ptr : ctypes.c_void_p or int
            Where to write; the memory there must hold the whole batch.
        """
        cdef uintptr_t address = _address_of(ptr, "TensorListCPU.copy_to_external")
        cdef size_t i, count
        with nogil:
            for i in range(self.samples.size()):
                count = <size_t>self.samples[i].num_bytes()
                memcpy(<void*>address, self.samples[i].data, count)
                address += count

    def __len__(self):
        return self.samples.size()

    def __getitem__(self, Py_ssize_t index):
        cdef Py_ssize_t size = self.samples.size()
        if not -size <= index < size:
            raise IndexError(
                f"TensorListCPU: index must be below the {size} samples of the batch (got {index})."
            )
        return wrap_tensor(self.samples[index % size if size else 0])

    def __iter__(self):
        for index in range(len(self)):
            yield self[index]

    def __repr__(self):
        layout = f", layout={self.layout()!r}" if self.layout() else ""
        return (
            f"TensorListCPU({len(self)} samples, dtype={self.dtype}, "
            f"shape={_summary(self.shape())}{layout})"
        )


cdef TensorCPU wrap_tensor(const engine.Tensor& tensor):
    cdef TensorCPU result = TensorCPU.__new__(TensorCPU)
    result.tensor = tensor
    return result


cdef TensorListCPU wrap_tensors(const vector[engine.Tensor]& samples, bint contiguous):
    cdef TensorListCPU result = TensorListCPU.__new__(TensorListCPU)
    result.samples = samples
    result.contiguous = contiguous
    return result


cdef engine.Tensor tensor_of(object data, str layout) except *:
    """View Python data as a tensor; what is not dense and row-major is copied by NumPy."""
    import numpy

    cdef engine.Tensor tensor
    if isinstance(data, TensorCPU):
        tensor = (<TensorCPU>data).tensor
        if layout:
            _set_layout(tensor, layout)
        return tensor
    if PyCapsule_IsValid(data, b"dltensor") or PyCapsule_IsValid(data, b"dltensor_versioned"):
        data = _Capsule(data)
    if isinstance(data, numpy.ndarray):
        array = data
    elif hasattr(data, "__dlpack__") and not isinstance(data, numpy.generic):
        array = numpy.from_dlpack(data)
    else:
        array = numpy.asarray(data)
    array = numpy.asarray(array, order="C")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    try:
        data_type = types.to_dali_type(array.dtype)
    except TypeError as error:
        raise TypeError(
            f"Tensor data must be numbers (got {type(data).__name__} with dtype {array.dtype}). "
            "Convert it to an array of numbers."
        ) from error
    if array.ndim > engine.kMaxDims:
        raise ValueError(
            f"Tensor data must have at most {engine.kMaxDims} dimensions (got {array.ndim})."
        )
    tensor.type = <engine.DataType><int>int(data_type)
    _set_shape(tensor, array.shape)
    _set_layout(tensor, layout)
    tensor.data = <void*><uintptr_t>array.__array_interface__["data"][0]
    tensor.storage = hold_python_object(array)
    return tensor


cdef str layout_of(const engine.Tensor& tensor):
    return (<bytes>tensor.layout.c_str()).decode()


class _Capsule:
    """A DLPack capsule with the methods that importers ask for."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


cdef object _numpy_dtype(data_type):
    import numpy

    return numpy.dtype(types.to_numpy_type(data_type))


cdef str _source_of(const engine.Tensor& tensor):
    return tensor.source.get()[0].decode(errors="surrogateescape") if tensor.source else ""


cdef uintptr_t _address_of(object ptr, str where) except? 0:
    address = getattr(ptr, "value", ptr)
    if not isinstance(address, int) or isinstance(address, bool) or address == 0:
        raise TypeError(
            f"{where}: ptr must be a non-null ctypes.c_void_p or an address (got {ptr!r})."
        )
    return address


cdef int _set_shape(engine.Tensor& tensor, object shape) except -1:
    cdef int i
    tensor.shape.ndim = len(shape)
    for i in range(tensor.shape.ndim):
        tensor.shape.dims[i] = shape[i]
    return 0


cdef int _set_layout(engine.Tensor& tensor, str layout) except -1:
    if layout and len(layout) != tensor.shape.ndim:
        raise ValueError(
            f"Tensor layout must have one letter for each of the {tensor.shape.ndim} dimensions "
            f"(got {layout!r})."
        )
    tensor.layout = engine.Layout(<string>layout.encode())
    return 0


cdef int _set_layouts(vector[engine.Tensor]& samples, str layout) except -1:
    cdef size_t i
    for i in range(samples.size()):
        _set_layout(samples[i], layout)
    return 0


cdef int _check_same_types(const vector[engine.Tensor]& samples) except -1:
    cdef size_t i
    for i in range(samples.size()):
        if samples[i].type != samples[0].type or samples[i].shape.ndim != samples[0].shape.ndim:
            raise TypeError(
                "TensorListCPU: all samples must have one dtype and number of dimensions (got "
                f"{_BY_NUMBER[<int>samples[0].type]} with {samples[0].shape.ndim} and, for sample "
                f"{i}, {_BY_NUMBER[<int>samples[i].type]} with {samples[i].shape.ndim})."
            )
    return 0


cdef bint _lie_side_by_side(const vector[engine.Tensor]& samples):
    cdef size_t i
    cdef int64_t step
    if samples.empty():
        return True
    step = samples[0].num_bytes()
    for i in range(samples.size()):
        if not samples[i].shape == samples[0].shape:
            return False
        if <char*>samples[i].data != <char*>samples[0].data + i * step:
            return False
    return True


cdef int _split(const engine.Tensor& whole, vector[engine.Tensor]& samples) except -1:
    """Views of the parts of `whole` along its first dimension."""
    cdef engine.Tensor sample = whole
    cdef int i
    cdef int64_t n
    sample.shape.ndim = whole.shape.ndim - 1
    for i in range(sample.shape.ndim):
        sample.shape.dims[i] = whole.shape.dims[i + 1]
    sample.layout = engine.Layout()
    for n in range(whole.shape.dims[0]):
        sample.data = <char*>whole.data + n * sample.num_bytes()
        samples.push_back(sample)
    return 0


cdef engine.Tensor _joined(const vector[engine.Tensor]& samples) except *:
    """One tensor over samples that lie side by side."""
    cdef engine.Tensor whole
    cdef int i
    if samples.empty():
        whole.type = <engine.DataType><int>0
        whole.shape.ndim = 1
        whole.shape.dims[0] = 0
        return whole
    whole = samples[0]
    if whole.shape.ndim == engine.kMaxDims:
        raise ValueError("TensorListCPU.as_tensor: samples must have at most 7 dimensions (got 8).")
    for i in range(whole.shape.ndim, 0, -1):
        whole.shape.dims[i] = whole.shape.dims[i - 1]
    whole.shape.dims[0] = samples.size()
    whole.shape.ndim += 1
    layout = layout_of(whole)
    whole.layout = engine.Layout(<string>("N" + layout).encode()) if layout else engine.Layout()
    return whole


cdef engine.Tensor _copy_of(const engine.Tensor& tensor) except *:
    cdef engine.Tensor result = tensor
    cdef size_t count = <size_t>tensor.num_bytes()
    result.storage = engine.BufferPool.create().get().allocate(count)
    result.data = result.storage.get()
    memcpy(result.data, tensor.data, count)
    return result


cdef str _summary(shapes):
    """A few shapes, and how many there are."""
    different = list(dict.fromkeys(shapes))
    if len(different) == 1:
        return f"{len(shapes)} x {different[0]}"
    text = ", ".join(str(shape) for shape in different[:4])
    return text + (f" and {len(different) - 4} other shapes" if len(different) > 4 else "")


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
