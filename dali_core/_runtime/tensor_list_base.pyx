# cython: annotation_typing=False
"""The base class of batches on the host and on devices."""

import math

from libc.stdint cimport uintptr_t
from libcpp.utility cimport move
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport (
    TensorBase, integer_of, layout_of, reinterpret_as, type_of,
)
from dali_core._runtime.exchange cimport set_layout, set_shape
from dali_core._runtime.tensor_text import different_shapes, html_of_list, text_of_list
from dali_core._messages import shown
from dali_core.errors import ArgumentTypeError, TensorError, TensorIndexError

cdef extern from "tensor_list.hpp" namespace "dali_core" nogil:
    int spread_layout(vector[engine.Tensor]& samples)


cdef class TensorListBase:
    """What batches on the host and on devices have in common."""

    @property
    def dtype(self) -> DALIDataType:
        """Element type of all samples, a `types.DALIDataType`."""
        return type_of(self._first())

    def layout(self) -> str:
        """Return the layout of each sample, such as ``"HWC"``; empty if there is none."""
        return layout_of(self._first())

    def set_layout(self, layout: str | None) -> None:
        """Name the dimensions of the samples, in this list only.

        Parameters
        ----------
        layout : str or None
            One letter a dimension, without one for the batch; empty or None removes the layout.
        """
        cdef vector[engine.Tensor] samples = self.samples
        set_layouts(samples, self.kind, layout)
        self.samples = move(samples)

    def ndim(self) -> int:
        """Return the number of dimensions of each sample."""
        return self._first().shape.ndim

    def shape(self) -> list[tuple[int, ...]]:
        """Return the shape of each sample."""
        cdef size_t i
        cdef int d
        return [
            tuple([self.samples[i].shape.dims[d] for d in range(self.samples[i].shape.ndim)])
            for i in range(self.samples.size())
        ]

    def is_dense_tensor(self) -> bool:
        """Return whether all samples have one shape, so that `as_tensor` works."""
        return have_one_shape(self.samples)

    def data_ptr(self) -> int:
        """Return the address of the first element of the first sample.

        From there, the samples lie one after the other, without gaps; those that lie apart are
        moved together first, as by `as_tensor`.
        """
        self._gather_if_apart()
        return <uintptr_t>self.samples[0].data if not self.samples.empty() else 0

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
        reinterpret_as(kind, new_type, f"{type(self).__name__}.reinterpret")
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

    def __repr__(self) -> str:
        return text_of_list(self, with_data=False)

    def __str__(self) -> str:
        return text_of_list(self, with_data=True)

    def _repr_html_(self) -> str:
        return html_of_list(self)

    cdef TensorBase _wrap(self, const engine.Tensor& tensor):
        raise NotImplementedError

    cdef TensorListBase _empty_part(self):
        raise NotImplementedError

    cdef int _gather(self) except -1:
        raise NotImplementedError

    cdef engine.Tensor _first(self):
        return self.kind if self.samples.empty() else self.samples[0]

    cdef TensorBase _sample(self, index):
        cdef Py_ssize_t size = self.samples.size()
        cdef Py_ssize_t position = size
        try:
            position = index
        except TypeError:
            integer_of(index, f"{type(self).__name__}: index")
        except OverflowError:
            pass
        if not -size <= position < size:
            raise TensorIndexError(
                f"{type(self).__name__}: index must be below the {size} samples of the batch (got "
                f"{shown(index)}). See len()."
            )
        return self._wrap(self.samples[position % size])

    cdef TensorListBase _slice(self, object index):
        cdef TensorListBase part = self._empty_part()
        for i in range(*index.indices(len(self))):
            part.samples.push_back(self.samples[<size_t>i])
        part.kind = self._first()
        part.is_contiguous = are_contiguous(part.samples)
        part.is_read_only = self.is_read_only
        return part

    cdef TensorBase _as_tensor(self):
        cdef engine.Shape shape
        cdef int i
        cdef int ndim = self._first().shape.ndim
        where = f"{type(self).__name__}.as_tensor"
        if not have_one_shape(self.samples):
            raise TensorError(
                f"{where}: all samples must have the same shape (got "
                f"{different_shapes(self.shape())}). Resize, crop or pad them in the pipeline, or "
                "take the samples one by one with at(i)."
            )
        if ndim == engine.kMaxDims:
            raise TensorError(
                f"{where}: samples must have at most 7 dimensions to be joined into one tensor "
                "(got 8). Take them one by one with at(i)."
            )
        shape.ndim = ndim + 1
        shape.dims[0] = self.samples.size()
        for i in range(ndim):
            shape.dims[i + 1] = 0 if self.samples.empty() else self.samples[0].shape.dims[i]
        self._gather_if_apart()
        return self._wrap(joined(self.samples, self.kind, shape))

    cdef TensorBase _as_reshaped_tensor(self, object shape):
        cdef engine.Tensor whole
        where = f"{type(self).__name__}.as_reshaped_tensor"
        extents = [integer_of(extent, f"{where}: every extent of shape") for extent in shape]
        count = sum(math.prod(sample) for sample in self.shape())
        if min(extents, default=0) < 0 or math.prod(extents) != count:
            raise TensorError(
                f"{where}: shape must have {count} elements (got {tuple(extents)}). Choose extents "
                "whose product is that number."
            )
        set_shape(whole, extents)
        self._gather_if_apart()
        return self._wrap(joined(self.samples, self.kind, whole.shape))

    cdef int _gather_if_apart(self) except -1:
        if not self.is_contiguous:
            self._gather()
        return 0


cdef int set_layouts(
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


cdef int check_layouts(vector[engine.Tensor]& samples, str where) except -1:
    """The layout of the first sample is that of all."""
    cdef int other = spread_layout(samples)
    if other >= 0:
        raise ArgumentTypeError(
            f"{where}: all samples must have one layout (got {layout_of(samples[0])!r} and, "
            f"for sample {other}, {layout_of(samples[other])!r}). Pass layout."
        )
    return 0


cdef int check_same_types(const vector[engine.Tensor]& samples, str where) except -1:
    cdef size_t i
    for i in range(samples.size()):
        if samples[i].type != samples[0].type or samples[i].shape.ndim != samples[0].shape.ndim:
            raise ArgumentTypeError(
                f"{where}: all samples must have one dtype and number of dimensions (got "
                f"{type_of(samples[0])} with {samples[0].shape.ndim} and, for sample {i}, "
                f"{type_of(samples[i])} with {samples[i].shape.ndim}). Convert them first."
            )
    return 0


cdef vector[engine.Tensor] rows_of(
    const engine.Tensor& whole, engine.Tensor& kind, str where
) except *:
    """View a tensor along its first dimension."""
    if whole.shape.ndim == 0:
        raise TensorError(
            f"{where}: data must have the batch as its first dimension (got a scalar). Pass a "
            "list of samples."
        )
    kind.type = whole.type
    kind.shape.ndim = whole.shape.ndim - 1
    return split(whole)
