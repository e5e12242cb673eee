# Declarations of device_operator.hpp: what a stage asks for on a device.
from libc.stdint cimport int8_t, uint16_t
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector


cdef extern from "dali_core/device_operator.hpp" namespace "dali_core" nogil:
    cdef cppclass DeviceMemory:
        int8_t device()
        shared_ptr[void] allocate(size_t bytes) except +
        shared_ptr[void] allocate_host(size_t bytes) except +

    cdef cppclass KernelLaunch:
        KernelLaunch()
        const char* kernel
        int node
        unsigned int[3] grid
        unsigned int[3] block
        unsigned int shared_bytes
        int num_arguments
        uint16_t[16] offsets
        char[256] bytes

    cdef cppclass MemoryCopy:
        void* to
        const void* from_ "from"
        size_t bytes
        shared_ptr[void] keep

    cdef cppclass DeviceWork:
        DeviceWork()
        vector[MemoryCopy] uploads
        vector[KernelLaunch] launches
        vector[MemoryCopy] downloads
        vector[shared_ptr[void]] scratch
