# cython: annotation_typing=False
"""One tensor in host memory: a sample, or a whole batch.

Memory is owned by reference count. Whatever a tensor shows stays as it is for as long as the
tensor, or anything made from it without copying, is alive.
"""

import operator

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy
from libcpp.memory cimport make_shared
from libcpp.string cimport string

from dali_core import types
from dali_core._runtime cimport engine
from dali_core._runtime.exchange cimport (
    export_buffer, export_capsule, import_array, release_buffer, set_layout, set_shape,
)
from dali_core._runtime.tensor_text import text_of_tensor
from dali_core.errors import ArgumentTypeError, ArgumentValueError, ExchangeError, TensorIndexError
from dali_core.errors import TensorError

# Stands for data that was not given; None is data, if wrong.
NOTHING = type("Nothing", (), {})()

cdef dict _BY_NUMBER = {int(member): member for member in types.DALIDataType}
cdef dict _NUMPY_STRINGS = {}


cdef class TensorCPU:
    """A tensor in host memory: dense, row-major, with an element type and perhaps a layout.

    It works with NumPy and every consumer of DLPack or of the buffer protocol, without copying.
    What is made from read-only memory is read-only itself. Layout, shape and element type belong to
    this object alone; other tensors over the same memory keep theirs.

    Parameters
    ----------
    data : object
        Anything with `__dlpack__`, the buffer protocol or `__array_interface__`; a DLPack capsule
        of either version; or another tensor. Memory that is dense and row-major is shared, any
        other is copied.
    layout : str, optional
        One letter a dimension, such as ``"HWC"``; empty or None for none, or for that of the
        tensor that is given.
    is_pinned : bool
        Accepted for compatibility: whether memory is page-locked makes no difference on the host.
    b, object
        `data` may be given by these names, too.
    """

    # overload: def __init__(self, data: Any, layout: str | None = None, is_pinned: bool = False)
    # overload: def __init__(self, *, b: Any, layout: str | None = None, is_pinned: bool = False)
    # overload: def __init__(self, *, object: Any, layout: str | None = None)
    def __init__(
        self, data: Any = NOTHING, layout: Any = None, bint is_pinned=False, *,
        b: Any = NOTHING, object: Any = NOTHING,
    ):
        data = given("TensorCPU", {"data": data, "b": b, "object": object})
        self.tensor = tensor_of(data, layout, &self.is_read_only)

    @property
    def dtype(self) -> DALIDataType:
        """Element type, a `types.DALIDataType`."""
        return type_of(self.tensor)

    def shape(self) -> list[int]:
        """Give the extents, outermost first."""
        return [self.tensor.shape.dims[i] for i in range(self.tensor.shape.ndim)]

    def ndim(self) -> int:
        """Give the number of dimensions."""
        return self.tensor.shape.ndim

    def layout(self) -> str:
        """Give the layout, such as ``"HWC"``; empty if there is none."""
        return layout_of(self.tensor)

    def set_layout(self, layout: str | None) -> None:
        """Name the dimensions of this tensor.

        Parameters
        ----------
        layout : str or None
            One letter a dimension; empty or None removes the layout.
        """
        set_layout(self.tensor, layout)

    def source_info(self) -> str:
        """Give the name of the file that the sample was read from; empty if unknown."""
        return source_of(self.tensor)

    def get_property(self, str name) -> str | None:
        """Look up ``"layout"`` or ``"source_info"``; None for what is not known."""
        if name == "layout":
            return self.layout() or None
        if name == "source_info":
            return self.source_info() or None
        return None

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
        wanted = range(ndim)
        if dim is not None:
            dim = integer_of(dim, "TensorCPU.squeeze: dim")
            if not -ndim <= dim < ndim:
                raise TensorIndexError(
                    f"TensorCPU.squeeze: dim must be one of the {ndim} dimensions (got {dim}). "
                    "Count from 0, or from -1 backwards."
                )
            wanted = (dim % ndim,)
        shape = self.shape()
        kept = [i for i in range(ndim) if not (i in wanted and shape[i] == 1)]
        if len(kept) == ndim:
            return False
        layout = self.layout()
        set_shape(self.tensor, [shape[i] for i in kept])
        set_layout(self.tensor, "".join(layout[i] for i in kept) if layout else "")
        return True

    def reinterpret(self, new_type: DALIDataType) -> None:
        """Take the bytes of the elements for another type, in this tensor only.

        Parameters
        ----------
        new_type : DALIDataType
            A type of numbers whose elements are as large.

        Raises
        ------
        TensorError
            If they are not.
        """
        reinterpret_as(self.tensor, new_type, "TensorCPU.reinterpret")

    def copy_to_external(self, ptr: c_void_p | int) -> None:
        """Copy the elements to an address.

        Parameters
        ----------
        ptr : ctypes.c_void_p or int
            Where to write; the memory there must hold the whole tensor.
        """
        cdef uintptr_t address = address_of(ptr, "TensorCPU.copy_to_external")
        # Another thread may change this object while the GIL is released.
        cdef engine.Tensor tensor = self.tensor
        with nogil:
            memcpy(<void*>address, tensor.data, <size_t>tensor.num_bytes())

    def __len__(self) -> int:
        if self.tensor.shape.ndim == 0:
            raise TypeError("TensorCPU: a tensor without dimensions has no length.")
        return self.tensor.shape.dims[0]

    def __bool__(self) -> bool:
        # A tensor is not true or false by its length, let alone its elements.
        return True

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        export_buffer(buffer, flags, self, self.tensor, self.is_read_only)

    def __releasebuffer__(self, Py_buffer* buffer):
        release_buffer(buffer)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": tuple(self.shape()),
            "typestr": _numpy_string(self.dtype),
            "data": (<uintptr_t>self.tensor.data, bool(self.is_read_only)),
            "strides": None,
        }

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NDArray[Any]:
        import numpy

        array = numpy.asarray(memoryview(self))
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ArgumentValueError(
                    "TensorCPU.__array__: copy=False needs the tensor's own dtype "
                    f"{array.dtype} (got {dtype}). Leave out dtype, or allow the copy."
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(
        self,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """Export the tensor to another framework.

        Parameters
        ----------
        stream : int, optional
            Has no meaning for host memory, which is complete already.
        max_version : tuple of int, optional
            Newest DLPack version that the consumer reads; without it the old capsule is made.
        dl_device : tuple of int, optional
            Device where the consumer wants the data; only the host, ``(1, 0)``, is possible.
        copy : bool, optional
            Whether the consumer asks for memory of its own.

        Raises
        ------
        ExchangeError
            If the consumer wants another device, or cannot be told that memory is read-only.
        """
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise ExchangeError(
                f"TensorCPU.__dlpack__: dl_device must be the host, (1, 0) (got {dl_device!r}). "
                "Import the tensor on the host and copy it there."
            )
        versioned = max_version is not None and max_version[0] >= 1
        return export_capsule(self.tensor, versioned, bool(copy), self.is_read_only)

    def __copy__(self) -> TensorCPU:
        return wrap_tensor(self.tensor, self.is_read_only)

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorCPU:
        return wrap_tensor(copy_of(self.tensor), False)

    def __reduce__(self) -> tuple[Any, ...]:
        import numpy

        return _restored, (numpy.asarray(self), self.layout(), self.source_info())

    def __repr__(self) -> str:
        return text_of_tensor(self, with_data=False)

    def __str__(self) -> str:
        return text_of_tensor(self, with_data=True)


def _restored(array, layout, source_info):
    """Make a tensor from what was pickled."""
    cdef TensorCPU result = TensorCPU(array, layout)
    if source_info:
        result.tensor.source = make_shared[string](
            <string>source_info.encode(errors="surrogateescape")
        )
    return result


cdef TensorCPU wrap_tensor(const engine.Tensor& tensor, bint is_read_only):
    cdef TensorCPU result = TensorCPU.__new__(TensorCPU)
    result.tensor = tensor
    result.is_read_only = is_read_only
    return result


cdef object given(str where, dict values):
    """Find the one argument that was given; all are names of the same."""
    found = [name for name, value in values.items() if value is not NOTHING]
    if len(found) != 1:
        raise ArgumentTypeError(
            f"{where}: must be given data by one of the names {', '.join(values)} (got "
            f"{' and '.join(found) or 'none'}). Pass it as the first argument."
        )
    return values[found[0]]


cdef engine.Tensor tensor_of(object data, object layout, bint* is_read_only) except *:
    """View data as a tensor. Without a layout, that of a tensor stays."""
    cdef engine.Tensor tensor
    if isinstance(data, TensorCPU):
        tensor = (<TensorCPU>data).tensor
        is_read_only[0] = (<TensorCPU>data).is_read_only
    else:
        tensor = import_array(data, is_read_only)
    if layout is not None and layout != "":
        set_layout(tensor, layout)
    return tensor


cdef engine.Tensor copy_of(const engine.Tensor& tensor) except *:
    """Copy a tensor into memory of its own."""
    cdef engine.Tensor copied = tensor
    cdef size_t count = <size_t>tensor.num_bytes()
    copied.storage = engine.BufferPool.create().get().allocate(count)
    copied.data = copied.storage.get()
    with nogil:
        memcpy(copied.data, tensor.data, count)
    return copied


cdef object type_of(const engine.Tensor& tensor):
    return _BY_NUMBER[<int>tensor.type]


cdef str layout_of(const engine.Tensor& tensor):
    return (<bytes>tensor.layout.c_str()).decode()


cdef str source_of(const engine.Tensor& tensor):
    return tensor.source.get()[0].decode(errors="surrogateescape") if tensor.source else ""


cdef int reinterpret_as(engine.Tensor& tensor, object new_type, str where) except -1:
    cdef engine.DataType number
    if not isinstance(new_type, types.DALIDataType):
        raise ArgumentTypeError(
            f"{where}: new_type must be a DALIDataType (got {new_type!r}). Use, for example, "
            "types.INT32."
        )
    number = <engine.DataType><int>int(new_type)
    if engine.size_of(number) == 0 or engine.size_of(number) != engine.size_of(tensor.type):
        raise TensorError(
            f"{where}: new_type must be a type of numbers with elements as large as those of "
            f"{type_of(tensor)} (got {new_type}). Use fn.cast to convert the values."
        )
    tensor.type = number
    return 0


cdef object integer_of(object value, str what):
    try:
        return operator.index(value)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{what} must be an integer (got {value!r}, a {type(value).__name__}). Convert it "
            "with int()."
        ) from error


cdef uintptr_t address_of(object ptr, str where) except? 0:
    address = getattr(ptr, "value", ptr)
    if not isinstance(address, int) or isinstance(address, bool) or address <= 0:
        raise ArgumentTypeError(
            f"{where}: ptr must be a non-null ctypes.c_void_p or an address (got {ptr!r}). Pass, "
            "for example, array.ctypes.data."
        )
    return address


cdef str _numpy_string(object data_type):
    import numpy

    if data_type not in _NUMPY_STRINGS:
        _NUMPY_STRINGS[data_type] = numpy.dtype(types.to_numpy_type(data_type)).str
    return _NUMPY_STRINGS[data_type]
