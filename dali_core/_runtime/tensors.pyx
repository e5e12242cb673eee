# cython: annotation_typing=False
"""Tensors in host memory: what pipelines give out, and what users may feed in.

Memory is owned by reference count. Whatever a tensor shows stays as it is for as long as the
tensor, or anything made from it without copying, is alive.
"""

import math

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from dali_core import types
from dali_core._runtime cimport engine
from dali_core._runtime.exchange cimport (
    export_buffer, export_capsule, import_array, release_buffer, set_layout, set_shape,
)

cdef extern from "tensor_list.hpp" namespace "dali_core":
    bint have_one_shape(const vector[engine.Tensor]& samples)
    bint lie_side_by_side(const vector[engine.Tensor]& samples)
    void gather(vector[engine.Tensor]& samples) except +
    engine.Tensor joined(const vector[engine.Tensor]& samples) except +
    vector[engine.Tensor] split(const engine.Tensor& whole) except +

cdef dict _BY_NUMBER = {int(member): member for member in types.DALIDataType}


cdef class TensorCPU:
    """A tensor in host memory: dense, row-major, with an element type and perhaps a layout.

    It works with NumPy and every consumer of DLPack or of the buffer protocol, without copying.
    What is made from read-only memory is read-only itself.

    Parameters
    ----------
    data : object
        Anything with `__dlpack__`, the buffer protocol or `__array_interface__`; a DLPack capsule;
        or another tensor. Memory that is dense and row-major is shared, any other is copied.
    layout : str
        One letter a dimension, such as ``"HWC"``; empty for none.
    is_pinned : bool
        Accepted for compatibility: whether memory is page-locked makes no difference on the host.
    """

    def __init__(self, data: Any, str layout="", bint is_pinned=False):
        self.tensor = _tensor_of(data, layout, &self.is_read_only)

    @property
    def dtype(self) -> DALIDataType:
        """Element type, a `types.DALIDataType`."""
        return _BY_NUMBER[<int>self.tensor.type]

    def shape(self) -> list[int]:
        """Give the extents, outermost first."""
        return [self.tensor.shape.dims[i] for i in range(self.tensor.shape.ndim)]

    def ndim(self) -> int:
        """Give the number of dimensions."""
        return self.tensor.shape.ndim

    def layout(self) -> str:
        """Give the layout, such as ``"HWC"``; empty if there is none."""
        return _layout_of(self.tensor)

    def source_info(self) -> str:
        """Give the name of the file that the sample was read from; empty if unknown."""
        return _source_of(self.tensor)

    def get_property(self, str name) -> str:
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
            f"TensorCPU.get_property: name must be 'layout' or 'source_info' (got {name!r}). "
            "There are no others."
        )

    def data_ptr(self) -> int:
        """Give the address of the first element."""
        return <uintptr_t>self.tensor.data

    def as_cpu(self) -> TensorCPU:
        """Give this tensor itself, since it is on the host."""
        return self

    def squeeze(self, dim: int | None = None) -> bool:
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
                f"TensorCPU.squeeze: dim must be one of the {ndim} dimensions (got {dim}). Count "
                "from 0, or from -1 backwards."
            )
        wanted = range(ndim) if dim is None else (dim % ndim,)
        shape = self.shape()
        kept = [i for i in range(ndim) if not (i in wanted and shape[i] == 1)]
        if len(kept) == ndim:
            return False
        layout = self.layout()
        set_shape(self.tensor, [shape[i] for i in kept])
        set_layout(self.tensor, "".join(layout[i] for i in kept) if layout else "")
        return True

    def copy_to_external(self, ptr: c_void_p | int) -> None:
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

    def __len__(self) -> int:
        if self.tensor.shape.ndim == 0:
            raise TypeError("TensorCPU: a tensor without dimensions has no length.")
        return self.tensor.shape.dims[0]

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        export_buffer(buffer, flags, self, self.tensor, self.is_read_only)

    def __releasebuffer__(self, Py_buffer* buffer):
        release_buffer(buffer)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": tuple(self.shape()),
            "typestr": _numpy_dtype(self.dtype).str,
            "data": (<uintptr_t>self.tensor.data, bool(self.is_read_only)),
            "strides": None,
        }

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NDArray[Any]:
        import numpy

        array = numpy.asarray(memoryview(self))
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    "TensorCPU.__array__: copy=False needs the tensor's own dtype "
                    f"{array.dtype} (got {dtype}). Leave out dtype, or allow the copy."
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
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
                f"TensorCPU.__dlpack__: stream must be None for host memory (got {stream!r}). "
                "Leave it out."
            )
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(
                f"TensorCPU.__dlpack__: dl_device must be the host, (1, 0) (got {dl_device!r}). "
                "Import the tensor on the host and copy it there."
            )
        versioned = max_version is not None and max_version[0] >= 1
        return export_capsule(self.tensor, versioned, bool(copy), self.is_read_only)

    def __repr__(self) -> str:
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

    def __init__(self, data: Any, layout: str | None = None, bint is_pinned=False):
        cdef TensorListCPU other
        cdef engine.Tensor whole
        cdef bint is_read_only = False
        if isinstance(data, TensorListCPU):
            other = data
            self.samples = other.samples
            self.is_contiguous = other.is_contiguous
            self.is_read_only = other.is_read_only
            if layout is not None:
                _set_layouts(self.samples, layout)
        elif isinstance(data, (list, tuple)):
            for item in data:
                self.samples.push_back(_tensor_of(item, layout or "", &is_read_only))
                self.is_read_only |= is_read_only
            _check_same_types(self.samples)
            self.is_contiguous = lie_side_by_side(self.samples)
        else:
            whole = _tensor_of(data, "", &self.is_read_only)
            if whole.shape.ndim == 0:
                raise ValueError(
                    "TensorListCPU: data must have the batch as its first dimension (got a scalar)."
                    " Pass a list of samples."
                )
            self.samples = split(whole)
            _set_layouts(self.samples, layout or "")
            self.is_contiguous = True

    @property
    def dtype(self) -> DALIDataType:
        """Element type of all samples, a `types.DALIDataType`."""
        if self.samples.empty():
            return types.NO_TYPE
        return _BY_NUMBER[<int>self.samples[0].type]

    def layout(self) -> str:
        """Give the layout of each sample, such as ``"HWC"``; empty if there is none."""
        return "" if self.samples.empty() else _layout_of(self.samples[0])

    def ndim(self) -> int:
        """Give the number of dimensions of each sample."""
        return 0 if self.samples.empty() else self.samples[0].shape.ndim

    def shape(self) -> list[tuple[int, ...]]:
        """Give the shape of each sample."""
        cdef size_t i
        cdef int d
        return [
            tuple([self.samples[i].shape.dims[d] for d in range(self.samples[i].shape.ndim)])
            for i in range(self.samples.size())
        ]

    def is_dense_tensor(self) -> bool:
        """Tell whether all samples have one shape, so that `as_tensor` works."""
        return bool(self.is_contiguous or have_one_shape(self.samples))

    def as_tensor(self) -> TensorCPU:
        """View the batch as one tensor whose first dimension is the batch.

        Nothing is copied, except if the list was made from separate arrays: then the first call
        moves the list's samples into memory of their own, side by side.

        Raises
        ------
        ValueError
            If the samples differ in shape; the message lists the shapes.
        """
        cdef TensorCPU result = TensorCPU.__new__(TensorCPU)
        if not self.is_dense_tensor():
            raise ValueError(
                "TensorListCPU.as_tensor: all samples must have the same shape "
                f"(got {_summary(self.shape())}). Resize, crop or pad them in the pipeline, or "
                "take the samples one by one with at(i)."
            )
        if not self.is_contiguous:
            gather(self.samples)
            self.is_contiguous = True
            self.is_read_only = False
        result.tensor = joined(self.samples)
        result.is_read_only = self.is_read_only
        return result

    def as_reshaped_tensor(self, shape: Sequence[int]) -> TensorCPU:
        """View the batch as one tensor of another shape with as many elements, like `as_tensor`.

        Parameters
        ----------
        shape : sequence of int
            Extents of the result, batch included.

        Raises
        ------
        ValueError
            If the number of elements differs.
        """
        cdef TensorCPU result = self.as_tensor()
        extents = [int(extent) for extent in shape]
        if min(extents, default=0) < 0 or math.prod(extents) != result.tensor.num_elements():
            raise ValueError(
                f"TensorListCPU.as_reshaped_tensor: shape must have {result.tensor.num_elements()} "
                f"elements (got {tuple(extents)}). Choose extents whose product is that number."
            )
        set_shape(result.tensor, extents)
        set_layout(result.tensor, "")
        return result

    def as_array(self) -> NDArray[Any]:
        """View the batch as one NumPy array, like `as_tensor`. All samples must have one shape."""
        import numpy

        return numpy.asarray(self.as_tensor())

    def as_cpu(self) -> TensorListCPU:
        """Give this list itself, since it is on the host."""
        return self

    def at(self, Py_ssize_t index) -> NDArray[Any]:
        """View one sample as a NumPy array, without copying."""
        import numpy

        return numpy.asarray(self[index])

    def data_ptr(self) -> int:
        """Give the address of the first element of the first sample."""
        return <uintptr_t>self.samples[0].data if not self.samples.empty() else 0

    def copy_to_external(self, ptr: c_void_p | int) -> None:
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

    def __len__(self) -> int:
        return self.samples.size()

    def __getitem__(self, Py_ssize_t index) -> TensorCPU:
        cdef Py_ssize_t size = self.samples.size()
        cdef TensorCPU sample
        if not -size <= index < size:
            raise IndexError(
                f"TensorListCPU: index must be below the {size} samples of the batch (got {index})."
                " See len()."
            )
        sample = TensorCPU.__new__(TensorCPU)
        sample.tensor = self.samples[index % size]
        sample.is_read_only = self.is_read_only
        return sample

    def __iter__(self) -> Iterator[TensorCPU]:
        for index in range(len(self)):
            yield self[index]

    def __repr__(self) -> str:
        layout = f", layout={self.layout()!r}" if self.layout() else ""
        shape = f", shape={_summary(self.shape())}" if len(self) else ""
        return f"TensorListCPU({len(self)} samples, dtype={self.dtype}{shape}{layout})"


