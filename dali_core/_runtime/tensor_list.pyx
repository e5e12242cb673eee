# cython: annotation_typing=False
"""A batch of tensors in host memory: what pipelines return, and what may be fed in."""

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy
from libcpp.utility cimport move
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport _UNSET, TensorBase, address_of, given
from dali_core._runtime.tensor_list_base cimport (
    TensorListBase, check_layouts, check_same_types, are_contiguous, rows_of, set_layouts,
)
from dali_core._runtime.exchange cimport import_exporter
from dali_core._runtime.tensor cimport TensorCPU, tensor_of, wrap_tensor
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core._types import to_numpy_type

cdef extern from "tensor_list.hpp" namespace "dali_core" nogil:
    void gather(vector[engine.Tensor]& samples) except +


cdef class TensorListCPU(TensorListBase):
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
        self, data: Any = _UNSET, layout: Any = None, *flag: bool,
        bint is_pinned=False, bint contiguous=True,
        b: Any = _UNSET, object: Any = _UNSET, tl: Any = _UNSET, list_of_tensors: Any = _UNSET,
    ):
        cdef TensorListCPU other
        cdef vector[engine.Tensor] samples
        cdef engine.Tensor whole, kind
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
            self.is_contiguous = are_contiguous(samples)
        else:
            whole = tensor_of(data, None, &self.is_read_only)
            samples = rows_of(whole, kind, "TensorListCPU")
            self.is_contiguous = True
        if layout is not None and layout != "":
            set_layouts(samples, kind, layout)
        elif isinstance(data, (list, tuple)):
            check_layouts(samples, "TensorListCPU")
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
        result.is_contiguous = are_contiguous(result.samples)
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
        check_same_types(result.samples, "TensorListCPU")
        if layout is not None and layout != "":
            set_layouts(result.samples, result.kind, layout)
        result.is_contiguous = are_contiguous(result.samples)
        if contiguous:
            result._gather()
        return result

    def as_tensor(self) -> TensorCPU:
        """View the batch as one tensor whose first dimension is the batch.

        Nothing is copied, except if the samples lie apart in memory: then the first call moves
        those of this list into contiguous memory of their own.

        Raises
        ------
        TensorError
            If the samples differ in shape; the message lists the shapes.
        """
        return self._as_tensor()

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
        return self._as_reshaped_tensor(shape)

    def as_array(self) -> NDArray[Any]:
        """View the batch as one NumPy array, like `as_tensor`. All samples must have one shape."""
        import numpy

        if self.samples.empty():
            return numpy.empty(0, "float32" if self.kind.type == engine.DataType.kNone
                               else to_numpy_type(self.dtype))
        return numpy.asarray(self.as_tensor())

    def as_cpu(self) -> TensorListCPU:
        """Return this list itself, since it is on the host."""
        return self

    def at(self, index: int, /) -> NDArray[Any]:
        """View one sample as a NumPy array, without copying."""
        import numpy

        return numpy.asarray(self._sample(index))

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

    # overload: def __getitem__(self, index: int, /) -> TensorCPU
    # overload: def __getitem__(self, index: slice, /) -> TensorListCPU
    def __getitem__(self, index: Any, /):
        return self._slice(index) if isinstance(index, slice) else self._sample(index)

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

    cdef TensorBase _wrap(self, const engine.Tensor& tensor):
        return wrap_tensor(tensor, self.is_read_only)

    cdef TensorListBase _empty_part(self):
        return TensorListCPU.__new__(TensorListCPU)

    cdef int _gather(self) except -1:
        """Move the samples of this list into one block, which is not shared."""
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
    check_same_types(samples, "TensorListCPU")
    return samples
