# cython: annotation_typing=False
"""Memory of devices, in the order of streams, and page-locked memory of the host.

A block is owned by reference count. Whoever lets go last, in whatever thread, queues its return in
the stream that it was made for, behind all streams that were said to use it.
"""

import atexit
import threading

from cpython.exc cimport PyErr_Fetch, PyErr_Restore
from cpython.ref cimport PyObject
from cuda.bindings cimport cydriver
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memset
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from dali_core._cuda.device_state cimport DeviceState, PendingFree, StreamState
from dali_core._cuda.driver cimport (
    check_device, device_state, enter_device, enter_state, leave_device, leave_state,
    states_in_use, use_driver,
)
from dali_core._cuda.stream cimport Stream, give_event, plain_stream, take_event
from dali_core._runtime cimport engine
from dali_core.errors import ArgumentTypeError, CudaError, OutOfDeviceMemoryError

cdef extern from "python_memory.hpp" namespace "dali_core":
    shared_ptr[void] hold_python_object(object owner)

cdef extern from "Python.h" nogil:
    int Py_IsInitialized()

cdef extern from "memory_block.hpp" namespace "dali_core" nogil:
    cdef cppclass Block:
        DeviceState* device()
        void add_consumer(cydriver.CUstream) except +
        shared_ptr[StreamState] stream
        size_t bytes
        cydriver.CUdeviceptr pointer
        cbool is_from_pool
        shared_ptr[void] allocator
        shared_ptr[void] error
        vector[cydriver.CUstream] consumers

    Block* new_block(const shared_ptr[StreamState]& stream, size_t bytes)
    shared_ptr[void] share_block(Block* block, void (*close)(Block*) noexcept nogil)
    Block* block_of(const shared_ptr[void]& memory)

    cdef cppclass Allocators:
        void set(int device, shared_ptr[void] allocator) except +
        shared_ptr[void] get(int device)

    cdef cppclass AtomicStatus "std::atomic<int>":
        int load()
        int exchange(int)

    cdef cppclass HostSource:
        HostSource(shared_ptr[DeviceState] device) except +
        DeviceState* device()
        void add()
        void remove()
        void close()
        AtomicStatus last_status

cdef Allocators _allocators
cdef object _lock = threading.Lock()
cdef HostSource* _host_source = NULL
cdef shared_ptr[engine.BufferPool] _host_pool


cdef class Buffer:
    """A piece of a device's memory, for programs in Python.

    Parameters
    ----------
    stream : Stream
        In whose order it may be used, and is given back when nobody refers to it any more.
    nbytes : int
        Its size.
    """

    cdef shared_ptr[void] block
    cdef Stream stream
    cdef readonly size_t nbytes

    def __init__(self, Stream stream not None, size_t nbytes):
        self.block = allocate(stream, nbytes)
        self.stream = stream
        self.nbytes = nbytes

    @property
    def pointer(self) -> int:
        """Its address, which is not for the host to follow."""
        return <uintptr_t>self.block.get()

    def note_use(self, Stream stream not None) -> None:
        """Say that another stream uses it: it is given back when that has come past the use."""
        note_use(self.block, stream.stream)


def memory_stats(int device_id) -> dict[str, int]:
    """Tell how much memory is in use.

    Returns
    -------
    dict of str to int
        ``used_bytes`` and ``used_high_bytes``: in the hands of tensors and operators, now and at
        most so far. ``reserved_bytes`` and ``reserved_high_bytes``: taken from the device, used or
        not. ``host_used_bytes`` and ``host_idle_bytes``: page-locked memory of the host, for all
        devices together.
    """
    cdef shared_ptr[DeviceState] state = device_state(device_id)
    cdef int64_t used = state.get().used_bytes.load()
    cdef int64_t used_high = state.get().used_high_bytes.load()
    cdef uint64_t reserved = used
    cdef uint64_t reserved_high = used_high
    if state.get().pool is not NULL:
        reserved = _pool_attribute(
            state.get(), cydriver.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, device_id
        )
        reserved_high = _pool_attribute(
            state.get(), cydriver.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, device_id
        )
    cdef shared_ptr[engine.BufferPool] pool = _host_pool
    return {
        "used_bytes": used,
        "used_high_bytes": used_high,
        "reserved_bytes": reserved,
        "reserved_high_bytes": reserved_high,
        "host_used_bytes": pool.get().used_bytes() if pool else 0,
        "host_idle_bytes": pool.get().idle_bytes() if pool else 0,
    }


