from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from dali_core._runtime cimport engine


cdef engine.OperatorConfig make_config(
    str name, dict values, object tensor_arguments, uint64_t seed, int reader, int num_inputs,
    int num_outputs
) except *

cdef vector[engine.ArgumentLimits] make_limits(object limits) except *

# The samples that a `ReaderRun` contributes to a batch.
cdef engine.ReaderRun native_run(object described) except *

# An `Instruction`, but for its operator; `read` has the values that come of readers.
cdef engine.Instruction native_instruction(object step, int reader, set read) except *

# (sample, node, message, source) of failures.
cdef list described(vector[engine.SampleFailure] failures)
