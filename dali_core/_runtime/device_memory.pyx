# cython: annotation_typing=False
"""Copies of tensors on devices, ordered by streams.

CUDA is reached through `dali_core._cuda.tensor_memory`, which is imported at the first use.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int8_t, int64_t, uintptr_t
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from dali_core._cuda import load
from dali_core._runtime cimport engine

cdef extern from "memory_capsule.hpp" namespace "dali_core":
    object capsule_of_memory(const shared_ptr[void]& memory)
    shared_ptr[void] memory_of_capsule(object capsule) except *

cdef extern from "sample_copies.hpp" namespace "dali_core" nogil:
    cdef cppclass RowCopy:
        pass

    int64_t total_bytes(const vector[engine.Tensor]& samples) except +
    int64_t total_bytes(const vector[engine.Tensor]& samples, int64_t alignment) except +
    vector[RowCopy] copies_to(const vector[engine.Tensor]& samples, void* to) except +
    vector[RowCopy] copies_to(
        const vector[engine.Tensor]& samples, void* to, int64_t alignment
    ) except +
    vector[engine.Tensor] placed(
        vector[engine.Tensor] samples, const shared_ptr[void]& storage, int8_t device
    ) except +
    vector[engine.Tensor] placed(
        vector[engine.Tensor] samples, const shared_ptr[void]& storage, int8_t device,
        int64_t alignment
    ) except +
    vector[shared_ptr[void]] owners_of(const vector[engine.Tensor]& samples) except +

cdef object _tensor_memory = None


cdef object tensor_memory():
    """Return the module that has CUDA."""
    global _tensor_memory
    if _tensor_memory is None:
        _tensor_memory = load("tensor_memory")
    return _tensor_memory


cdef object stream_of(object stream, int device):
    """Wrap another library's stream as one of ours; None is the default stream."""
    return tensor_memory().wrap_stream(stream, device)


cdef object side_stream(int device, object ready):
    """Return the stream for copies that users ask for, behind an event."""
    stream = tensor_memory().side_stream(device)
    if ready is not None:
        stream.wait(ready)
    return stream


cdef vector[engine.Tensor] copied_on_device(
    const vector[engine.Tensor]& samples, object stream, int64_t alignment=1
) except *:
    """Copy samples on their device to one block of memory, in the order of a stream.

    They are contiguous, or each begins at a multiple of `alignment`.
    """
    cdef vector[engine.Tensor] copies
    copies = _copied(samples, samples[0].device, stream, alignment)
    record_stream(samples, stream)
    return copies


cdef vector[engine.Tensor] copied_to_device(
    const vector[engine.Tensor]& samples, int device, object stream
) except *:
    """Copy samples from the host to a device. Their memory must stay until the stream is there."""
    return _copied(samples, device, stream, 1)


cdef vector[engine.Tensor] copied_to_host(
    const vector[engine.Tensor]& samples, object ready
) except *:
    """Copy samples to contiguous pinned memory, and wait for that."""
    cdef shared_ptr[void] storage
    cdef int64_t size = total_bytes(samples)
    if size == 0:
        storage = engine.BufferPool.create().get().allocate(0)
        return placed(samples, storage, engine.kHost)
    stream = side_stream(samples[0].device, ready)
    storage = memory_of_capsule(tensor_memory().allocate_host(size))
    cdef vector[engine.Tensor] gathered = _gathered(samples, stream)
    tensor_memory().copy(stream, _packed(copies_to(gathered, storage.get())), False)
    stream.record().synchronize()
    return placed(samples, storage, engine.kHost)


cdef int copy_out(
    const vector[engine.Tensor]& samples, uintptr_t to, object ready, object cuda_stream,
    bint non_blocking, bint with_kernel,
) except -1:
    """Copy samples, one after the other, to an address."""
    if total_bytes(samples) == 0:
        return 0
    cdef int device = samples[0].device
    stream = stream_of(cuda_stream, device)
    if ready is not None:
        stream.wait(ready)
    is_there = tensor_memory().device_of(to) == device
    cdef vector[engine.Tensor] gathered = samples if is_there else _gathered(samples, stream)
    cdef vector[RowCopy] copies = copies_to(gathered, <void*>to)
    with_kernel = (with_kernel or copies.size() > 1) and is_there
    tensor_memory().copy(stream, _packed(copies), with_kernel)
    record_stream(samples, stream)
    if not non_blocking:
        stream.record().synchronize()
    return 0


cdef vector[engine.Tensor] _gathered(
    const vector[engine.Tensor]& samples, object stream
) except *:
    """Return the samples, or contiguous copies if each would be a copy of its own to elsewhere.

    A call of the driver costs as much as a copy of some ten kilobytes.
    """
    cdef vector[RowCopy] pieces = copies_to(samples, samples[0].data)
    return samples if pieces.size() <= _FEW_PIECES else copied_on_device(samples, stream)


cdef enum:
    _FEW_PIECES = 4


cdef shared_ptr[void] borrowed(const engine.Tensor& tensor, object stream) except *:
    """Hold memory of another library until all streams that use it have completed their work."""
    if tensor.num_bytes() == 0:
        return tensor.storage
    return memory_of_capsule(
        tensor_memory().borrow(capsule_of_memory(tensor.storage), stream, <uintptr_t>tensor.data)
    )


cdef int record_stream(const vector[engine.Tensor]& samples, object stream) except -1:
    """Record that a stream uses samples: their memory is free when it is past that."""
    cdef vector[shared_ptr[void]] owners = owners_of(samples)
    cdef size_t i
    for i in range(owners.size()):
        tensor_memory().record_stream(capsule_of_memory(owners[i]), stream)
    return 0


cdef vector[engine.Tensor] _copied(
    const vector[engine.Tensor]& samples, int device, object stream, int64_t alignment
) except *:
    cdef shared_ptr[void] storage = memory_of_capsule(
        tensor_memory().allocate(stream, total_bytes(samples, alignment))
    )
    cdef vector[RowCopy] copies = copies_to(samples, storage.get(), alignment)
    is_on_device = not samples.empty() and samples[0].device == device
    tensor_memory().copy(stream, _packed(copies), is_on_device and copies.size() > 1)
    return placed(samples, storage, <int8_t>device, alignment)


cdef bytes _packed(const vector[RowCopy]& copies):
    return PyBytes_FromStringAndSize(
        <const char*>copies.data(), copies.size() * sizeof(RowCopy)
    )
