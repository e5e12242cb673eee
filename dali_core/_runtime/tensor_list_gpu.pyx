# cython: annotation_typing=False
"""A batch of tensors in the memory of a GPU: what pipelines return, and what may be fed in."""

from libc.stdint cimport int64_t, uintptr_t
from libcpp.utility cimport move
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport _UNSET, TensorBase, address_of, given
from dali_core._runtime.tensor_list_base cimport (
    TensorListBase, check_layouts, check_same_types, are_contiguous, have_one_shape, rows_of,
)
from dali_core._runtime.device_exchange cimport adopt_on_device
from dali_core._runtime.device_memory cimport (
    copied_on_device, copied_to_device, copied_to_host, copy_out, have_one_owner, record_stream,
    side_stream,
)
from dali_core._runtime.tensor_gpu cimport (
    TensorGPU, raise_on_host, third_argument, wrap_device_tensor,
)
from dali_core._runtime.tensor_list cimport TensorListCPU, wrap_tensors
from dali_core.errors import ArgumentTypeError, ArgumentValueError

cdef extern from "dali_core/size_classes.hpp" namespace "dali_core" nogil:
    const int64_t kRaggedAlignment


cdef class TensorListGPU(TensorListBase):
    """A batch of tensors in the memory of a GPU, with equal types and possibly different shapes.

    Parameters
    ----------
    object : object
        A list of tensors, or of anything on a GPU with `__dlpack__` or `__cuda_array_interface__`;
        or one of these, or a DLPack capsule, whose first dimension is the batch; or another list,
        whose samples are shared. Without it, the list is empty.
    layout : str, optional
        Layout of each sample, without a letter for the batch. Without it, the layout of the samples
        or of the other list stays.
    stream : object, optional
        Stream in whose order the data are used: a handle, or a stream object of any library.
    device_id : int
        Number of the device where the data must be; -1 for any.
    contiguous : bool
        What happens to a Python list of samples: they are copied into one block of memory, so that
        later changes of them have no effect; or, if False, they are shared.
    tl, list_of_tensors
        The data may be given by these names, too.

    Notes
    -----
    The third argument by position is `contiguous` after a list of samples, `device_id` after an
    object that has only CUDA's array interface, else `stream`.
    """

    # overload: def __init__(self) -> None
    # overload: def __init__(
    #     self, object: Any, layout: str | None = None, stream: Any = None
    # ) -> None
    # overload: def __init__(
    #     self, object: Any, layout: str | None = None, *, device_id: int = -1
    # ) -> None
    # overload: def __init__(self, tl: TensorListGPU, layout: str | None = None) -> None
    # overload: def __init__(
    #     self, list_of_tensors: Sequence[Any], layout: str | None = None, contiguous: bool = True
    # ) -> None
    def __init__(
        self, data: Any = _UNSET, layout: Any = None, *third: Any, stream: Any = None,
        device_id: Any = -1, contiguous: Any = None, object: Any = _UNSET, tl: Any = _UNSET,
        list_of_tensors: Any = _UNSET,
    ):
        cdef TensorListGPU other
        cdef TensorGPU whole
        names = {"data": data, "object": object, "tl": tl, "list_of_tensors": list_of_tensors}
        if all(value is _UNSET for value in names.values()):
            self.reset()
            return
        data = given("TensorListGPU", names)
        is_list = isinstance(data, (list, tuple))
        if third and is_list and len(third) == 1 and contiguous is None:
            contiguous = third[0]
        elif third:
            stream, device_id = third_argument("TensorListGPU", data, third, stream, device_id)
        if is_list:
            self._set_samples([TensorGPU(item, None, stream=stream, device_id=device_id)
                               if not isinstance(item, TensorGPU) else item for item in data])
            check_layouts(self.samples, "TensorListGPU")
        elif isinstance(data, TensorListGPU):
            other = data
            if stream is not None or device_id != -1:
                raise ArgumentTypeError(
                    "TensorListGPU: another list must be given without stream and device_id (got "
                    f"stream {stream!r}, device_id {device_id!r}). Leave them out."
                )
            self.samples = other.samples
            self.kind = other.kind
            self.is_contiguous = other.is_contiguous
            self.is_read_only = other.is_read_only
            self._stream = other._stream
            self._ready = other._ready
        else:
            whole = TensorGPU(data, None, stream=stream, device_id=device_id)
            self.samples = rows_of(whole.tensor, self.kind, "TensorListGPU")
            self.kind.device = whole.tensor.device
            self.is_contiguous = True
            self.is_read_only = whole.is_read_only
            self._stream = whole._stream
            self._ready = whole._ready
        if layout is not None and layout != "":
            self.set_layout(layout)
        if is_list and (contiguous is None or contiguous):
            self._gather()

    @staticmethod
    def broadcast(tensor: Any, Py_ssize_t num_samples, /) -> TensorListGPU:
        """Make a batch in which every sample is the same tensor, without copying it.

        Parameters
        ----------
        tensor : TensorGPU
            The sample, or anything that a `TensorGPU` can be made from.
        num_samples : int
            Size of the batch.
        """
        cdef TensorGPU sample = TensorGPU(tensor)
        cdef vector[engine.Tensor] samples
        cdef TensorListGPU result
        if num_samples < 0:
            raise ArgumentValueError(
                f"TensorListGPU.broadcast: num_samples must not be negative (got {num_samples}). "
                "Pass the size of the batch."
            )
        samples.assign(num_samples, sample.tensor)
        result = wrap_device_tensors(
            samples, are_contiguous(samples), sample._stream, sample._ready
        )
        result.kind = sample.tensor
        result.is_read_only = sample.is_read_only
        return result

    @staticmethod
    def from_dlpack_list(
        list_of_objects: Sequence[Any], layout: str | None = None, stream: Any = None,
        bint contiguous=False,
    ) -> TensorListGPU:
        """Make a batch of objects that support DLPack, such as tensors of PyTorch on a GPU.

        Parameters
        ----------
        list_of_objects : list
            The samples.
        layout : str, optional
            Layout of each sample. Those of the objects, if any, are not kept.
        stream : object, optional
            Stream in whose order the data are used: a handle, or a stream object of any library.
        contiguous : bool
            Whether to copy the samples into one block of memory, instead of sharing theirs.
        """
        for index, exporter in enumerate(list_of_objects):
            if not hasattr(exporter, "__dlpack__"):
                raise ArgumentTypeError(
                    f"TensorListGPU.from_dlpack_list: item {index} must support DLPack (got "
                    f"{type(exporter).__name__}). Use TensorListGPU(...) for other data."
                )
        samples = [TensorGPU(exporter, "", stream) for exporter in list_of_objects]
        cdef TensorListGPU result = TensorListGPU(samples, layout, contiguous)
        return result

    @property
    def stream(self) -> Any:
        """Stream in whose order the data are computed and may be used; None if there is none.

        It has a `handle`, and `__cuda_stream__` for other libraries.
        """
        return self._stream

    def device_id(self) -> int:
        """Return the number of the device that has the memory; -1 for a list that has none."""
        return self._first().device

    def as_tensor(self) -> TensorGPU:
        """View the batch as one tensor whose first dimension is the batch.

        Nothing is copied, except if the samples lie apart in memory: then the first call moves
        those of this list into contiguous memory of their own. The caller does not wait.

        Raises
        ------
        TensorError
            If the samples differ in shape; the message lists the shapes.
        """
        return self._as_tensor()

    def as_reshaped_tensor(self, shape: Sequence[int], /) -> TensorGPU:
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

    def synchronize(self) -> None:
        """Wait until the data are complete. Nothing that is done with them here needs that."""
        if self._ready is not None:
            self._ready.synchronize()

    def as_cpu(self) -> TensorListCPU:
        """Copy the batch to the host, and wait for that."""
        cdef TensorListCPU result = wrap_tensors(copied_to_host(self.samples, self._ready), True)
        result.kind = self.kind
        result.kind.device = engine.kHost
        return result

    def at(self, index: int, /) -> TensorGPU:
        """Return one sample, as the index operator does."""
        return self._sample(index)

    def copy_to_external(
        self,
        ptr: c_void_p | int,
        cuda_stream: Any = None,
        bint non_blocking=False,
        bint use_copy_kernel=False,
    ) -> None:
        """Copy all samples, one after the other, to an address on any device or on the host.

        Parameters
        ----------
        ptr : ctypes.c_void_p or int
            Where to write; the memory there must hold the whole batch.
        cuda_stream : object, optional
            Stream that copies, once the data are complete: a handle, or a stream object of any
            library. By default the default stream.
        non_blocking : bool
            Whether to return while the copy is still to be made.
        use_copy_kernel : bool
            Whether to copy with a kernel, where that reaches the memory. Samples that lie apart
            are copied so in any case.
        """
        cdef uintptr_t address = address_of(ptr, "TensorListGPU.copy_to_external")
        copy_out(self.samples, address, self._ready, cuda_stream, non_blocking, use_copy_kernel)

    def reset(self) -> None:
        """Remove all samples from the list. What others made of them keeps its memory."""
        TensorListBase.reset(self)
        self._stream = self._ready = None

    # overload: def __getitem__(self, index: int, /) -> TensorGPU
    # overload: def __getitem__(self, index: slice, /) -> TensorListGPU
    def __getitem__(self, index: Any, /):
        return self._slice(index) if isinstance(index, slice) else self._sample(index)

    def __iter__(self) -> Iterator[TensorGPU]:
        for index in range(len(self)):
            yield self._sample(index)

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NDArray[Any]:
        raise_on_host("TensorListGPU")

    def __copy__(self) -> TensorListGPU:
        return TensorListGPU(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorListGPU:
        cdef TensorListGPU result = TensorListGPU(self)
        # As pipelines lay them out.
        result._move(1 if have_one_shape(result.samples) else kRaggedAlignment)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.as_cpu(), self.device_id())

    cdef TensorBase _wrap(self, const engine.Tensor& tensor):
        return wrap_device_tensor(tensor, self.is_read_only, self._stream, self._ready)

    cdef TensorListBase _empty_part(self):
        return wrap_device_tensors(vector[engine.Tensor](), True, self._stream, self._ready)

    cdef int _gather_if_apart(self) except -1:
        # Uses are noted with the owner of memory: a tensor over all samples must have but one.
        if not (self.is_contiguous and have_one_owner(self.samples)):
            self._gather()
        return 0

    cdef int _gather(self) except -1:
        return self._move(1)

    cdef int _use_in(self, object stream) except -1:
        if self._ready is not None:
            stream.wait(self._ready)
        # What another device uses is copied there, and kept until then.
        if not self.samples.empty() and self.samples[0].device == stream.device_id:
            record_stream(self.samples, stream)
        return 0

    cdef int _move(self, int64_t alignment) except -1:
        if self.samples.empty():
            return 0
        stream = side_stream(self._first().device, self._ready)
        cdef vector[engine.Tensor] samples = copied_on_device(self.samples, stream, alignment)
        ready = stream.record()
        self.samples = move(samples)
        self._stream, self._ready = stream, ready
        self.is_contiguous = are_contiguous(self.samples)
        self.is_read_only = False
        return 0

    cdef int _set_samples(self, list tensors) except -1:
        """Take over tensors, which may be of different streams, but not of different devices."""
        cdef TensorGPU tensor
        streams = {}
        for tensor in tensors:
            self.samples.push_back(tensor.tensor)
            self.is_read_only |= tensor.is_read_only
            streams.setdefault(tensor._stream, []).append(tensor._ready)
            if tensor.tensor.device != self.samples[0].device:
                raise ArgumentValueError(
                    "TensorListGPU: all samples must be on one device (got samples on devices "
                    f"{self.samples[0].device} and {tensor.tensor.device}). Make a list for each."
                )
        check_same_types(self.samples, "TensorListGPU")
        self.is_contiguous = are_contiguous(self.samples)
        waits = {event for events in streams.values() for event in events if event is not None}
        if len(streams) == 1 and len(waits) < 2:
            (self._stream,) = streams
            self._ready = waits.pop() if waits else None
        elif tensors:
            self._stream = side_stream(self.samples[0].device, None)
            for event in waits:
                self._stream.wait(event)
            self._ready = self._stream.record()
        return 0


