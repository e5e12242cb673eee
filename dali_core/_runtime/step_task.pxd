from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport Batch, Executor


cdef class StepTask:
    cdef engine.StepTask task
    cdef Executor executor
    cdef readonly Batch batch
    cdef bint is_finished
    cdef int64_t number  # of a step that comes again if it is interrupted; else 0
    cdef vector[int] places  # those of its samples in the batch, unless it has all
    cdef bint joins  # whether rows become the samples of the batch
    cdef vector[int] first_samples  # of each row

    cdef bint _is_over(self)
    cdef engine.BufferPool* pool_of(self, size_t value) noexcept nogil