def release_unused_memory(device_id: int | None = None) -> None:
    """Return memory that nobody uses: to the devices, and page-locked memory to the system.

    Parameters
    ----------
    device_id : int, optional
        The only device to look at; by default all that were used.
    """
    cdef shared_ptr[DeviceState] state
    cdef cydriver.CUresult status
    cdef int device
    for device in states_in_use() if device_id is None else (device_id,):
        state = device_state(device)
        enter_device(device)
        try:
            with nogil:
                _free_what_is_done(state.get(), False)
                status = _trim(state.get())
            check_device(status, b"returning unused memory", device)
        finally:
            leave_device()
    cdef shared_ptr[engine.BufferPool] pool = _host_pool
    if pool:
        with nogil:
            pool.get().trim()


def set_allocator(allocator: Any, device_id: int | None = None) -> None:
    """Take memory of devices from somebody else's allocator from now on.

    Parameters
    ----------
    allocator : object or None
        It has ``allocate(nbytes, stream_handle)``, which gives an address for use in the order of
        the stream, and ``deallocate(pointer, nbytes, stream_handle)``. They are called in any
        thread, with the device's context current. None for this library's own pools.
    device_id : int, optional
        The only device that it is for; by default all that have none of their own.
    """
    cdef shared_ptr[void] held
    if allocator is not None:
        for method in ("allocate", "deallocate"):
            if not callable(getattr(allocator, method, None)):
                raise ArgumentTypeError(
                    "set_allocator: allocator must have the methods allocate and deallocate (got "
                    f"{allocator!r}, without {method}). Wrap it in an object that has them."
                )
        held = hold_python_object(allocator)
    _allocators.set(-1 if device_id is None else device_id, held)


def copy_pointers(uintptr_t to, uintptr_t from_, size_t nbytes, Stream stream) -> None:
    """Queue a copy between two addresses, each on the host or a device.

    Whoever asks for it keeps both in place until the stream has come past it.
    """
    copy(<void*>to, <const void*>from_, nbytes, stream)


def preallocate(size_t nbytes, int device_id) -> None:
    """Take memory from a device, and keep it for later."""
    cdef Stream stream = Stream(device_id)
    allocate(stream, nbytes)
    # Only what has come back serves other streams.
    stream.synchronize()


def preallocate_host(size_t nbytes) -> None:
    """Make a page-locked block of the host, and keep it for later."""
    allocate_host(nbytes)


cdef shared_ptr[void] allocate(Stream stream, size_t bytes) except *:
    """Give memory for use in the order of a stream. An empty block has an address, too."""
    cdef cydriver.CUresult status
    cdef shared_ptr[void] result
    cdef Block* block = new_block(stream.state, bytes)
    if block is NULL:
        raise MemoryError()
    enter_device(stream.device_id)
    try:
        try:
            with nogil:
                status = _obtain(block)
            if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY:
                raise OutOfDeviceMemoryError(
                    _text_of_shortage(block), status="CUDA_ERROR_OUT_OF_MEMORY"
                ) from _allocator_error(block)
            check_device(status, b"allocating memory", stream.device_id)
        except BaseException:
            del block
            raise
        result = share_block(block, _close_block)
        if not result:
            raise MemoryError()
        return result
    finally:
        leave_device()


cdef shared_ptr[void] allocate_anywhere(
    const shared_ptr[StreamState]& stream, size_t bytes, cydriver.CUresult* status, string* failure
) noexcept nogil:
    cdef shared_ptr[void] result
    cdef Block* block = new_block(stream, bytes)
    cdef DeviceState* device = stream.get().device.get()
    status[0] = enter_state(device)
    if status[0] != cydriver.CUDA_SUCCESS:
        _describe(block, device, status[0], failure)
        del block
        return result
    status[0] = cydriver.CUDA_ERROR_OUT_OF_MEMORY if block is NULL else _obtain(block)
    if status[0] != cydriver.CUDA_SUCCESS:
        _describe(block, device, status[0], failure)
        del block
    else:
        result = share_block(block, _close_block)
        if not result:
            status[0] = cydriver.CUDA_ERROR_OUT_OF_MEMORY
            _describe(NULL, device, status[0], failure)
    leave_state()
    return result


cdef shared_ptr[void] borrow(Stream stream, void* pointer, object lender) except *:
    """Treat somebody else's memory as a block, which does not count as used here.

    When it is let go of, the stream waits for all others that use it, and `lender.deallocate` is
    called as that of an allocator is.
    """
    cdef shared_ptr[void] result
    cdef Block* block = new_block(stream.state, 0)
    if block is NULL:
        raise MemoryError()
    block.pointer = <cydriver.CUdeviceptr>pointer
    block.allocator = hold_python_object(lender)
    result = share_block(block, _close_block)
    if not result:
        raise MemoryError()
    return result


