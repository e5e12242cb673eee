"""Turns a graph into stages: sample programs for native threads, steps in Python, device programs.

Nodes that no output needs are dropped. A sample program holds all native operators of one depth, so
between reading a file and the batch buffer there is no barrier; a step in Python needs the whole
batch, ends one program and starts the next, and so does a device program, which holds all operators
of one depth that run on a device.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dali_core._graph.branches import find_joined
from dali_core._graph.fusion import find_chains, find_device_chains
from dali_core._graph.node import DataNode, OperatorNode
from dali_core.errors import title_of


@dataclass
class PlannedNode:
    """A node with the numbers of the values that it reads and writes.

    `guards` are pairs of a value and what it must say so that the node runs for a sample;
    `releases` lists the values that nobody needs after it.
    """

    node: OperatorNode
    inputs: list[int]
    arguments: list[int]
    outputs: list[int]
    guards: list[tuple[int, bool]] = field(default_factory=list)
    releases: list[int] = field(default_factory=list)

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

    `chains` are the ranges of nodes that run as one.
    """

    nodes: list[PlannedNode]
    kind: StageKind
    chains: list[range] = field(default_factory=list)


@dataclass
class ExecutionPlan:
    """Stages in their order, and the values that the pipeline gives out.

    `joined_outputs` lists for each output the values of branches that become it, each for other
    samples, and that nothing else reads. `outputs_on_device` lists the positions of those that are
    on a device.
    """

    stages: list[PlannedStage]
    outputs: list[int]
    num_values: int
    joined_outputs: list[list[int]] = field(default_factory=list)
    outputs_on_device: list[int] = field(default_factory=list)

    def describe(self) -> str:
        """List stages, the groups that run as one, and operators, one line each."""
        lines = []
        for number, stage in enumerate(self.stages):
            lines.append(f"stage {number}: {stage.kind.value}")
            for position, planned in enumerate(stage.nodes):
                chain = next((chain for chain in stage.chains if position in chain), None)
                if chain is not None and position == chain.start:
                    lines.append("  fused:")
                indent = "    " if chain is not None else "  "
                lines.append(f"{indent}{_described(planned.node)}")
        return "\n".join(lines)


def make_plan(
    outputs: Sequence[DataNode], nodes: Iterable[OperatorNode] = (), *, optimize: bool = True
) -> ExecutionPlan:
    """Plan how to compute some values.

    Parameters
    ----------
    outputs : sequence of DataNode
        The values wanted.
    nodes : iterable of OperatorNode
        All operators of the pipeline; those with ``preserve=True`` are kept in any case.
    optimize : bool
        Whether to run chains of image operators, and expressions, as one.

    Returns
    -------
    ExecutionPlan
        The stages.
    """
    nodes = list(nodes)
    kept = _kept(nodes)
    live = live_nodes(outputs, nodes)
    values = {
        value: number
        for number, value in enumerate(value for node in live for value in node.outputs)
    }
    planned = [
        PlannedNode(
            node,
            [values[value] for value in node.inputs],
            [values[value] for value in node.tensor_arguments.values()],
            [values[value] for value in node.outputs],
            [(values[condition.predicate], condition.wanted) for condition in node.conditions],
        )
        for node in live
    ]
    stages = _stages(planned)
    if optimize:
        preserved = [value for node in kept for value in node.outputs]
        for stage in stages:
            here = {entry.node for entry in stage.nodes}
            elsewhere = [value for node in live if node not in here for value in node.dependencies]
            _fuse(stage, keep=[*outputs, *preserved, *elsewhere])
    results = [values[value] for value in outputs]
    _release_early(stages, keep=set(results))
    joined = [[values[value] for value in find_joined(output, live, outputs)] for output in outputs]
    on_device = [i for i, output in enumerate(outputs) if output.device == "gpu"]
    return ExecutionPlan(stages, results, len(values), joined, on_device)


def _described(node: OperatorNode) -> str:
    text = f"{title_of(node.operator)} ({node.name})"
    if node.conditions:
        text += f" if {' and '.join(map(str, node.conditions))}"
    return text


