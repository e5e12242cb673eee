# cython: annotation_typing=False
"""Memory of devices, in the order of streams, and pinned memory of the host.

A block is owned by reference count. Releasing the last reference, in any thread, queues its return
in the stream that it was allocated for, after the work of all streams that were recorded for it.
"""

import threading

from cuda.bindings cimport cydriver
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string

from dali_core._cuda.device_state cimport DeviceState, StreamState
from dali_core._cuda.driver cimport (
    check_device, device_state, enter_device, enter_state, leave_device, leave_state,
    states_in_use, use_driver,
)
from dali_core._cuda.memory_block cimport (
    Block, allocator_error, allocators, block_of, close_block, free_what_is_done, new_block, obtain,
    share_block, text_of_shortage, trim,
)
from dali_core._cuda.stream cimport Stream
from dali_core._runtime cimport engine
from dali_core._runtime.finalizer import Finalizer
from dali_core.errors import ArgumentTypeError, CudaError, OutOfDeviceMemoryError

cdef extern from "python_memory.hpp" namespace "dali_core":
    shared_ptr[void] hold_python_object(object owner)

cdef extern from "memory_block.hpp" namespace "dali_core" nogil:
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

cdef object _lock = threading.Lock()
cdef HostSource* _host_source = NULL
cdef shared_ptr[engine.BufferPool] _host_pool


cdef class Buffer:
    """A piece of a device's memory, for programs in Python.

    Parameters
    ----------
    stream : Stream
        In whose order it may be used, and is freed after its last reference is released.
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

    def record_stream(self, Stream stream not None) -> None:
        """Record a use by another stream: the memory is released once that has completed."""
        record_stream(self.block, stream)


def memory_stats(int device_id) -> dict[str, int]:
    """Return how much memory is in use.

    Returns
    -------
    dict of str to int
        ``used_bytes`` and ``used_high_bytes``: in the hands of tensors and operators, now and at
        most so far. ``reserved_bytes`` and ``reserved_high_bytes``: taken from the device, used or
        not. ``host_used_bytes`` and ``host_idle_bytes``: pinned memory of the host, for all
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
    """Return unused memory: to the devices, and pinned memory to the system.

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
                free_what_is_done(state.get(), False)
                status = trim(state.get())
            check_device(status, b"returning unused memory", device)
        finally:
            leave_device()
    cdef shared_ptr[engine.BufferPool] pool = _host_pool
    if pool:
        with nogil:
            pool.get().trim()


def set_allocator(allocator: Any, device_id: int | None = None) -> None:
    """Take memory of devices from an external allocator from now on.

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
    allocators().set(-1 if device_id is None else device_id, held)


def copy_pointers(uintptr_t to, uintptr_t from_, size_t nbytes, Stream stream) -> None:
    """Queue a copy between two addresses, each on the host or a device.

    The caller keeps both in place until the stream has completed it.
    """
    copy(<void*>to, <const void*>from_, nbytes, stream)


def retain_default_pool(int device_id) -> None:
    """Let the device's default pool keep memory that other libraries release there.

    By default it returns that to the device whenever the host waits, and takes it again for the
    next batch. The pool is restored when the interpreter has ended and the device is unused.
    Nothing happens if memory comes from an external allocator, with which it is to be shared.
    """
    cdef shared_ptr[DeviceState] state = device_state(device_id)
    cdef cydriver.CUmemoryPool pool = NULL
    cdef uint64_t everything = 0xFFFFFFFFFFFFFFFF
    cdef cydriver.CUresult status
    cdef shared_ptr[void] allocator = allocators().get(device_id)
    if allocator or state.get().retained_pool is not NULL:
        return
    with _lock:
        status = cydriver.cuDeviceGetDefaultMemPool(&pool, device_id)
        if status == cydriver.CUDA_ERROR_NOT_SUPPORTED:
            return
        check_device(status, b"looking up its default memory pool", device_id)
        check_device(
            cydriver.cuMemPoolGetAttribute(
                pool, cydriver.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &state.get().threshold_before
            ),
            b"asking a memory pool", device_id,
        )
        check_device(
            cydriver.cuMemPoolSetAttribute(
                pool, cydriver.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything
            ),
            b"setting up a memory pool", device_id,
        )
        state.get().retained_pool = pool


