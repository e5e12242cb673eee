from libcpp.memory cimport shared_ptr

from dali_core._runtime cimport engine


cdef class DeviceOperator:
    cdef shared_ptr[const engine.DeviceOperator] op


cdef class DeviceProgram:
    cdef shared_ptr[engine.DeviceProgram] program
