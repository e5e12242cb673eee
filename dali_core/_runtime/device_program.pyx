# cython: annotation_typing=False
"""Operators that run on a device, and the programs made of them."""

from libc.stdint cimport uint64_t
from libcpp.memory cimport make_shared
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport (
    NativeOperator, make_device_chain, make_device_operator, make_device_program,
)
from dali_core._runtime.operator_config cimport make_config, make_limits


cdef class DeviceOperator:
    """An operator's code for devices, built from checked arguments.

    Parameters
    ----------
    name : str
        Name under which the code is registered.
    values : dict
        Constant arguments: int, float, str, or lists of one of these.
    tensor_arguments : sequence of str
        Names of the arguments that come with each sample, in the order of the instruction.
    seed : int
        Unsigned 64-bit seed of the operator.
    num_inputs, num_outputs : int
        Numbers of inputs and outputs.
    limits : sequence of (int, str, float, float, bool, str)
        What values of `tensor_arguments` must be: place and name of the argument, the ends of the
        range, whether its start is excluded, and the range in words.

    Raises
    ------
    ValueError, RuntimeError
        If the code refuses the arguments.
    """

    def __init__(self, str name, values: dict[str, Any], tensor_arguments: Sequence[str],
                 uint64_t seed, int num_inputs, int num_outputs,
                 limits: Sequence[tuple[int, str, float, float, bool, str]] = ()):
        self.limits = make_limits(limits)
        self.op = make_device_operator(
            make_config(name, values, tensor_arguments, seed, -1, num_inputs, num_outputs)
        )


cdef class DeviceProgram:
    """Operators that run one after the other on a device, each for a whole batch.

    Parameters
    ----------
    instructions : sequence
        Tuples ``(operator, node, inputs, arguments, outputs, releases, guards)`` of a
        `DeviceOperator`, the number of the node, lists of value ids, and pairs of a value id and
        what that must say so that the operator runs for a sample.
    chains : sequence of (range, sequence of NativeOperator)
        Instructions that run as one, and the operators' native code for the host.
    """

    def __init__(
        self,
        instructions: Sequence[tuple[Any, ...]],
        chains: Sequence[tuple[range, Sequence[NativeOperator]]] = (),
    ):
        cdef engine.DeviceInstruction instruction
        cdef vector[engine.DeviceInstruction] described
        for op, node, inputs, arguments, outputs, releases, guards in instructions:
            instruction.op = (<DeviceOperator?>op).op
            instruction.node = node
            instruction.inputs = inputs
            instruction.arguments = arguments
            instruction.limits = (<DeviceOperator>op).limits
            instruction.outputs = outputs
            instruction.releases = releases
            instruction.guards = guards
            described.push_back(instruction)
        for chain, operators in chains:
            self._join(described, chain.start, operators)
        self.program = make_device_program(described)

    def fusion_counts(self) -> list[tuple[int, int]]:
        """For each chain, count the samples that ran as one, and those that could not."""
        return [(counts.get().fused.load(), counts.get().refused.load())
                for counts in self.chain_counts]

    cdef int _join(
        self, vector[engine.DeviceInstruction]& instructions, size_t first, object operators
    ) except -1:
        cdef vector[engine.Instruction] members
        cdef engine.Instruction member
        cdef size_t i = first
        for operator in operators:
            member.op = (<NativeOperator?>operator).op
            member.inputs = instructions[i].inputs
            member.arguments = instructions[i].arguments
            member.outputs = instructions[i].outputs
            members.push_back(member)
            i += 1
        instructions[first].chain = make_device_chain(members)
        instructions[first].chain_counts = make_shared[engine.FusionCounts]()
        instructions[first].chain_length = <int>members.size()
        self.chain_counts.push_back(instructions[first].chain_counts)
        return 0
