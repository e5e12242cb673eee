# cython: annotation_typing=False
"""CUDA functions for tensors on devices, for callers that are built without CUDA.

Memory is handed over as a capsule, addresses as integers.
"""

import atexit

from cuda.bindings cimport cydriver
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy
from libcpp.memory cimport shared_ptr

from dali_core._cuda import driver
from dali_core._cuda cimport memory
from dali_core._cuda.device_work cimport KernelLaunch
from dali_core._cuda.driver cimport check, use_driver
from dali_core._cuda.module cimport launch
from dali_core._cuda.stream cimport Stream

cdef extern from "memory_capsule.hpp" namespace "dali_core":
    object capsule_of_memory(const shared_ptr[void]& memory)
    shared_ptr[void] memory_of_capsule(object capsule) except *

cdef extern from "dali_core/kernels/copy/device_row_copies.hpp" namespace "dali_core" nogil:
    cdef cppclass RowCopy:
        const void* in_ "in"
        void* out
        int64_t bytes

    KernelLaunch row_copies_launch(
        const RowCopy* copies, int64_t count, const void* on_device
    ) except +

cdef dict _side_streams = {}
# Memory that was released while a device still used it, with the events that mark the end of use.
cdef list _lingering = []
cdef bint _is_ending = False


cdef class _Loan:
    """Memory of another library, which gets it back when the device is done with it."""

    cdef shared_ptr[void] lent
    cdef Stream stream

    def deallocate(self, pointer, nbytes, stream_handle):
        event = self.stream.record()
        if _is_ending:
            event.synchronize()
        if event.is_done():
            self.lent.reset()
        else:
            _lingering.append((event, self))


cdef int _keep(const shared_ptr[void]& read, Stream stream) except -1:
    """Keep memory of the host until the stream has read it."""
    cdef _Loan loan = _Loan()
    loan.lent = read
    loan.stream = stream
    loan.deallocate(None, None, None)
    return 0


cdef int _return_loans() except -1:
    """Free what the device is done with by now."""
    # One by one: others may come and go meanwhile, since what goes may run code in Python.
    waiting = []
    while _lingering:
        event, loan = _lingering.pop()
        if not event.is_done():
            waiting.append((event, loan))
    _lingering.extend(waiting)
    return 0


@atexit.register
def _end() -> None:
    global _is_ending
    _is_ending = True
    while _lingering:
        _lingering.pop()[0].synchronize()
    _side_streams.clear()


def side_stream(int device_id) -> Stream:
    """Return the stream in which tensors of a device are copied when users ask for it.

    It does not wait for what pipelines compute in advance meanwhile.
    """
    stream = _side_streams.get(device_id)
    if stream is None:
        stream = _side_streams.setdefault(device_id, Stream(device_id))
    return stream


def wrap_stream(stream: Any, int device_id) -> Stream:
    """Return a stream of ours for that of another library; None is the default stream."""
    return Stream.wrap(stream, device_id)


def allocate(Stream stream not None, size_t nbytes) -> CapsuleType:
    """Return memory of a device, for use in the order of a stream."""
    _return_loans()
    return capsule_of_memory(memory.allocate(stream, nbytes))


def borrow(lent: CapsuleType, Stream stream not None, uintptr_t address) -> CapsuleType:
    """Use memory of another library as ours.

    Parameters
    ----------
    lent : capsule
        The owner of the memory. After its last use here it is released when the stream, and all
        others that were recorded for it, have completed their work.
    stream : Stream
        In whose order the memory may be used.
    address : int
        Where it is.
    """
    cdef _Loan loan = _Loan()
    _return_loans()
    loan.lent = memory_of_capsule(lent)
    loan.stream = stream
    return capsule_of_memory(memory.borrow(stream, <void*>address, loan))


def allocate_host(size_t nbytes) -> CapsuleType:
    """Return pinned memory of the host."""
    return capsule_of_memory(memory.allocate_host(nbytes))


def record_stream(block: CapsuleType, Stream consumer not None) -> None:
    """Record that a stream uses memory, which is not to be free before it has done so."""
    memory.record_stream(memory_of_capsule(block), consumer)


def copy(Stream stream not None, bytes copies, bint with_kernel) -> None:
    """Queue copies.

    Parameters
    ----------
    stream : Stream
        Where to queue them.
    copies : bytes
        An array of `RowCopy`, each of one row.
    with_kernel : bool
        Whether to make them with one kernel, which reaches the memory of the stream's device only.
    """
    cdef const RowCopy* items = <const RowCopy*><const char*>copies
    cdef int64_t count = len(copies) // sizeof(RowCopy)
    cdef shared_ptr[void] on_device, listed
    if not with_kernel:
        for i in range(count):
            memory.copy(items[i].out, items[i].in_, items[i].bytes, stream)
    elif count:
        _return_loans()
        on_device = memory.allocate(stream, len(copies))
        # Pinned memory: a device that uses the host's page tables reads other memory late.
        # Lists of usual lengths have blocks of one size, which the pool has after the first.
        listed = memory.allocate_host(max(len(copies), 4096))
        memcpy(listed.get(), items, len(copies))
        try:
            memory.copy(on_device.get(), listed.get(), len(copies), stream)
            launch(row_copies_launch(items, count, on_device.get()), stream)
        finally:
            _keep(listed, stream)


def current_device() -> int:
    """Return the number of the device whose context is current in this thread."""
    return driver.current_device()


def device_of(uintptr_t address) -> int:
    """Return the number of the device that has the memory at an address; -1 if it is the host's."""
    cdef int device = -1
    cdef unsigned int kind = 0
    use_driver()
    cdef cydriver.CUresult status = cydriver.cuPointerGetAttribute(
        &kind, cydriver.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address
    )
    # The driver does not know memory that was not registered with it.
    if status == cydriver.CUDA_ERROR_INVALID_VALUE or kind == cydriver.CU_MEMORYTYPE_HOST:
        return -1
    check(status, b"asking what an address is")
    check(
        cydriver.cuPointerGetAttribute(
            &device, cydriver.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address
        ),
        b"asking for the device of an address",
    )
    return device