def preallocate(size_t nbytes, int device_id) -> None:
    """Take memory from a device, and keep it for later."""
    cdef Stream stream = Stream(device_id)
    allocate(stream, nbytes)
    # Only what has come back serves other streams.
    stream.synchronize()


def preallocate_host(size_t nbytes) -> None:
    """Make a pinned block of the host, and keep it for later."""
    allocate_host(nbytes)


cdef shared_ptr[void] allocate(Stream stream, size_t bytes) except *:
    """Return memory for use in the order of a stream. An empty block has an address, too."""
    cdef cydriver.CUresult status
    cdef shared_ptr[void] result
    cdef Block* block = new_block(stream.state, bytes)
    if block is NULL:
        raise MemoryError()
    enter_device(stream.device_id)
    try:
        try:
            with nogil:
                status = obtain(block)
            if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY:
                raise OutOfDeviceMemoryError(
                    text_of_shortage(block), status="CUDA_ERROR_OUT_OF_MEMORY"
                ) from allocator_error(block)
            check_device(status, b"allocating memory", stream.device_id)
        except BaseException:
            del block
            raise
        result = share_block(block, close_block)
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
    status[0] = cydriver.CUDA_ERROR_OUT_OF_MEMORY if block is NULL else obtain(block)
    if status[0] != cydriver.CUDA_SUCCESS:
        _describe(block, device, status[0], failure)
        del block
    else:
        result = share_block(block, close_block)
        if not result:
            status[0] = cydriver.CUDA_ERROR_OUT_OF_MEMORY
            _describe(NULL, device, status[0], failure)
    leave_state()
    return result


cdef shared_ptr[void] borrow(Stream stream, void* pointer, object lender) except *:
    """Treat external memory as a block, which does not count as used here.

    When it is released, the stream waits for all others that use it, and `lender.deallocate` is
    called as that of an allocator is.
    """
    cdef shared_ptr[void] result
    cdef Block* block = new_block(stream.state, 0)
    if block is NULL:
        raise MemoryError()
    block.pointer = <cydriver.CUdeviceptr>pointer
    block.allocator = hold_python_object(lender)
    result = share_block(block, close_block)
    if not result:
        raise MemoryError()
    return result


cdef int record_stream(const shared_ptr[void]& block, Stream consumer) except -1:
    """Record that a stream uses a block, if it is one of ours. It then frees behind that stream.

    The stream, or the object that it was wrapped from, lives until then. Of a stream that is known
    by its handle only, that is for its library to guarantee.
    """
    cdef Block* known = block_of(block)
    if known is not NULL:
        known.add_consumer(consumer.state)
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
    """Return pinned memory of the host, which devices copy from and to by themselves."""
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
                <cydriver.CUresult>status, b"allocating pinned memory",
                _host_source.device().number,
            )
        raise OutOfDeviceMemoryError(
            f"CUDA: the host must have {bytes} bytes of pinned memory left (got "
            f"{pool.get().used_bytes()} in use here, {pool.get().idle_bytes()} idle). Use smaller "
            "batches or a smaller prefetch_queue_depth.",
            status="CUDA_ERROR_OUT_OF_MEMORY",
        ) from error
    return block


cdef shared_ptr[engine.BufferPool] host_pool() except *:
    """Return the pool of pinned memory, one for the process, which any thread may use."""
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
                # Finalisers of pipelines, which are newer, go first.
                Finalizer(_lock, _close_host_pool)
    return _host_pool


def _close_host_pool() -> None:
    global _host_pool
    if _host_pool:
        with nogil:
            _host_pool.get().trim()
            _host_pool.reset()
            # The rest belongs to blocks that are still referenced; the last of them frees it.
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


cdef uint64_t _pool_attribute(
    DeviceState* device, cydriver.CUmemPool_attribute attribute, int number
) except? 0:
    cdef uint64_t value = 0
    check_device(
        cydriver.cuMemPoolGetAttribute(device.pool, attribute, &value), b"asking a memory pool",
        number,
    )
    return value


cdef void _describe(
    Block* block, DeviceState* device, cydriver.CUresult status, string* failure
) noexcept with gil:
    """Put the text of the error into `failure`."""
    cdef str text = ""
    if status == cydriver.CUDA_ERROR_OUT_OF_MEMORY and block is not NULL:
        text = text_of_shortage(block)
    else:
        try:
            check_device(status, b"allocating memory", device.number)
        except CudaError as error:
            text = str(error)
    failure[0] = text.encode()
