# cython: annotation_typing=False
"""Allocation and release of blocks of device memory."""

from cpython.exc cimport PyErr_Fetch, PyErr_Restore
from cpython.ref cimport PyObject
from cuda.bindings cimport cydriver
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memset
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from dali_core._cuda.device_state cimport DeviceState, PendingFree, StreamState
from dali_core._cuda.driver cimport enter_state, leave_state
from dali_core._cuda.stream cimport give_event, take_event

cdef extern from "Python.h" nogil:
    int Py_IsInitialized()
    void PyErr_SetInterrupt()

cdef extern from "python_memory.hpp" namespace "dali_core":
    shared_ptr[void] hold_python_object(object owner)

cdef extern from "dali_core/size_classes.hpp" namespace "dali_core" nogil:
    size_t size_class(size_t bytes, size_t smallest)

cdef enum:
    # Of pools, which align blocks to it.
    SMALLEST_BLOCK = 512

cdef Allocators _allocators


cdef Allocators* allocators() noexcept nogil:
    return &_allocators


cdef cydriver.CUresult obtain(Block* block) noexcept nogil:
    """Allocate memory for a block; if none is left, trim the pool, then wait for frees."""
    cdef DeviceState* device = block.device()
    cdef cydriver.CUresult status
    block.allocator = _allocators.get(device.number)
    if not block.allocator:
        status = device.find_pool_once(_find_pool)
        if status != cydriver.CUDA_SUCCESS:
            return status
    free_what_is_done(device, False)
    # In classes, so that what one batch has released fits the next, whose sizes differ a little.
    status = _ask(block, size_class(block.bytes, SMALLEST_BLOCK))
    if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY and trim(device) == cydriver.CUDA_SUCCESS:
        status = _ask(block, block.bytes)
    if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY:
        _wait_for_frees(device)
        if trim(device) == cydriver.CUDA_SUCCESS:
            status = _ask(block, block.bytes)
    if status == cydriver.CUDA_SUCCESS:
        device.add_use(<int64_t>block.bytes)
    return status


cdef cydriver.CUresult _ask(Block* block, size_t from_pool) noexcept nogil:
    """Ask once; a pool for so many bytes, at least as many as the block has."""
    cdef DeviceState* device = block.device()
    cdef size_t bytes = block.bytes if block.bytes else 1
    if block.allocator:
        return _ask_allocator(block, bytes)
    block.is_from_pool = device.pool is not NULL
    if block.is_from_pool:
        return cydriver.cuMemAllocFromPoolAsync(
            &block.pointer, from_pool if from_pool else 1, device.pool, block.stream.get().stream
        )
    return cydriver.cuMemAlloc(&block.pointer, bytes)


cdef void close_block(Block* block) noexcept nogil:
    """Free a block behind everything that uses it."""
    cdef DeviceState* device = block.device()
    cdef bint is_entered
    if device.is_inherited():
        # The memory, the locks and the streams are the parent's.
        return
    device.add_use(-<int64_t>block.bytes)
    # Errors cannot be reported: the driver may have shut down already.
    is_entered = enter_state(device) == cydriver.CUDA_SUCCESS
    if not _wait_for_consumers(block):
        cydriver.cuCtxSynchronize()
    if block.allocator:
        _return_to_allocator(block)
    elif block.is_from_pool:
        _return_to_pool(block)
    else:
        _return_to_driver(block)
    if is_entered:
        leave_state()
    del block


cdef cbool _wait_for_consumers(Block* block) noexcept nogil:
    """Let a block's own stream wait for all others that use it; false if that is not possible."""
    cdef DeviceState* device = block.device()
    cdef cydriver.CUevent event = NULL
    cdef size_t i
    for i in range(block.consumers.size()):
        if take_event(device, &event) != cydriver.CUDA_SUCCESS:
            return False
        if (
            cydriver.cuEventRecord(event, block.consumers[i].get().stream) != cydriver.CUDA_SUCCESS
            or cydriver.cuStreamWaitEvent(block.stream.get().stream, event, 0)
            != cydriver.CUDA_SUCCESS
        ):
            give_event(device, event)
            return False
        give_event(device, event)
    return True


cdef void _return_to_pool(Block* block) noexcept nogil:
    cdef cydriver.CUresult status
    status = cydriver.cuMemFreeAsync(block.pointer, block.stream.get().stream)
    if status == cydriver.CUDA_SUCCESS:
        block.stream.get().has_pending_frees.exchange(True)
    else:
        # Perhaps a stream of another library that is there no longer.
        cydriver.cuMemFree(block.pointer)


cdef void _return_to_driver(Block* block) noexcept nogil:
    """Free a block once its stream has come so far, without waiting for it."""
    cdef DeviceState* device = block.device()
    cdef PendingFree pending
    pending.pointer = block.pointer
    if take_event(device, &pending.event) != cydriver.CUDA_SUCCESS:
        cydriver.cuMemFree(block.pointer)
    elif (
        cydriver.cuEventRecord(pending.event, block.stream.get().stream) != cydriver.CUDA_SUCCESS
        or not device.add_pending_free(pending)
    ):
        give_event(device, pending.event)
        cydriver.cuMemFree(block.pointer)


