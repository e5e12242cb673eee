# cython: annotation_typing=False
"""One tensor in host memory: a sample, or a whole batch.

Memory is owned by reference count. The memory of a tensor is neither freed nor reused for as long
as the tensor, or any view of it, is alive.
"""

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy

from dali_core._runtime cimport engine
from dali_core._runtime.tensor_base cimport (
    _UNSET, TensorBase, address_of, array_interface_of, given, set_source,
)
from dali_core._runtime.exchange cimport (
    export_buffer, export_capsule, import_array, release_buffer, set_layout,
)
from dali_core.errors import ArgumentValueError, ExchangeError


cdef class TensorCPU(TensorBase):
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
        Accepted for compatibility: whether memory is pinned makes no difference on the host.
    b, object
        `data` may be given by these names, too.
    """

    # overload: def __init__(self, data: Any, layout: str | None = None, is_pinned: bool = False)
    # overload: def __init__(self, *, b: Any, layout: str | None = None, is_pinned: bool = False)
    # overload: def __init__(self, *, object: Any, layout: str | None = None)
    def __init__(
        self, data: Any = _UNSET, layout: Any = None, bint is_pinned=False, *,
        b: Any = _UNSET, object: Any = _UNSET,
    ):
        data = given("TensorCPU", {"data": data, "b": b, "object": object})
        self.tensor = tensor_of(data, layout, &self.is_read_only)

    def as_cpu(self) -> TensorCPU:
        """Return this tensor itself, since it is on the host."""
        return self

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

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        export_buffer(buffer, flags, self, self.tensor, self.is_read_only)

    def __releasebuffer__(self, Py_buffer* buffer):
        release_buffer(buffer)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return array_interface_of(self)

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
        return export_capsule(
            copy_of(self.tensor) if copy else self.tensor, versioned, bool(copy),
            self.is_read_only and not copy, "TensorCPU.__dlpack__",
        )

    def __copy__(self) -> TensorCPU:
        return wrap_tensor(self.tensor, self.is_read_only)

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorCPU:
        return wrap_tensor(copy_of(self.tensor), False)

    def __reduce__(self) -> tuple[Any, ...]:
        import numpy

        return _restored, (numpy.asarray(self), self.layout(), self.source_info())


def _restored(array, layout, source_info):
    """Make a tensor from what was pickled."""
    cdef TensorCPU result = TensorCPU(array, layout)
    set_source(result.tensor, source_info)
    return result


cdef TensorCPU wrap_tensor(const engine.Tensor& tensor, bint is_read_only):
    cdef TensorCPU result = TensorCPU.__new__(TensorCPU)
    result.tensor = tensor
    result.is_read_only = is_read_only
    return result


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
