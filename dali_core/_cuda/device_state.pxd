# Declarations of device_state.hpp, for the modules of this package.
from cuda.bindings cimport cydriver
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "device_state.hpp" namespace "dali_core" nogil:
    cdef cppclass PendingFree:
        PendingFree()
        cydriver.CUevent event
        cydriver.CUdeviceptr pointer

    cdef cppclass AtomicCount "std::atomic<int64_t>":
        int64_t load()

    cdef cppclass AtomicFlag "std::atomic<bool>":
        cbool load()
        cbool exchange(cbool)

    cdef cppclass AtomicName "std::atomic<const char*>":
        const char* load()

    cdef cppclass DeviceState:
        DeviceState(
            int number, cydriver.CUcontext context, void (*close)(DeviceState*) noexcept nogil
        ) except +
        cbool is_inherited()
        cydriver.CUevent take_event()
        cbool give_event(cydriver.CUevent)
        cbool add_pending_free(PendingFree)
        vector[PendingFree] take_pending_frees()
        vector[shared_ptr[StreamState]] streams_in_use()
        cydriver.CUresult find_pool_once(cydriver.CUresult (*find)(DeviceState*) noexcept nogil)
        void return_all(
            void (*event)(cydriver.CUevent) noexcept nogil,
            void (*module)(cydriver.CUmodule) noexcept nogil,
            void (*block)(cydriver.CUdeviceptr) noexcept nogil,
        )
        void add_use(int64_t bytes)
        cbool note_failure(const string& text) except +
        string known_failure() except +
        cydriver.CUfunction kernel_to_launch(const char* name) except +
        cbool has_kernel(const char* name) except +
        void add_kernel(const string& name, cydriver.CUfunction function) except +
        cydriver.CUmodule find_module(const string& stem) except +
        cbool add_module(const string& stem, cydriver.CUmodule module) except +
        int number
        cydriver.CUcontext context
        AtomicFlag is_broken
        AtomicName last_kernel
        AtomicCount used_bytes
        AtomicCount used_high_bytes
        cydriver.CUmemoryPool pool
        cbool pool_is_own
        cydriver.CUmemoryPool retained_pool
        uint64_t threshold_before

    cdef cppclass StreamState:
        StreamState(
            shared_ptr[DeviceState] device, cydriver.CUstream stream, cbool is_own,
            shared_ptr[void] keep, void (*close)(StreamState*) noexcept nogil
        ) except +
        shared_ptr[DeviceState] device
        cydriver.CUstream stream
        cbool is_own
        AtomicFlag has_pending_frees
