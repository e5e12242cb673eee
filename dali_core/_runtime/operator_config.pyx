# cython: annotation_typing=False
"""Conversion between Python and C++: operators, instructions, runs of readers, failures."""

from libc.stdint cimport int64_t, uint64_t
from libcpp.string cimport string
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.random cimport ListedOrder

from dali_core._messages import printable

cdef extern from "arguments.hpp" namespace "dali_core":
    void set_argument[T](engine.OperatorConfig& config, const string& name, T value) except +


cdef engine.OperatorConfig make_config(
    str name, dict values, object tensor_arguments, uint64_t seed, int reader, int num_inputs,
    int num_outputs
) except *:
    cdef engine.OperatorConfig config
    config.name = name.encode()
    config.seed = seed
    config.reader = reader
    config.num_inputs = num_inputs
    config.num_outputs = num_outputs
    for argument in tensor_arguments:
        config.tensor_arguments.push_back(argument.encode())
    for argument, value in values.items():
        _set_value(config, argument.encode(), value)
    return config


cdef vector[engine.ArgumentLimits] make_limits(object limits) except *:
    cdef vector[engine.ArgumentLimits] made
    cdef engine.ArgumentLimits one
    for limit in limits:
        one.slot = limit.slot
        one.name = limit.name.encode()
        one.least = limit.least
        one.most = limit.most
        one.above = limit.above
        one.rule = limit.rule.encode()
        one.least_length = limit.least_length
        one.most_length = limit.most_length
        one.length_rule = limit.length_rule.encode()
        made.push_back(one)
    return made


cdef int _set_value(engine.OperatorConfig& config, const string& name, object value) except -1:
    if isinstance(value, (list, tuple)):
        if any(isinstance(item, str) for item in value):
            texts = [item.encode(errors="surrogateescape") for item in value]
            set_argument[vector[string]](config, name, texts)
        elif any(isinstance(item, float) for item in value):
            set_argument[vector[double]](config, name, value)
        else:
            set_argument[vector[int64_t]](config, name, [int(item) for item in value])
    elif isinstance(value, str):
        set_argument[string](config, name, value.encode(errors="surrogateescape"))
    elif isinstance(value, float):
        set_argument[double](config, name, value)
    else:
        set_argument[int64_t](config, name, int(value))
    return 0


cdef engine.ReaderRun native_run(object described) except *:
    cdef engine.ReaderRun run
    run.epoch, run.first, run.length, run.step = described.run
    run.is_absent = described.is_absent
    if isinstance(described.order, ListedOrder):
        run.listed_order = (<ListedOrder>described.order).indices
    elif described.order is not None:
        run.order_first, run.order_size, run.order_seed = described.order
    if described.shard is not None:
        run.shard_first, run.shard_size = described.shard.start, len(described.shard)
        run.shard_step = described.shard.step
    return run


cdef engine.Instruction native_instruction(object step, int reader, set read) except *:
    """Describe an instruction, but for its operator; `read` has the values that come of readers."""
    cdef engine.Instruction instruction
    instruction.node = step.node
    instruction.inputs = step.inputs
    instruction.arguments = step.arguments
    instruction.outputs = step.outputs
    instruction.releases = step.releases
    instruction.guards = step.guards
    instruction.reads_group = step.reads_group
    instruction.reader = reader
    conditions = [value for value, _ in step.guards]
    depends = not read.isdisjoint([*step.inputs, *step.arguments, *conditions])
    instruction.from_reader = reader >= 0 or depends
    if instruction.from_reader:
        read.update(step.outputs)
    return instruction


cdef list described(vector[engine.SampleFailure] failures):
    return [
        (failure.sample, failure.node, printable(failure.message.decode(errors="replace")),
         failure.source.decode(errors="surrogateescape"))
        for failure in failures
    ]
