# cython: annotation_typing=False
"""One tensor in the memory of a GPU: a sample, or a whole batch.

Only the streams that use data wait for them: a tensor knows the stream in which its data are
computed and an event after which they are complete. Memory is owned by reference count, and is
free once all streams that were recorded for it have completed their work.
"""

from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport (
    _UNSET, TensorBase, address_of, array_interface_of, given, integer_of, set_source,
)
from dali_core._runtime.device_exchange cimport check_device, import_on_device
from dali_core._runtime.device_memory cimport (
    copied_on_device, copied_to_device, copied_to_host, copy_out, record_stream, side_stream,
    stream_of,
)
from dali_core._runtime.exchange cimport export_capsule, is_capsule, set_layout
from dali_core._runtime.tensor cimport TensorCPU, wrap_tensor
from dali_core.errors import ArgumentTypeError, ArgumentValueError, ExchangeError


cdef class TensorGPU(TensorBase):
    """A tensor in the memory of a GPU: dense, row-major, with a type and perhaps a layout.

    It works with every consumer of DLPack or of CUDA's array interface, without copying: their
    streams wait for the data, the caller does not. Layout, shape and element type belong to this
    object alone; other tensors over the same memory keep theirs.

    Parameters
    ----------
    object : object
        Anything on a GPU with `__dlpack__` or `__cuda_array_interface__`; a DLPack capsule of
        either version; or another tensor. Its memory is shared, so it must be dense and row-major.
    layout : str, optional
        One letter a dimension, such as ``"HWC"``; empty or None for none, or for that of the
        tensor that is given.
    stream : object, optional
        Stream in whose order the data are used: a handle, or a stream object of any library. By
        default that which the data tell, and for a capsule the default stream.
    device_id : int
        Number of the device where the data must be; -1 for any.

    Notes
    -----
    The third argument by position is `device_id` after an object that has only CUDA's array
    interface, else `stream`.
    """

    # overload: def __init__(self, object: Any, layout: str | None = None, stream: Any = None)
    # overload: def __init__(self, object: Any, layout: str | None = None, *, device_id: int = -1)
    def __init__(
        self, object: Any = _UNSET, layout: Any = None, *third: Any,
        stream: Any = None, device_id: Any = -1,
    ):
        cdef TensorGPU other
        data = given("TensorGPU", {"object": object})
        if third:
            stream, device_id = third_argument("TensorGPU", data, third, stream, device_id)
        if isinstance(data, TensorGPU):
            other = data
            self.tensor = other.tensor
            self.is_read_only = other.is_read_only
            check_device(self.tensor.device, device_id, "TensorGPU")
            self._stream = other._stream
            self._ready = other._ready
            if stream is not None:
                self._stream = stream_of(stream, self.tensor.device)
                if self._ready is not None:
                    self._stream.wait(self._ready)
                self._ready = self._stream.record()
                record_stream(self._alone(), self._stream)
        else:
            self._stream, self._ready = import_on_device(
                data, stream, device_id, self.tensor, &self.is_read_only, "TensorGPU"
            )
        if layout is not None and layout != "":
            set_layout(self.tensor, layout)

    @property
    def stream(self) -> Any:
        """Stream in whose order the data are computed and may be used; None if there is none.

        It has a `handle`, and `__cuda_stream__` for other libraries.
        """
        return self._stream

    def device_id(self) -> int:
        """Return the number of the device that has the memory."""
        return self.tensor.device

    def synchronize(self) -> None:
        """Wait until the data are complete. Nothing that is done with them here needs that."""
        if self._ready is not None:
            self._ready.synchronize()

    def as_cpu(self) -> TensorCPU:
        """Copy the tensor to the host, and wait for that."""
        return wrap_tensor(copied_to_host(self._alone(), self._ready)[0], False)

    def copy_to_external(
        self,
        ptr: c_void_p | int,
        cuda_stream: Any = None,
        bint non_blocking=False,
        bint use_copy_kernel=False,
    ) -> None:
        """Copy the elements to an address, which may be on any device or on the host.

        Parameters
        ----------
        ptr : ctypes.c_void_p or int
            Where to write; the memory there must hold the whole tensor.
        cuda_stream : object, optional
            Stream that copies, once the data are complete: a handle, or a stream object of any
            library. By default the default stream.
        non_blocking : bool
            Whether to return while the copy is still to be made.
        use_copy_kernel : bool
            Whether to copy with a kernel, where that reaches the memory.
        """
        cdef uintptr_t address = address_of(ptr, "TensorGPU.copy_to_external")
        copy_out(
            self._alone(), address, self._ready, cuda_stream, non_blocking, use_copy_kernel
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        # Some consumers, PyTorch among them, ignore "stream", and use the default stream.
        consumer = self._ordered_before(None)
        return array_interface_of(self) | {"stream": consumer.handle}

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NDArray[Any]:
        raise_on_host("TensorGPU")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.tensor.device)

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
            The consumer's stream, which is made to wait for the data: a handle, 1 or None for the
            legacy default stream, 2 for that of the thread, -1 for none. The caller does not wait.
        max_version : tuple of int, optional
            Newest DLPack version that the consumer reads; without it the old capsule is made.
        dl_device : tuple of int, optional
            Device where the consumer wants the data: that of the tensor, or the host, ``(1, 0)``,
            which means a copy, and that the caller waits for it.
        copy : bool, optional
            Whether the consumer asks for memory of its own.

        Raises
        ------
        ExchangeError
            If the consumer wants another device, cannot be told that memory is read-only, or wants
            the data on the host without a copy.
        """
        cdef TensorGPU exported = self
        versioned = max_version is not None and max_version[0] >= 1
        if dl_device is not None and tuple(dl_device) == (1, 0):
            if copy is False:
                raise ExchangeError(
                    "TensorGPU.__dlpack__: copy=False must not be given for the host (got device "
                    f"{self.tensor.device} and dl_device (1, 0)). Allow the copy."
                )
            return export_capsule(
                copied_to_host(self._alone(), self._ready)[0], versioned, True, False,
                "TensorGPU.__dlpack__",
            )
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise ExchangeError(
                f"TensorGPU.__dlpack__: dl_device must be {self.__dlpack_device__()}, where the "
                f"tensor is, or the host, (1, 0) (got {dl_device!r}). Import it there and copy it."
            )
        if stream is not None and (integer_of(stream, "TensorGPU.__dlpack__: stream") < -1
                                   or stream == 0):
            raise ArgumentValueError(
                "TensorGPU.__dlpack__: stream must be a handle, 1, 2, -1 or None (got "
                f"{stream}). Use 1 for the legacy default stream."
            )
        if copy:
            exported = self._copied()
        capsule = export_capsule(
            exported.tensor, versioned, bool(copy), exported.is_read_only, "TensorGPU.__dlpack__"
        )
        if stream != -1:
            exported._ordered_before(stream)
        return capsule

    def __copy__(self) -> TensorGPU:
        return TensorGPU(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorGPU:
        return self._copied()

    def __reduce__(self) -> tuple[Any, ...]:
        import numpy

        array = numpy.asarray(self.as_cpu())
        return _restored, (array, self.layout(), self.source_info(), self.device_id())

    cdef object _ordered_before(self, object stream):
        """Make a stream wait for the data, record that it uses them, and return it."""
        consumer = stream_of(stream, self.tensor.device)
        if self._ready is not None:
            consumer.wait(self._ready)
        record_stream(self._alone(), consumer)
        return consumer

    cdef vector[engine.Tensor] _alone(self) except *:
        return vector[engine.Tensor](1, self.tensor)

    cdef TensorGPU _copied(self):
        stream = side_stream(self.tensor.device, self._ready)
        cdef engine.Tensor tensor = copied_on_device(self._alone(), stream)[0]
        return wrap_device_tensor(tensor, False, stream, stream.record())


def _restored(array, layout, source_info, device_id):
    """Make a tensor from what was pickled."""
    cdef TensorCPU on_host = TensorCPU(array, layout)
    set_source(on_host.tensor, source_info)
    stream = side_stream(device_id, None)
    cdef engine.Tensor tensor = copied_to_device(
        vector[engine.Tensor](1, on_host.tensor), device_id, stream
    )[0]
    ready = stream.record()
    # The memory on the host is released after this.
    ready.synchronize()
    return wrap_device_tensor(tensor, False, stream, ready)


cdef TensorGPU wrap_device_tensor(
    const engine.Tensor& tensor, bint is_read_only, object stream, object ready
):
    cdef TensorGPU result = TensorGPU.__new__(TensorGPU)
    result.tensor = tensor
    result.is_read_only = is_read_only
    result._stream = stream
    result._ready = ready
    return result


cdef tuple third_argument(str where, object data, tuple third, object stream, object device_id):
    """Return which stream and device are meant if there is a third argument by position."""
    if len(third) > 1 or stream is not None or device_id != -1:
        raise ArgumentTypeError(
            f"{where}: must be given either stream or device_id (got {len(third)} more arguments "
            "by position, and others by name). Name the one that is meant."
        )
    is_device = hasattr(data, "__cuda_array_interface__") and not (
        is_capsule(data) or hasattr(data, "__dlpack__")
    )
    return (None, third[0]) if is_device else (third[0], -1)


cdef int raise_on_host(str where) except -1:
    raise ExchangeError(
        f"{where}: data must be on the host to be read there (they are on a GPU). Call as_cpu() "
        "first."
    )