def live_nodes(outputs: Sequence[DataNode], nodes: Iterable[OperatorNode]) -> list[OperatorNode]:
    """List what must run for some outputs, in the order of the calls.

    Parameters
    ----------
    outputs : sequence of DataNode
        The values wanted.
    nodes : iterable of OperatorNode
        All operators of the pipeline; those with ``preserve=True`` run in any case.
    """
    found: set[OperatorNode] = set()
    waiting = [*(value.source for value in outputs), *_kept(nodes)]
    while waiting:
        node = waiting.pop()
        found.add(node)
        waiting += [value.source for value in node.dependencies if value.source not in found]
    return sorted(found, key=lambda node: node.index)


def _kept(nodes: Iterable[OperatorNode]) -> list[OperatorNode]:
    return [node for node in nodes if node.arguments.get("preserve")]


def _kind(node: OperatorNode) -> StageKind:
    if node.spec.python_step is not None:
        return StageKind.PYTHON
    return StageKind.DEVICE if node.device == "gpu" else StageKind.SAMPLES


def _stages(planned: Sequence[PlannedNode]) -> list[PlannedStage]:
    kinds = {entry.node: _kind(entry.node) for entry in planned}
    # A step without inputs decides how many samples the batch has: it runs before everything else.
    sets_size = any(
        kind is StageKind.PYTHON and not node.dependencies for node, kind in kinds.items()
    )
    depths: dict[OperatorNode, int] = {}
    for entry in planned:
        node, kind = entry.node, kinds[entry.node]
        depth = int(sets_size and kind is not StageKind.PYTHON)
        reads_batch = kind is StageKind.SAMPLES and node.spec.reads_batch
        for value in node.dependencies:
            source = value.source
            # At one depth, what is on a device comes last, and so sees all that the host has done.
            needs_barrier = kind is not StageKind.DEVICE and (
                kind is StageKind.PYTHON or kind is not kinds[source] or reads_batch
            )
            needs_barrier |= source.spec.role == "to host"
            depth = max(depth, depths[source] + int(needs_barrier))
        depths[node] = depth
    stages = []
    for depth in range(max(depths.values(), default=-1) + 1):
        here = [entry for entry in planned if depths[entry.node] == depth]
        for kind in (StageKind.PYTHON, StageKind.SAMPLES, StageKind.DEVICE):
            nodes = [entry for entry in here if kinds[entry.node] is kind]
            if kind is StageKind.PYTHON:
                stages += [PlannedStage([entry], kind) for entry in nodes]
            elif nodes:
                stages.append(PlannedStage(nodes, kind))
    return stages


def _fuse(stage: PlannedStage, keep: Sequence[DataNode]) -> None:
    """Bring the members of each chain together, to where the last of them was."""
    if stage.kind is StageKind.PYTHON:
        return
    find = find_chains if stage.kind is StageKind.SAMPLES else find_device_chains
    chains = find([entry.node for entry in stage.nodes], keep)
    chain_of = {node: chain for chain in chains for node in chain}
    planned = {entry.node: entry for entry in stage.nodes}
    nodes: list[PlannedNode] = []
    for entry in stage.nodes:
        chain = chain_of.get(entry.node)
        if chain is None:
            nodes.append(entry)
        elif entry.node is chain[-1]:
            stage.chains.append(range(len(nodes), len(nodes) + len(chain)))
            nodes += [planned[node] for node in chain]
    stage.nodes = nodes


def _release_early(stages: Sequence[PlannedStage], keep: set[int]) -> None:
    """Note for each value the last node that touches it.

    What a node reads of all samples stays: other samples may need it after one is done.
    """
    last: dict[int, PlannedNode] = {}
    keep = set(keep)
    for stage in stages:
        for entry in stage.nodes:
            if entry.node.spec.reads_batch:
                keep.update(entry.inputs)
            guards = [value for value, _ in entry.guards]
            if entry.reads_group:
                keep.update(guards)
            for value in (*entry.inputs, *entry.arguments, *entry.outputs, *guards):
                last[value] = entry
    for value, entry in last.items():
        if value not in keep:
            entry.releases.append(value)
