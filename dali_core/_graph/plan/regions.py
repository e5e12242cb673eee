"""Restricts decoders on the host to the region of an image that a chain on the device needs.

The chain's operators, which say what they do to an image's geometry without looking at it, join
the decoder in a group of the host. It gives the region, which is all that is copied to the device,
and its position, with which the chain on the device continues.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from dali_core._graph.plan.execution_plan import PlannedNode, PlannedStage, StageKind
from dali_core._runtime.native_code import chain_role

_ROLES = {"window", "resample", "finish"}


def decode_regions(stages: Sequence[PlannedStage], num_values: int, needed: Set[int]) -> int:
    """Change a plan where a chain on the device is all that follows a decoder on the host.

    Parameters
    ----------
    stages : sequence of PlannedStage
        The stages; their nodes are changed.
    num_values : int
        How many values there are.
    needed : set of int
        Values that must be materialized in any case.

    Returns
    -------
    int
        How many values there are now.
    """
    for stage in stages:
        if stage.kind is not StageKind.DEVICE:
            continue
        for group in _image_chains(stage):
            num_values = _decode_region(stages, stage, group, num_values, needed)
    return num_values


def _image_chains(stage: PlannedStage) -> list[range]:
    """List the chains on images, of which some have one member only."""
    in_chain = {position for chain in stage.chains for position in chain}
    alone = [range(i, i + 1) for i in range(len(stage.nodes)) if i not in in_chain]
    groups = sorted([*stage.chains, *alone], key=lambda group: group.start)
    return [group for group in groups if all(_role(stage.nodes[i]) in _ROLES for i in group)]


def _decode_region(
    stages: Sequence[PlannedStage],
    stage: PlannedStage,
    group: range,
    num_values: int,
    needed: Set[int],
) -> int:
    members = stage.nodes[group.start : group.stop]
    found = _find_decoder(stages, members[0], needed)
    if found is None:
        return num_values
    host, decoder, move = found
    guards = members[0].guards
    known = _values_before(stages, host)
    arguments = {value for member in members for value in member.arguments}
    if any(entry.guards != guards for entry in (decoder, move)) or not arguments <= known:
        return num_values
    # The decoder goes to the end of its stage, behind what makes the arguments.
    _take_out(host, decoder)
    start = len(host.nodes)
    host.nodes.append(decoder)
    (value,) = decoder.outputs
    for member in members:
        inputs, value = [value], num_values
        num_values += 1
        host.nodes.append(replace(member, inputs=inputs, outputs=[value], releases=[]))
    note = num_values
    host.nodes[-1].outputs.append(note)
    host.regions.append(range(start, len(host.nodes)))
    move.inputs = [value]
    members[0].inputs = [*members[0].inputs, note]
    if group not in stage.chains:
        stage.chains.append(group)
    return num_values + 1


def _find_decoder(
    stages: Sequence[PlannedStage], first: PlannedNode, needed: Set[int]
) -> tuple[PlannedStage, PlannedNode, PlannedNode] | None:
    """Find the decoder whose images a chain takes, its stage, and the move between them."""
    if len(first.inputs) != 1:
        return None
    move = _only_maker(stages, first.inputs[0], needed)
    if move is None or move[1].node.spec.role != "to device":
        return None
    decoder = _only_maker(stages, move[1].inputs[0], needed)
    if decoder is None or decoder[0].kind is not StageKind.SAMPLES or _role(decoder[1]) != "source":
        return None
    return decoder[0], decoder[1], move[1]


def _only_maker(
    stages: Sequence[PlannedStage], value: int, needed: Set[int]
) -> tuple[PlannedStage, PlannedNode] | None:
    """Find what makes a value, and nothing else, if one operator reads it."""
    entries = [(stage, entry) for stage in stages for entry in stage.nodes]
    uses = sum(
        [*entry.inputs, *entry.arguments, *(guard for guard, _ in entry.guards)].count(value)
        for _, entry in entries
    )
    if uses != 1 or value in needed:
        return None
    return next((made for made in entries if made[1].outputs == [value]), None)


def _values_before(stages: Sequence[PlannedStage], last: PlannedStage) -> set[int]:
    """List what there is once a stage has been run."""
    position = next(i for i, stage in enumerate(stages) if stage is last)
    return {
        value
        for stage in stages[: position + 1]
        for entry in stage.nodes
        for value in entry.outputs
    }


def _take_out(stage: PlannedStage, entry: PlannedNode) -> None:
    position = next(i for i, other in enumerate(stage.nodes) if other is entry)
    del stage.nodes[position]

    def shifted(group: range) -> range:
        return range(group.start - 1, group.stop - 1) if group.start > position else group

    stage.chains = [shifted(group) for group in stage.chains]
    stage.regions = [shifted(group) for group in stage.regions]


def _role(entry: PlannedNode) -> str:
    return chain_role(entry.node.native_name)
