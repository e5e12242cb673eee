# cython: annotation_typing=False
"""The base class of tensors on the host and on devices."""

import operator

from libc.stdint cimport uintptr_t
from libcpp.memory cimport make_shared
from libcpp.string cimport string

from dali_core import _types as types
from dali_core._runtime cimport engine
from dali_core._runtime.exchange cimport set_layout, set_shape
from dali_core._runtime.tensor_text import html_of_tensor, text_of_tensor
from dali_core.errors import ArgumentTypeError, TensorError, TensorIndexError

# Stands for data that was not given; None is data, if wrong.
_UNSET = type("Nothing", (), {})()

cdef dict _BY_NUMBER = {int(member): member for member in types.DALIDataType}
cdef dict _NUMPY_STRINGS = {}


cdef class TensorBase:
    """What tensors on the host and on devices have in common."""

    @property
    def dtype(self) -> DALIDataType:
        """Element type, a `types.DALIDataType`."""
        return type_of(self.tensor)

    def shape(self) -> list[int]:
        """Return the extents, outermost first."""
        return [self.tensor.shape.dims[i] for i in range(self.tensor.shape.ndim)]

    def ndim(self) -> int:
        """Return the number of dimensions."""
        return self.tensor.shape.ndim

    def layout(self) -> str:
        """Return the layout, such as ``"HWC"``; empty if there is none."""
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
        """Return the name of the file that the sample was read from; empty if unknown."""
        return source_of(self.tensor)

    def get_property(self, str name) -> str | None:
        """Look up ``"layout"`` or ``"source_info"``; None for what is not known."""
        if name == "layout":
            return self.layout() or None
        if name == "source_info":
            return self.source_info() or None
        return None

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return <uintptr_t>self.tensor.data

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
            where = f"{type(self).__name__}.squeeze: dim"
            dim = integer_of(dim, where)
            if not -ndim <= dim < ndim:
                raise TensorIndexError(
                    f"{where} must be one of the {ndim} dimensions (got {dim}). Count from 0, or "
                    "from -1 backwards."
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
        reinterpret_as(self.tensor, new_type, f"{type(self).__name__}.reinterpret")

    def __len__(self) -> int:
        if self.tensor.shape.ndim == 0:
            raise TypeError(
                f"{type(self).__name__}: a tensor without dimensions has no length."
            )
        return self.tensor.shape.dims[0]

    def __bool__(self) -> bool:
        # A tensor is not true or false by its length, let alone its elements.
        return True

    def __repr__(self) -> str:
        return text_of_tensor(self, with_data=False)

    def __str__(self) -> str:
        return text_of_tensor(self, with_data=True)

    def _repr_html_(self) -> str:
        return html_of_tensor(self)


cdef object given(str where, dict values):
    """Find the one argument that was given; all are names of the same."""
    found = [name for name, value in values.items() if value is not _UNSET]
    if len(found) != 1:
        raise ArgumentTypeError(
            f"{where}: must be given data by one of the names {', '.join(values)} (got "
            f"{' and '.join(found) or 'none'}). Pass it as the first argument."
        )
    return values[found[0]]


cdef object type_of(const engine.Tensor& tensor):
    return _BY_NUMBER[<int>tensor.type]


cdef str layout_of(const engine.Tensor& tensor):
    return (<bytes>tensor.layout.c_str()).decode()


cdef str source_of(const engine.Tensor& tensor):
    return tensor.source.get()[0].decode(errors="surrogateescape") if tensor.source else ""


cdef int set_source(engine.Tensor& tensor, str source) except -1:
    if source:
        tensor.source = make_shared[string](<string>source.encode(errors="surrogateescape"))
    return 0


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


cdef dict array_interface_of(TensorBase tensor):
    """Describe a tensor as NumPy's array interface and that of CUDA do it."""
    return {
        "version": 3,
        "shape": tuple(tensor.shape()),
        "typestr": _numpy_string(tensor.dtype),
        "data": (<uintptr_t>tensor.tensor.data, bool(tensor.is_read_only)),
        "strides": None,
    }


cdef str _numpy_string(object data_type):
    import numpy

    if data_type not in _NUMPY_STRINGS:
        _NUMPY_STRINGS[data_type] = numpy.dtype(types.to_numpy_type(data_type)).str
    return _NUMPY_STRINGS[data_type]
