from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from dali_core._runtime cimport engine


cdef engine.OperatorConfig make_config(
    str name, dict values, object tensor_arguments, uint64_t seed, int reader, int num_inputs,
    int num_outputs
) except *

cdef vector[engine.ArgumentLimits] make_limits(object limits) except *
