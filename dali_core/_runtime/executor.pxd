from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector
from posix.types cimport pid_t

from dali_core._runtime cimport engine


cdef shared_ptr[engine.DeviceProgram] make_device_program(
    const vector[engine.DeviceInstruction]& instructions
) except *


cdef shared_ptr[const engine.DeviceChain] make_device_chain(
    const vector[engine.Instruction]& members
) except *


# Operators that have native code, of all or of devices only.
cdef vector[string] native_names(bint on_device) except *
cdef vector[string] load_operators(const string& path, bint share_symbols) except *
cdef string native_abi() except *
cdef int native_role(const string& name) except -1
cdef int native_simd() except -1
cdef bint with_libjpeg() except -1

# Samples of a batch for which each given value says what is wanted.
cdef vector[int] passing(const vector[pair[int, cbool]]& guards, const engine.Batch& batch) except *


cdef class HostPool:
    cdef shared_ptr[engine.BufferPool] pool


cdef class NativeOperator:
    cdef shared_ptr[const engine.Operator] op
    cdef int reader
    cdef vector[engine.ArgumentLimits] limits


cdef class Batch:
    cdef shared_ptr[engine.Batch] batch


cdef class PreparedPlan:
    cdef shared_ptr[engine.PreparedPlan] plan
    cdef vector[shared_ptr[engine.FusionCounts]] chain_counts


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

    cdef int count_active(self) except -1
    cdef int copy_in(
        self, vector[engine.Tensor]& tensors, engine.BufferPool* pool
    ) except -1
    # Waits for a step; returns its number if it comes again after an interrupt, else 0.
    cdef int64_t begin_step(
        self, engine.StepTask* task, double seconds, const engine.Batch* until,
        engine.StepsFor who, bint comes_again
    ) except -1
    cdef int end_step(self, const engine.StepTask& task, int64_t number) except -1
    # A batch of a prepared plan, of as many counters of times as this executor has.
    cdef shared_ptr[engine.Batch] made(self, PreparedPlan plan, int64_t number, int size) except *
    # Starts it, or does all of it in this thread.
    cdef int start(self, Batch batch, bint here) except -1
