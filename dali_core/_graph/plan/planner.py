"""Turns a graph into stages: sample programs for native threads, steps in Python, device programs.

Nodes that no output needs are dropped. A sample program holds all native operators of one depth, so
between reading a file and the batch buffer there is no barrier; a step in Python needs the whole
batch, ends one program and starts the next, and so does a device program, which holds all operators
of one depth that run on a device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan.branches import find_joined
from dali_core._graph.plan.execution_plan import ExecutionPlan, PlannedNode, PlannedStage, StageKind
from dali_core._graph.plan.fusion import find_chains, find_device_chains, find_joint
from dali_core._graph.plan.joining import numbers_of_joins
from dali_core._graph.plan.regions import decode_regions


def make_plan(
    outputs: Sequence[DataNode],
    nodes: Iterable[OperatorNode] = (),
    *,
    optimize: bool = True,
    joint: Sequence[Sequence[OperatorNode]] | None = None,
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
    joint : sequence of sequence of OperatorNode, optional
        Operators that give other results as one than one by one; by default those of this plan.

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
    num_joins = numbers_of_joins(live, outputs)
    given = [entry for entry in planned if entry.node.spec.role == "parameter"]
    stages = _stages([entry for entry in planned if entry not in given], num_joins)
    preserved = [value for node in kept for value in node.outputs]
    found: list[list[OperatorNode]] = []
    for stage in stages:
        here = {entry.node for entry in stage.nodes}
        elsewhere = [value for node in live if node not in here for value in node.dependencies]
        keep = [*outputs, *preserved, *elsewhere]
        if joint is None and stage.kind is StageKind.SAMPLES:
            found += find_joint([entry.node for entry in stage.nodes], keep)
        if optimize:
            _fuse(stage, keep)
    if joint is not None:
        found = [list(group) for group in joint]
    _join(stages, found)
    num_values = len(values)
    if optimize:
        needed = {values[value] for value in [*outputs, *preserved]}
        num_values = decode_regions(stages, num_values, needed)
    results = [values[value] for value in outputs]
    # What is given stays for another sample that is tried in the place of a bad one.
    _release_early(stages, keep={*results, *(entry.outputs[0] for entry in given)})
    joined = [[values[value] for value in find_joined(output, live, outputs)] for output in outputs]
    on_device = [i for i, output in enumerate(outputs) if output.device == "gpu"]
    return ExecutionPlan(stages, results, num_values, joined, on_device, given, found)


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


def _stages(
    planned: Sequence[PlannedNode], num_joins: Mapping[OperatorNode, int]
) -> list[PlannedStage]:
    kinds = {entry.node: _kind(entry.node) for entry in planned}
    # A step without inputs decides how many samples the batch has: it runs before everything else.
    sets_size = any(
        kind is StageKind.PYTHON and not node.dependencies for node, kind in kinds.items()
    )
    depths: dict[OperatorNode, int] = {}
    # What joins samples comes behind all that is done with them.
    first_depth, last_joins = 0, 0
    for entry in sorted(planned, key=lambda entry: num_joins[entry.node]):
        node, kind = entry.node, kinds[entry.node]
        if num_joins[node] > last_joins:
            first_depth, last_joins = max(depths.values()) + 1, num_joins[node]
        depth = max(first_depth, int(sets_size and kind is not StageKind.PYTHON))
        reads_batch = kind is StageKind.SAMPLES and node.spec.reads_batch
        for value in node.dependencies:
            source = value.source
            if source not in kinds:  # a parameter, which is there from the start
                depth = max(depth, int(sets_size))
                continue
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
    """Bring the members of each chain together, to where the last of them was.

    What reads another output of a chain's source, and was between them, comes behind the chain.
    """
    if stage.kind is StageKind.PYTHON:
        return
    find = find_chains if stage.kind is StageKind.SAMPLES else find_device_chains
    chains = find([entry.node for entry in stage.nodes], keep)
    chain_of = {node: chain for chain in chains for node in chain}
    planned = {entry.node: entry for entry in stage.nodes}
    missing = {value for node in chain_of for value in node.outputs}
    waiting: list[list[OperatorNode]] = []
    nodes: list[PlannedNode] = []

    def add(group: list[OperatorNode]) -> bool:
        own = {value for node in group for value in node.outputs}
        needed = {value for node in group for value in node.dependencies}
        if not missing.isdisjoint(needed - own):
            missing.update(own)
            return False
        missing.difference_update(own)
        if len(group) > 1:
            stage.chains.append(range(len(nodes), len(nodes) + len(group)))
        nodes.extend(planned[node] for node in group)
        return True

    for entry in stage.nodes:
        chain = chain_of.get(entry.node)
        if chain is not None and entry.node is not chain[-1]:
            continue
        waiting.append(chain or [entry.node])
        before = -1
        while len(waiting) != before:
            before = len(waiting)
            waiting = [group for group in waiting if not add(group)]
    stage.nodes = nodes


def _join(stages: Sequence[PlannedStage], joint: Sequence[Sequence[OperatorNode]]) -> None:
    """Note with the last operator of each group, where all of them are, what makes its output."""
    for stage in stages:
        planned = {entry.node: entry for entry in stage.nodes}
        for group in joint:
            if all(node in planned for node in group):
                planned[group[-1]].joint = [planned[node] for node in group]


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
            again = [v for member in entry.joint for v in (*member.inputs, *member.arguments)]
            for value in (*entry.inputs, *entry.arguments, *entry.outputs, *guards, *again):
                last[value] = entry
    for value, entry in last.items():
        if value not in keep:
            entry.releases.append(value)
