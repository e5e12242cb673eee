from libc.stdint cimport int64_t
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector
from posix.types cimport pid_t

from dali_core._runtime cimport engine


cdef shared_ptr[engine.DeviceProgram] make_device_program(
    const vector[engine.DeviceInstruction]& instructions
) except *


cdef shared_ptr[const engine.DeviceChain] make_device_chain(
    const vector[engine.Instruction]& members
) except *


cdef class HostPool:
    cdef shared_ptr[engine.BufferPool] pool


cdef class NativeOperator:
    cdef shared_ptr[const engine.Operator] op
    cdef int reader
    cdef vector[engine.ArgumentLimits] limits


cdef class Batch:
    cdef shared_ptr[engine.Batch] batch


cdef class StepTask:
    cdef engine.StepTask task
    cdef Executor executor
    cdef readonly Batch batch
    cdef bint is_finished
    cdef int64_t number  # of a step that comes again if it is interrupted; else 0
    cdef vector[int] places  # those of its samples in the batch, unless it has all

    cdef bint _is_over(self)
    cdef engine.BufferPool* pool_of(self, size_t value) noexcept nogil


cdef class Executor:
    cdef engine.Executor* executor
    cdef pid_t owner_process
    cdef int num_readers
    cdef frozenset outputs_on_device
    cdef vector[shared_ptr[engine.FusionCounts]] chain_counts
    cdef readonly int64_t iteration
    cdef engine.StepTask unfinished  # a step that comes again, until it has ended
    cdef int64_t num_begun
    cdef unsigned long begun_by

    cdef void _fuse(
        self, engine.Instruction& first, const vector[engine.Instruction]& members, bint is_region
    ) except *
