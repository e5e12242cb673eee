from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from dali_core._runtime cimport engine


cdef class DeviceProgram:
    cdef shared_ptr[engine.DeviceProgram] program
    cdef vector[shared_ptr[engine.FusionCounts]] chain_counts

    cdef int _join(
        self, vector[engine.DeviceInstruction]& instructions, size_t first, size_t end
    ) except -1