cdef int note_use(const shared_ptr[void]& block, cydriver.CUstream consumer) except -1:
    """Say that a stream uses a block, if it is one of ours. It then frees behind that stream."""
    cdef Block* known = block_of(block)
    consumer = plain_stream(consumer)
    if known is not NULL and known.stream.get().stream != consumer:
        known.add_consumer(consumer)
    return 0


cdef int copy(void* to, const void* from_, size_t bytes, Stream stream) except -1:
    """Queue a copy in any direction."""
    cdef cydriver.CUresult status
    if bytes == 0:
        return 0
    enter_device(stream.device_id)
    try:
        with nogil:
            status = cydriver.cuMemcpyAsync(
                <cydriver.CUdeviceptr>to, <cydriver.CUdeviceptr>from_, bytes, stream.stream
            )
        check_device(status, b"queueing a copy", stream.device_id)
    finally:
        leave_device()
    return 0


cdef shared_ptr[void] allocate_host(size_t bytes) except *:
    """Give page-locked memory of the host, which devices copy from and to by themselves."""
    cdef shared_ptr[engine.BufferPool] pool = host_pool()
    cdef shared_ptr[void] block
    cdef int status
    _host_source.last_status.exchange(cydriver.CUDA_SUCCESS)
    try:
        with nogil:
            block = pool.get().allocate(bytes)
    except MemoryError as error:
        status = _host_source.last_status.load()
        if status not in (cydriver.CUDA_SUCCESS, cydriver.CUDA_ERROR_OUT_OF_MEMORY):
            check_device(
                <cydriver.CUresult>status, b"allocating page-locked memory",
                _host_source.device().number,
            )
        raise OutOfDeviceMemoryError(
            f"CUDA: the host must have {bytes} bytes of page-locked memory left (got "
            f"{pool.get().used_bytes()} in use here, {pool.get().idle_bytes()} idle). Use smaller "
            "batches or a smaller prefetch_queue_depth.",
            status="CUDA_ERROR_OUT_OF_MEMORY",
        ) from error
    return block


cdef shared_ptr[engine.BufferPool] host_pool() except *:
    """Give the pool of page-locked memory, one for the process, which any thread may use."""
    global _host_pool, _host_source
    cdef engine.BlockSource source
    use_driver()
    if not _host_pool:
        with _lock:
            if not _host_pool:
                # In the context of a device that is in use, rather than that of one more.
                devices = states_in_use() or (0,)
                _host_source = new HostSource(device_state(devices[0]))
                source.allocate = _allocate_host_block
                source.free = _free_host_block
                source.context = _host_source
                _host_pool = engine.BufferPool.create(source)
                atexit.register(_close_host_pool)
    return _host_pool


def _close_host_pool() -> None:
    global _host_pool
    if _host_pool:
        with nogil:
            _host_pool.get().trim()
            _host_pool.reset()
            # What is left belongs to blocks that somebody holds; the last of them frees it.
            if not _host_source.device().is_inherited():
                _host_source.close()


cdef void* _allocate_host_block(void* context, size_t bytes) noexcept nogil:
    cdef HostSource* source = <HostSource*>context
    cdef void* block = NULL
    cdef cydriver.CUresult status = enter_state(source.device())
    if status == cydriver.CUDA_SUCCESS:
        status = cydriver.cuMemHostAlloc(&block, bytes, cydriver.CU_MEMHOSTALLOC_PORTABLE)
        leave_state()
    if status != cydriver.CUDA_SUCCESS:
        source.last_status.exchange(status)
        return NULL
    source.add()
    return block


cdef void _free_host_block(void* context, void* block) noexcept nogil:
    cdef HostSource* source = <HostSource*>context
    cdef bint is_entered = enter_state(source.device()) == cydriver.CUDA_SUCCESS
    cydriver.cuMemFreeHost(block)
    if is_entered:
        leave_state()
    source.remove()


cdef cydriver.CUresult _obtain(Block* block) noexcept nogil:
    """Get memory for a block; if there is none left, take back what is idle or on its way back."""
    cdef DeviceState* device = block.device()
    cdef cydriver.CUresult status
    block.allocator = _allocators.get(device.number)
    if not block.allocator:
        status = device.find_pool_once(_find_pool)
        if status != cydriver.CUDA_SUCCESS:
            return status
    _free_what_is_done(device, False)
    status = _ask(block)
    if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY and _trim(device) == cydriver.CUDA_SUCCESS:
        status = _ask(block)
    if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY:
        _wait_for_frees(device)
        if _trim(device) == cydriver.CUDA_SUCCESS:
            status = _ask(block)
    if status == cydriver.CUDA_SUCCESS:
        device.add_use(<int64_t>block.bytes)
    return status


