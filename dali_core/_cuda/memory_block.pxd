from cuda.bindings cimport cydriver
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from dali_core._cuda.device_state cimport DeviceState, StreamState

cdef extern from "memory_block.hpp" namespace "dali_core" nogil:
    cdef cppclass Block:
        DeviceState* device()
        void add_consumer(const shared_ptr[StreamState]&) except +
        shared_ptr[StreamState] stream
        size_t bytes
        cydriver.CUdeviceptr pointer
        cbool is_from_pool
        shared_ptr[void] allocator
        shared_ptr[void] error
        vector[shared_ptr[StreamState]] consumers

    Block* new_block(const shared_ptr[StreamState]& stream, size_t bytes)
    shared_ptr[void] share_block(Block* block, void (*close)(Block*) noexcept nogil)
    Block* block_of(const shared_ptr[void]& memory)

    cdef cppclass Allocators:
        void set(int device, shared_ptr[void] allocator) except +
        shared_ptr[void] get(int device)


# Users' allocators; written with the GIL.
cdef Allocators* allocators() noexcept nogil
# For any thread, without the GIL, in the device's context.
cdef cydriver.CUresult obtain(Block* block) noexcept nogil
cdef void close_block(Block* block) noexcept nogil
cdef void free_what_is_done(DeviceState* device, bint wait) noexcept nogil
cdef cydriver.CUresult trim(DeviceState* device) noexcept nogil
# With the GIL.
cdef object allocator_error(Block* block)
cdef str text_of_shortage(Block* block)
