from cuda.bindings cimport cydriver
from libcpp.memory cimport shared_ptr

cdef extern from "device.hpp" namespace "dali_core" nogil:
    cdef cppclass StreamState:
        pass


cdef class Stream:
    cdef object __weakref__
    cdef shared_ptr[StreamState] state
    cdef cydriver.CUstream stream
    cdef readonly int device_id
    cdef readonly int priority


cdef class Event:
    cdef object __weakref__
    cdef cydriver.CUevent event
    cdef readonly int device_id
    cdef int record(self, Stream stream) except -1
