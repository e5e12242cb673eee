# cython: annotation_typing=False
"""Operators that run on a device, and the programs made of them."""

from libc.stdint cimport int64_t
from libcpp.memory cimport make_shared
from libcpp.vector cimport vector

from dali_core._runtime cimport engine
from dali_core._runtime.executor cimport (
    NativeOperator, make_device_chain, make_device_program,
)

from dali_core._runtime.executor_config import Instruction


def limit_blocks(int64_t blocks = 0) -> None:
    """Change how many blocks the grid of a kernel may have, in this process.

    Results do not depend on it, which tests show with few; measurements find the best number.

    Parameters
    ----------
    blocks : int
        The limit; 0 is as many as usual.

    Raises
    ------
    ValueError
        If it is below 0.
    """
    if blocks < 0:
        raise ValueError(f"blocks must be at least 0 (got {blocks}). Pass 0 for the usual limit.")
    engine.KernelLaunch.limit_blocks(blocks)


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
