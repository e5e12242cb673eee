"""Execution plans: stages, and the operators in them."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from dali_core._graph.node import OperatorNode
from dali_core._messages import printable
from dali_core.errors import title_of


@dataclass
class PlannedNode:
    """A node with the numbers of the values that it reads and writes.

    `guards` are pairs of a value and what it must say so that the node runs for a sample;
    `releases` lists the values with no later reader. `joint` are nodes before it, and itself, that
    make its output as one where they can, independently of all other fusion.
    """

    node: OperatorNode
    inputs: list[int]
    arguments: list[int]
    outputs: list[int]
    guards: list[tuple[int, bool]] = field(default_factory=list)
    releases: list[int] = field(default_factory=list)
    joint: list[PlannedNode] = field(default_factory=list)

    @property
    def reads_group(self) -> bool:
        """Whether the samples that pass the guards are a batch of their own."""
        return bool(self.guards) and self.node.spec.reads_batch


class StageKind(enum.Enum):
    """What runs a stage."""

    SAMPLES = "sample program"
    PYTHON = "Python step"
    DEVICE = "device program"


@dataclass
class PlannedStage:
    """Nodes that run without a barrier between them; a single one if it runs in Python.

    `chains` are the ranges of nodes that run as one; of those in `regions`, a decoder makes as much
    as a chain on the device needs, which has the other nodes once more.
    """

    nodes: list[PlannedNode]
    kind: StageKind
    chains: list[range] = field(default_factory=list)
    regions: list[range] = field(default_factory=list)

    def positions(self, members: list[PlannedNode]) -> list[int]:
        """Return where some of the nodes are."""
        wanted = {id(member) for member in members}
        return [i for i, entry in enumerate(self.nodes) if id(entry) in wanted]


@dataclass
class ExecutionPlan:
    """Stages in their order, and the values that the pipeline returns.

    `joined_outputs` lists for each output the values of branches that become it, each for other
    samples, and that nothing else reads. `outputs_on_device` lists the positions of those that are
    on a device. `parameters` give values that are known when a batch is started. `joint` are the
    operators that give other results as one than one by one.
    """

    stages: list[PlannedStage]
    outputs: list[int]
    num_values: int
    joined_outputs: list[list[int]] = field(default_factory=list)
    outputs_on_device: list[int] = field(default_factory=list)
    parameters: list[PlannedNode] = field(default_factory=list)
    joint: list[list[OperatorNode]] = field(default_factory=list)

    @property
    def used_values(self) -> set[int]:
        """The values that an operator reads, that decide on a branch, or that are returned.

        A plan without outputs keeps all values, to be looked at.
        """
        if not self.outputs:
            return set(range(self.num_values))
        used = {*self.outputs, *(value for values in self.joined_outputs for value in values)}
        for stage in self.stages:
            for entry in stage.nodes:
                guards = (value for value, _ in entry.guards)
                used.update(entry.inputs, entry.arguments, guards)
        return used

    def describe(self) -> str:
        """List stages, the groups that run as one, and operators, one line each."""
        lines = []
        for number, stage in enumerate(self.stages):
            lines.append(f"stage {number}: {stage.kind.value}")
            for position, planned in enumerate(stage.nodes):
                groups = [*stage.chains, *stage.regions]
                chain = next((chain for chain in groups if position in chain), None)
                if chain is not None and position == chain.start:
                    on_device = chain in stage.regions
                    lines.append("  fused, for the device:" if on_device else "  fused:")
                indent = "    " if chain is not None else "  "
                lines.append(f"{indent}{_described(planned.node)}")
        return "\n".join(lines)


def _described(node: OperatorNode) -> str:
    text = f"{title_of(node.operator)} ({node.name})"
    if node.conditions:
        text += f" if {' and '.join(map(str, node.conditions))}"
    return printable(text)
