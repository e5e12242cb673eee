from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport Executor


cdef class SampleIds:
    cdef vector[engine.SampleKey] keys
    cdef readonly object step


cdef class CallExecutor:
    cdef Executor executor
    cdef readonly int num_threads
    cdef readonly int num_slots
    cdef int64_t num_started
