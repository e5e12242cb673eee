# cython: annotation_typing=False
"""A batch of tensors in host memory: what pipelines give out, and what may be fed in."""

import math

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy
from libcpp.utility cimport move
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.exchange cimport import_exporter, set_layout, set_shape
from dali_core._runtime.tensor cimport (
    NOTHING, TensorCPU, address_of, given, integer_of, layout_of, reinterpret_as, tensor_of,
    type_of, wrap_tensor,
)
from dali_core._runtime.tensor_text import different_shapes, text_of_list
from dali_core.errors import ArgumentTypeError, ArgumentValueError, TensorError, TensorIndexError
from dali_core.types import to_numpy_type

cdef extern from "tensor_list.hpp" namespace "dali_core" nogil:
    bint have_one_shape(const vector[engine.Tensor]& samples)
    int spread_layout(vector[engine.Tensor]& samples)
    bint lie_side_by_side(const vector[engine.Tensor]& samples)
    void gather(vector[engine.Tensor]& samples) except +
    engine.Tensor joined(
        const vector[engine.Tensor]& samples, const engine.Tensor& kind, const engine.Shape& shape
    ) except +
    vector[engine.Tensor] split(const engine.Tensor& whole) except +


cdef class TensorListCPU:
    """A batch of tensors in host memory, with equal element types and possibly different shapes.

    Parameters
    ----------
    data : object
        A list of tensors or arrays; or one array, tensor or DLPack capsule whose first dimension is
        the batch; or another list, whose samples are shared.
    layout : str, optional
        Layout of each sample, without a letter for the batch. Without it, the layout of the samples
        or of the other list stays.
    is_pinned : bool
        Accepted for compatibility.
    contiguous : bool
        What happens to a Python list of samples: they are copied into one block of memory, so that
        later changes of them have no effect; or, if False, they are shared.
    b, object, tl, list_of_tensors
        `data` may be given by these names, too.

    Notes
    -----
    The third argument by position is `contiguous` after a list of samples, else `is_pinned`.
    """

    # overload: def __init__(
    #     self, data: Any, layout: str | None = None, is_pinned: bool = False, *,
    #     contiguous: bool = True
    # )
    # overload: def __init__(self, *, b: Any, layout: str | None = None, is_pinned: bool = False)
    # overload: def __init__(self, *, object: Any, layout: str | None = None)
    # overload: def __init__(self, *, tl: TensorListCPU, layout: str | None = None)
    # overload: def __init__(
    #     self, *, list_of_tensors: Sequence[Any], layout: str | None = None,
    #     contiguous: bool = True
    # )
    def __init__(
        self, data: Any = NOTHING, layout: Any = None, *flag: bool,
        bint is_pinned=False, bint contiguous=True,
        b: Any = NOTHING, object: Any = NOTHING, tl: Any = NOTHING, list_of_tensors: Any = NOTHING,
    ):
        cdef TensorListCPU other
        cdef vector[engine.Tensor] samples
        cdef engine.Tensor kind
        data = given("TensorListCPU", {
            "data": data, "b": b, "object": object, "tl": tl, "list_of_tensors": list_of_tensors,
        })
        if len(flag) > 1:
            raise ArgumentTypeError(
                f"TensorListCPU: must be given at most 3 arguments by position (got {len(flag) + 2}"
                "). Name the others."
            )
        self.is_read_only = False
        if isinstance(data, TensorListCPU):
            other = data
            samples = other.samples
            kind = other.kind
            self.is_contiguous = other.is_contiguous
            self.is_read_only = other.is_read_only
        elif isinstance(data, (list, tuple)):
            samples = _samples_of(data, &self.is_read_only)
            self.is_contiguous = lie_side_by_side(samples)
        else:
            samples = _rows_of(data, kind, &self.is_read_only)
            self.is_contiguous = True
        if layout is not None and layout != "":
            _set_layouts(samples, kind, layout)
        elif isinstance(data, (list, tuple)):
            _check_layouts(samples)
        self.samples = move(samples)
        self.kind = kind
        if isinstance(data, (list, tuple)) and (flag[0] if flag else contiguous):
            self._gather()

    @staticmethod
    def broadcast(tensor: Any, Py_ssize_t num_samples, /) -> TensorListCPU:
        """Make a batch in which every sample is the same tensor, without copying it.

        Parameters
        ----------
        tensor : TensorCPU
            The sample, or anything that a `TensorCPU` can be made from.
        num_samples : int
            Size of the batch.
        """
        cdef TensorListCPU result = TensorListCPU.__new__(TensorListCPU)
        if num_samples < 0:
            raise ArgumentValueError(
                f"TensorListCPU.broadcast: num_samples must not be negative (got {num_samples}). "
                "Pass the size of the batch."
            )
        result.kind = tensor_of(tensor, None, &result.is_read_only)
        result.samples.assign(num_samples, result.kind)
        result.is_contiguous = lie_side_by_side(result.samples)
        return result

    @staticmethod
    def from_dlpack_list(
        list_of_objects: Sequence[Any], layout: str | None = None, bint contiguous=False
    ) -> TensorListCPU:
        """Make a batch of objects that support DLPack, such as tensors of PyTorch.

        Parameters
        ----------
        list_of_objects : list
            The samples.
        layout : str, optional
            Layout of each sample. Those of the objects, if any, are not kept.
        contiguous : bool
            Whether to copy the samples into one block of memory, instead of sharing theirs.
        """
        cdef TensorListCPU result = TensorListCPU.__new__(TensorListCPU)
        cdef bint is_read_only = False
        for index, exporter in enumerate(list_of_objects):
            if not hasattr(exporter, "__dlpack__"):
                raise ArgumentTypeError(
                    f"TensorListCPU.from_dlpack_list: item {index} must support DLPack (got "
                    f"{type(exporter).__name__}). Use TensorListCPU(...) for other data."
                )
            result.samples.push_back(import_exporter(exporter, &is_read_only))
            result.is_read_only |= is_read_only
        _check_same_types(result.samples)
        if layout is not None and layout != "":
            _set_layouts(result.samples, result.kind, layout)
        result.is_contiguous = lie_side_by_side(result.samples)
        if contiguous:
            result._gather()
        return result

    @property
    def dtype(self) -> DALIDataType:
        """Element type of all samples, a `types.DALIDataType`."""
        return type_of(self._first())

    def layout(self) -> str:
        """Give the layout of each sample, such as ``"HWC"``; empty if there is none."""
        return layout_of(self._first())

    def set_layout(self, layout: str | None) -> None:
        """Name the dimensions of the samples, in this list only.

        Parameters
        ----------
        layout : str or None
            One letter a dimension, without one for the batch; empty or None removes the layout.
        """
        cdef vector[engine.Tensor] samples = self.samples
        _set_layouts(samples, self.kind, layout)
        self.samples = move(samples)

    def ndim(self) -> int:
        """Give the number of dimensions of each sample."""
        return self._first().shape.ndim

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
        return have_one_shape(self.samples)

    def as_tensor(self) -> TensorCPU:
        """View the batch as one tensor whose first dimension is the batch.

        Nothing is copied, except if the samples lie apart in memory: then the first call moves
        those of this list into memory of their own, side by side.

        Raises
        ------
        TensorError
            If the samples differ in shape; the message lists the shapes.
        """
        cdef engine.Shape shape
        cdef int i
        cdef int ndim = self._first().shape.ndim
        if not have_one_shape(self.samples):
            raise TensorError(
                "TensorListCPU.as_tensor: all samples must have the same shape "
                f"(got {different_shapes(self.shape())}). Resize, crop or pad them in the "
                "pipeline, or take the samples one by one with at(i)."
            )
        if ndim == engine.kMaxDims:
            raise TensorError(
                "TensorListCPU.as_tensor: samples must have at most 7 dimensions to be joined into "
                "one tensor (got 8). Take them one by one with at(i)."
            )
        shape.ndim = ndim + 1
        shape.dims[0] = self.samples.size()
        for i in range(ndim):
            shape.dims[i + 1] = 0 if self.samples.empty() else self.samples[0].shape.dims[i]
        return self._joined(shape)

    def as_reshaped_tensor(self, shape: Sequence[int], /) -> TensorCPU:
        """View the elements of all samples, one after the other, as one tensor.

        The samples need not have one shape. As with `as_tensor`, those that lie apart are moved
        together first. The layout of the samples, with an N in front, stays if it is as long as
        the shape.

        Parameters
        ----------
        shape : sequence of int
            Extents of the result, batch included.

        Raises
        ------
        TensorError
            If the number of elements differs.
        """
        cdef engine.Tensor whole
        what = "TensorListCPU.as_reshaped_tensor: every extent of shape"
        extents = [integer_of(extent, what) for extent in shape]
        count = sum(math.prod(sample) for sample in self.shape())
        if min(extents, default=0) < 0 or math.prod(extents) != count:
            raise TensorError(
                f"TensorListCPU.as_reshaped_tensor: shape must have {count} elements (got "
                f"{tuple(extents)}). Choose extents whose product is that number."
            )
        set_shape(whole, extents)
        return self._joined(whole.shape)

    def as_array(self) -> NDArray[Any]:
        """View the batch as one NumPy array, like `as_tensor`. All samples must have one shape."""
        import numpy

        if self.samples.empty():
            return numpy.empty(0, "float32" if self.kind.type == engine.DataType.kNone
                               else to_numpy_type(self.dtype))
        return numpy.asarray(self.as_tensor())

    def as_cpu(self) -> TensorListCPU:
        """Give this list itself, since it is on the host."""
        return self

    def at(self, index: int, /) -> NDArray[Any]:
        """View one sample as a NumPy array, without copying."""
        import numpy

        return numpy.asarray(self._sample(index))

    def data_ptr(self) -> int:
        """Give the address of the first element of the first sample.

        From there, the samples lie one after the other, without gaps; those that lie apart are
        moved together first, as by `as_tensor`.
        """
        self._gather_if_apart()
        return <uintptr_t>self.samples[0].data if not self.samples.empty() else 0

    def copy_to_external(self, ptr: c_void_p | int, /) -> None:
        """Copy all samples, one after the other, to an address.

        Parameters
        ----------
        ptr : ctypes.c_void_p or int
            Where to write; the memory there must hold the whole batch.
        """
        cdef uintptr_t address = address_of(ptr, "TensorListCPU.copy_to_external")
        # Another thread may change this list while the GIL is released.
        cdef vector[engine.Tensor] samples = self.samples
        cdef size_t i, count
        with nogil:
            for i in range(samples.size()):
                count = <size_t>samples[i].num_bytes()
                memcpy(<void*>address, samples[i].data, count)
                address += count

    def reinterpret(self, new_type: DALIDataType) -> None:
        """Take the bytes of the elements for another type, in this list only.

        Parameters
        ----------
        new_type : DALIDataType
            A type of numbers whose elements are as large.

        Raises
        ------
        TensorError
            If they are not.
        """
        cdef vector[engine.Tensor] samples = self.samples
        cdef engine.Tensor kind = self._first()
        cdef size_t i
        reinterpret_as(kind, new_type, "TensorListCPU.reinterpret")
        for i in range(samples.size()):
            samples[i].type = kind.type
        self.samples = move(samples)
        self.kind.type = kind.type

    def reset(self) -> None:
        """Remove all samples from the list. What others made of them keeps its memory."""
        cdef engine.Tensor nothing
        self.samples.clear()
        self.kind = nothing
        self.is_contiguous = True
        self.is_read_only = False

    def __len__(self) -> int:
        return self.samples.size()

    # overload: def __getitem__(self, index: int, /) -> TensorCPU
    # overload: def __getitem__(self, index: slice, /) -> TensorListCPU
    def __getitem__(self, index: Any, /):
        cdef TensorListCPU part
        if not isinstance(index, slice):
            return self._sample(index)
        part = wrap_tensors(vector[engine.Tensor](), True)
        for i in range(*index.indices(len(self))):
            part.samples.push_back(self.samples[<size_t>i])
        part.kind = self._first()
        part.is_contiguous = lie_side_by_side(part.samples)
        part.is_read_only = self.is_read_only
        return part

    def __iter__(self) -> Iterator[TensorCPU]:
        for index in range(len(self)):
            yield self._sample(index)

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NDArray[Any]:
        return self.as_tensor().__array__(dtype, copy)

    def __copy__(self) -> TensorListCPU:
        return TensorListCPU(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorListCPU:
        cdef TensorListCPU result = TensorListCPU(self)
        result._gather()
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (list(self), self.layout(), self.dtype, self.ndim())

    def __repr__(self) -> str:
        return text_of_list(self, with_data=False)

    def __str__(self) -> str:
        return text_of_list(self, with_data=True)

    cdef engine.Tensor _first(self):
        return self.kind if self.samples.empty() else self.samples[0]

    cdef TensorCPU _sample(self, index):
        cdef Py_ssize_t size = self.samples.size()
        cdef Py_ssize_t position = size
        try:
            position = index
        except TypeError:
            integer_of(index, "TensorListCPU: index")
        except OverflowError:
            pass
        if not -size <= position < size:
            raise TensorIndexError(
                f"TensorListCPU: index must be below the {size} samples of the batch (got {index})."
                " See len()."
            )
        return wrap_tensor(self.samples[position % size], self.is_read_only)

    cdef TensorCPU _joined(self, const engine.Shape& shape):
        self._gather_if_apart()
        cdef engine.Tensor whole = joined(self.samples, self.kind, shape)
        return wrap_tensor(whole, self.is_read_only)

    cdef int _gather_if_apart(self) except -1:
        if not self.is_contiguous:
            self._gather()
        return 0

    cdef int _gather(self) except -1:
        """Move the samples of this list into one block, which nobody else has."""
        # Other threads may read the list meanwhile.
        cdef vector[engine.Tensor] samples = self.samples
        with nogil:
            gather(samples)
        self.samples = move(samples)
        self.is_contiguous = True
        self.is_read_only = False
        return 0


def _restored(samples, layout, dtype, ndim):
    """Make a list from what was pickled."""
    cdef TensorListCPU result = TensorListCPU(samples, layout)
    if not samples:
        result.kind.type = <engine.DataType><int>int(dtype)
        result.kind.shape.ndim = ndim
    return result


cdef TensorListCPU wrap_tensors(const vector[engine.Tensor]& samples, bint is_contiguous):
    cdef TensorListCPU result = TensorListCPU.__new__(TensorListCPU)
    result.samples = samples
    result.is_contiguous = is_contiguous
    return result


cdef vector[engine.Tensor] _samples_of(object data, bint* is_read_only) except *:
    """View each item of a list as a tensor."""
    cdef vector[engine.Tensor] samples
    cdef bint is_one_read_only = False
    samples.reserve(len(data))
    for item in data:
        samples.push_back(tensor_of(item, None, &is_one_read_only))
        is_read_only[0] |= is_one_read_only
    _check_same_types(samples)
    return samples


cdef vector[engine.Tensor] _rows_of(
    object data, engine.Tensor& kind, bint* is_read_only
) except *:
    """View data along its first dimension."""
    cdef engine.Tensor whole = tensor_of(data, None, is_read_only)
    if whole.shape.ndim == 0:
        raise TensorError(
            "TensorListCPU: data must have the batch as its first dimension (got a scalar). Pass a "
            "list of samples."
        )
    kind.type = whole.type
    kind.shape.ndim = whole.shape.ndim - 1
    return split(whole)


cdef int _set_layouts(
    vector[engine.Tensor]& samples, engine.Tensor& kind, object layout
) except -1:
    cdef size_t i
    if samples.empty():
        if kind.type == engine.DataType.kNone and isinstance(layout, str):
            kind.shape.ndim = min(len(layout), engine.kMaxDims)
        set_layout(kind, layout)
    for i in range(samples.size()):
        if i == 0:
            set_layout(samples[0], layout)
        samples[i].layout = samples[0].layout
    return 0


cdef int _check_layouts(vector[engine.Tensor]& samples) except -1:
    """The layout of the first sample is that of all."""
    cdef int other = spread_layout(samples)
    if other >= 0:
        raise ArgumentTypeError(
            f"TensorListCPU: all samples must have one layout (got {layout_of(samples[0])!r} and, "
            f"for sample {other}, {layout_of(samples[other])!r}). Pass layout."
        )
    return 0


cdef int _check_same_types(const vector[engine.Tensor]& samples) except -1:
    cdef size_t i
    for i in range(samples.size()):
        if samples[i].type != samples[0].type or samples[i].shape.ndim != samples[0].shape.ndim:
            raise ArgumentTypeError(
                "TensorListCPU: all samples must have one dtype and number of dimensions (got "
                f"{type_of(samples[0])} with {samples[0].shape.ndim} and, for sample {i}, "
                f"{type_of(samples[i])} with {samples[i].shape.ndim}). Convert them first."
            )
    return 0
