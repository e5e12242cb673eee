# cython: annotation_typing=False
"""Operators that run on a device, and the programs made of them."""

from libcpp.memory cimport make_shared
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport (
    NativeOperator, make_device_chain, make_device_program,
)

from dali_core._runtime.executor_config import Instruction


cdef class DeviceProgram:
    """Operators that run one after the other on a device, each for a whole batch.

    Parameters
    ----------
    instructions : sequence of Instruction
        In their order.
    chains : sequence of range
        Instructions that run as one.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        chains: Sequence[range] = (),
    ):
        cdef engine.DeviceInstruction instruction
        cdef vector[engine.DeviceInstruction] described
        cdef NativeOperator op
        for step in instructions:
            op = <NativeOperator?>step.operator
            instruction.op = op.op
            instruction.node = step.node
            instruction.inputs = step.inputs
            instruction.arguments = step.arguments
            instruction.limits = op.limits
            instruction.outputs = step.outputs
            instruction.releases = step.releases
            instruction.guards = step.guards
            described.push_back(instruction)
        for chain in chains:
            self._join(described, chain.start, chain.stop)
        self.program = make_device_program(described)

    def fusion_counts(self) -> list[tuple[int, int]]:
        """For each chain, count the samples that ran as one, and those that could not."""
        return [(counts.get().fused.load(), counts.get().refused.load())
                for counts in self.chain_counts]

    cdef int _join(
        self, vector[engine.DeviceInstruction]& instructions, size_t first, size_t end
    ) except -1:
        cdef vector[engine.Instruction] members
        cdef engine.Instruction member
        cdef size_t i
        for i in range(first, end):
            member.op = instructions[i].op
            member.inputs = instructions[i].inputs
            member.arguments = instructions[i].arguments
            member.outputs = instructions[i].outputs
            members.push_back(member)
        instructions[first].chain = make_device_chain(members)
        instructions[first].chain_counts = make_shared[engine.FusionCounts]()
        instructions[first].chain_length = <int>members.size()
        self.chain_counts.push_back(instructions[first].chain_counts)
        return 0