cdef void free_what_is_done(DeviceState* device, bint wait) noexcept nogil:
    """Free the blocks whose streams have completed their use; or wait for these first."""
    cdef vector[PendingFree] pending = device.take_pending_frees()
    cdef cydriver.CUresult status
    cdef size_t i
    for i in range(pending.size()):
        status = (
            cydriver.cuEventSynchronize(pending[i].event) if wait
            else cydriver.cuEventQuery(pending[i].event)
        )
        if status == cydriver.CUDA_ERROR_NOT_READY and device.add_pending_free(pending[i]):
            continue
        give_event(device, pending[i].event)
        if pending[i].pointer:
            cydriver.cuMemFree(pending[i].pointer)


cdef void _wait_for_frees(DeviceState* device) noexcept nogil:
    """Wait for the streams with pending frees, and for no others."""
    cdef vector[shared_ptr[StreamState]] streams = device.streams_in_use()
    cdef size_t i
    for i in range(streams.size()):
        streams[i].get().has_pending_frees.exchange(False)
        cydriver.cuStreamSynchronize(streams[i].get().stream)
    free_what_is_done(device, True)


cdef cydriver.CUresult trim(DeviceState* device) noexcept nogil:
    if device.retained_pool is not NULL:
        cydriver.cuMemPoolTrimTo(device.retained_pool, 0)
    if device.pool is NULL:
        return cydriver.CUDA_SUCCESS
    return cydriver.cuMemPoolTrimTo(device.pool, 0)


cdef cydriver.CUresult _find_pool(DeviceState* device) noexcept nogil:
    """Make a pool that keeps what it has; or take the device's own, or do without."""
    cdef cydriver.CUmemPoolProps properties
    cdef cydriver.CUresult status
    cdef uint64_t threshold = 0xFFFFFFFFFFFFFFFF
    cdef int is_supported = 0
    status = cydriver.cuDeviceGetAttribute(
        &is_supported, cydriver.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device.number
    )
    if status != cydriver.CUDA_SUCCESS or not is_supported:
        return status
    memset(&properties, 0, sizeof(properties))
    properties.allocType = cydriver.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cydriver.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = device.number
    status = cydriver.cuMemPoolCreate(&device.pool, &properties)
    if status == cydriver.CUDA_ERROR_NOT_SUPPORTED:
        status = cydriver.cuDeviceGetDefaultMemPool(&device.pool, device.number)
        if status == cydriver.CUDA_ERROR_NOT_SUPPORTED:
            device.pool = NULL
            status = cydriver.CUDA_SUCCESS
        return status
    if status != cydriver.CUDA_SUCCESS:
        return status
    status = cydriver.cuMemPoolSetAttribute(
        device.pool, cydriver.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold
    )
    if status != cydriver.CUDA_SUCCESS:
        cydriver.cuMemPoolDestroy(device.pool)
        device.pool = NULL
        return status
    device.pool_is_own = True
    return status


cdef object allocator_error(Block* block):
    """Return the error that a user's allocator raised, if it did."""
    return <object>block.error.get() if block.error else None


cdef cydriver.CUresult _ask_allocator(Block* block, size_t bytes) noexcept with gil:
    cdef uintptr_t pointer = 0
    cdef cydriver.CUcontext context
    cdef cydriver.CUresult status = cydriver.cuCtxPushCurrent(block.device().context)
    if status != cydriver.CUDA_SUCCESS:
        return status
    try:
        pointer = (<object>block.allocator.get()).allocate(
            bytes, <uintptr_t>block.stream.get().stream
        )
    except BaseException as error:
        # It becomes the cause of the error about the shortage. Ctrl-C also comes once more.
        block.error = hold_python_object(error)
        if isinstance(error, KeyboardInterrupt):
            PyErr_SetInterrupt()
    # The context that it has left as the current one.
    cydriver.cuCtxPopCurrent(&context)
    block.pointer = pointer
    return cydriver.CUDA_SUCCESS if pointer else cydriver.CUDA_ERROR_OUT_OF_MEMORY


cdef void _return_to_allocator(Block* block) noexcept nogil:
    # At the very end of the program no allocator can be called.
    if Py_IsInitialized():
        _call_deallocate(block)


cdef void _call_deallocate(Block* block) noexcept with gil:
    # Memory is also released while an exception propagates through this thread.
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* traceback
    PyErr_Fetch(&kind, &value, &traceback)
    _deallocate(block)
    PyErr_Restore(kind, value, traceback)


cdef void _deallocate(Block* block) noexcept:
    # An error here cannot propagate to a caller; Python prints it. Ctrl-C is raised once more
    # instead, where the program continues.
    cdef cydriver.CUcontext context
    cdef bint is_pushed = cydriver.cuCtxPushCurrent(block.device().context) == cydriver.CUDA_SUCCESS
    try:
        (<object>block.allocator.get()).deallocate(
            block.pointer, block.bytes if block.bytes else 1, <uintptr_t>block.stream.get().stream
        )
    except KeyboardInterrupt:
        PyErr_SetInterrupt()
    finally:
        if is_pushed:
            cydriver.cuCtxPopCurrent(&context)


cdef str text_of_shortage(Block* block):
    cdef DeviceState* device = block.device()
    cdef size_t free_bytes = 0
    cdef size_t total_bytes = 0
    got = f"{device.used_bytes.load()} bytes in use here"
    if cydriver.cuMemGetInfo(&free_bytes, &total_bytes) == cydriver.CUDA_SUCCESS:
        got += f", {free_bytes} of {total_bytes} bytes free on the device"
    if block.allocator:
        got += f"; the allocator says: {allocator_error(block)!r}"
    return (
        f"CUDA device {device.number}: {block.bytes} bytes of memory must be left (got {got}). Use "
        "smaller batches or a smaller prefetch_queue_depth, or leave more of the device to this "
        "process."
    )
