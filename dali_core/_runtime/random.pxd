from libc.stdint cimport int64_t
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector


cdef class ListedOrder:
    cdef shared_ptr[const vector[int64_t]] indices