cdef TensorListCPU wrap_tensors(const vector[engine.Tensor]& samples, bint is_contiguous):
    cdef TensorListCPU result = TensorListCPU.__new__(TensorListCPU)
    result.samples = samples
    result.is_contiguous = is_contiguous
    return result


cdef engine.Tensor _tensor_of(object data, str layout, bint* is_read_only) except *:
    cdef engine.Tensor tensor
    if isinstance(data, TensorCPU):
        tensor = (<TensorCPU>data).tensor
        is_read_only[0] = (<TensorCPU>data).is_read_only
        if not layout:
            return tensor
    else:
        tensor = import_array(data, is_read_only)
    set_layout(tensor, layout)
    return tensor


cdef str _layout_of(const engine.Tensor& tensor):
    return (<bytes>tensor.layout.c_str()).decode()


cdef object _numpy_dtype(data_type):
    import numpy

    return numpy.dtype(types.to_numpy_type(data_type))


cdef str _source_of(const engine.Tensor& tensor):
    return tensor.source.get()[0].decode(errors="surrogateescape") if tensor.source else ""


cdef uintptr_t _address_of(object ptr, str where) except? 0:
    address = getattr(ptr, "value", ptr)
    if not isinstance(address, int) or isinstance(address, bool) or address <= 0:
        raise TypeError(
            f"{where}: ptr must be a non-null ctypes.c_void_p or an address (got {ptr!r}). Pass, "
            "for example, array.ctypes.data."
        )
    return address


cdef int _set_layouts(vector[engine.Tensor]& samples, str layout) except -1:
    cdef size_t i
    for i in range(samples.size()):
        set_layout(samples[i], layout)
    return 0


cdef int _check_same_types(const vector[engine.Tensor]& samples) except -1:
    cdef size_t i
    for i in range(samples.size()):
        if samples[i].type != samples[0].type or samples[i].shape.ndim != samples[0].shape.ndim:
            raise TypeError(
                "TensorListCPU: all samples must have one dtype and number of dimensions (got "
                f"{_BY_NUMBER[<int>samples[0].type]} with {samples[0].shape.ndim} and, for sample "
                f"{i}, {_BY_NUMBER[<int>samples[i].type]} with {samples[i].shape.ndim}). Convert "
                "them first."
            )
    return 0


cdef str _summary(shapes):
    """A few shapes, and how many there are."""
    different = list(dict.fromkeys(shapes))
    if len(different) == 1:
        return f"{len(shapes)} x {different[0]}"
    text = ", ".join(str(shape) for shape in different[:4])
    return text + (f" and {len(different) - 4} other shapes" if len(different) > 4 else "")