def _restored(TensorListCPU on_host, int device_id):
    """Make a list from what was pickled."""
    cdef TensorListGPU result = TensorListGPU()
    cdef engine.Tensor kind = on_host.kind
    if not on_host.samples.empty():
        stream = side_stream(device_id, None)
        result = wrap_device_tensors(
            copied_to_device(on_host.samples, device_id, stream), True, stream, stream.record()
        )
        # The memory on the host is released after this.
        result.synchronize()
    kind.device = device_id
    result.kind = kind
    return result


def adopted(samples: Sequence[Any], layout: str, stream: Stream) -> TensorListGPU:
    """Take memory of another library, which is complete in the order of a stream, as it is.

    Parameters
    ----------
    samples : sequence
        What has CUDA's array interface, on the device of the stream. All live as long as the memory
        of one of them is used.
    layout : str
        Layout of each sample.
    stream : Stream
        The stream, where samples do not tell another one.
    """
    cdef vector[engine.Tensor] tensors = adopt_on_device(list(samples), stream, "TensorListGPU")
    cdef TensorListGPU result
    check_same_types(tensors, "TensorListGPU")
    result = wrap_device_tensors(tensors, are_contiguous(tensors), stream, stream.record())
    if layout:
        result.set_layout(layout)
    return result


cdef TensorListGPU wrap_device_tensors(
    const vector[engine.Tensor]& samples, bint is_contiguous, object stream, object ready
):
    cdef TensorListGPU result = TensorListGPU.__new__(TensorListGPU)
    result.samples = samples
    result.is_contiguous = is_contiguous
    result._stream = stream
    result._ready = ready
    return result