cdef cydriver.CUresult _ask(Block* block) noexcept nogil:
    cdef DeviceState* device = block.device()
    cdef size_t bytes = block.bytes if block.bytes else 1
    if block.allocator:
        return _ask_allocator(block, bytes)
    block.is_from_pool = device.pool is not NULL
    if block.is_from_pool:
        return cydriver.cuMemAllocFromPoolAsync(
            &block.pointer, bytes, device.pool, block.stream.get().stream
        )
    return cydriver.cuMemAlloc(&block.pointer, bytes)


cdef void _close_block(Block* block) noexcept nogil:
    """Give a block back behind everything that uses it."""
    cdef DeviceState* device = block.device()
    cdef bint is_entered
    if device.is_inherited():
        # The memory, the locks and the streams are the parent's.
        return
    device.add_use(-<int64_t>block.bytes)
    # Errors have nobody to go to: the driver may have shut down already.
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
        if cydriver.cuEventRecord(event, block.consumers[i]) != cydriver.CUDA_SUCCESS or (
            cydriver.cuStreamWaitEvent(block.stream.get().stream, event, 0)
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


cdef void _free_what_is_done(DeviceState* device, bint wait) noexcept nogil:
    """Free the blocks whose streams have come past them; or wait for these first."""
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
    """Wait for the streams in which memory is on its way back, and for no others."""
    cdef vector[shared_ptr[StreamState]] streams = device.streams_in_use()
    cdef size_t i
    for i in range(streams.size()):
        streams[i].get().has_pending_frees.exchange(False)
        cydriver.cuStreamSynchronize(streams[i].get().stream)
    _free_what_is_done(device, True)


cdef cydriver.CUresult _trim(DeviceState* device) noexcept nogil:
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


cdef uint64_t _pool_attribute(
    DeviceState* device, cydriver.CUmemPool_attribute attribute, int number
) except? 0:
    cdef uint64_t value = 0
    check_device(
        cydriver.cuMemPoolGetAttribute(device.pool, attribute, &value), b"asking a memory pool",
        number,
    )
    return value


cdef object _allocator_error(Block* block):
    """Give the error that a user's allocator raised, if it did."""
    return <object>block.error.get() if block.error else None


cdef cydriver.CUresult _ask_allocator(Block* block, size_t bytes) noexcept with gil:
    cdef uintptr_t pointer = 0
    try:
        pointer = (<object>block.allocator.get()).allocate(
            bytes, <uintptr_t>block.stream.get().stream
        )
    except Exception as error:
        # It becomes the cause of the error about the shortage.
        block.error = hold_python_object(error)
    block.pointer = pointer
    return cydriver.CUDA_SUCCESS if pointer else cydriver.CUDA_ERROR_OUT_OF_MEMORY


cdef void _return_to_allocator(Block* block) noexcept nogil:
    # At the very end of the program there is nobody to give it to.
    if Py_IsInitialized():
        _call_deallocate(block)


cdef void _call_deallocate(Block* block) noexcept with gil:
    # Memory also goes while an exception is on its way through this thread.
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* traceback
    PyErr_Fetch(&kind, &value, &traceback)
    _deallocate(block)
    PyErr_Restore(kind, value, traceback)


cdef void _deallocate(Block* block) noexcept:
    # An error here cannot reach anybody's code; Python prints it.
    (<object>block.allocator.get()).deallocate(
        block.pointer, block.bytes if block.bytes else 1, <uintptr_t>block.stream.get().stream
    )


cdef str _text_of_shortage(Block* block):
    cdef DeviceState* device = block.device()
    cdef size_t free_bytes = 0
    cdef size_t total_bytes = 0
    got = f"{device.used_bytes.load()} bytes in use here"
    if cydriver.cuMemGetInfo(&free_bytes, &total_bytes) == cydriver.CUDA_SUCCESS:
        got += f", {free_bytes} of {total_bytes} bytes free on the device"
    if block.allocator:
        got += f"; the allocator says: {_allocator_error(block)!r}"
    return (
        f"CUDA device {device.number}: {block.bytes} bytes of memory must be left (got {got}). Use "
        "smaller batches or a smaller prefetch_queue_depth, or leave more of the device to this "
        "process."
    )


cdef void _describe(
    Block* block, DeviceState* device, cydriver.CUresult status, string* failure
) noexcept with gil:
    """Put the text of the error into `failure`."""
    cdef str text = ""
    if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY and block is not NULL:
        text = _text_of_shortage(block)
    else:
        try:
            check_device(status, b"allocating memory", device.number)
        except CudaError as error:
            text = str(error)
    failure[0] = text.encode()
