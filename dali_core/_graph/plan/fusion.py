"""Finds operators that run as one: chains on images, and expressions.

A chain follows the pattern ``source? window* resample? (window | pixels)* finish?``. An expression
is an elementwise operator with all those before it whose results only it needs. The roles are what
the native code of an operator says it can be (`dali_core/image_chain.hpp`, `elementwise.hpp`); no
operator is known by name here. Only the last value of a group is materialized, so all others must
have no reader outside of it, and all must run for the same samples. What a source makes beside its
images is materialized as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dali_core._graph.node import DataNode, OperatorNode
from dali_core._runtime.native_code import chain_role

# For each role, those that may follow; once something has resampled, nothing does so again.
_FOLLOWERS = {
    "source": {"window", "resample", "pixels", "finish"},
    "window": {"window", "resample", "pixels", "finish"},
    "resample": {"window", "pixels", "finish"},
    "pixels": {"window", "pixels", "finish"},
    "finish": set(),
}


# On a device each of these is one kernel, so there is nothing to gain.
_NOT_ON_DEVICE = {"source", "pixels"}


def find_device_chains(
    nodes: Sequence[OperatorNode], kept: Iterable[DataNode]
) -> list[list[OperatorNode]]:
    """Find the chains and expressions among operators of one device program; see `find_chains`."""
    return _find_groups(nodes, kept, _NOT_ON_DEVICE)


def find_joint(nodes: Sequence[OperatorNode], kept: Iterable[DataNode]) -> list[list[OperatorNode]]:
    """Find the beginnings of chains that give other results as one than one by one.

    They go from a decoder with ``chroma="resample"`` to the operator that resamples, and are what
    they are whether chains are fused or not. See `find_chains` for the parameters.
    """
    if all(node.arguments.get("chroma") != "resample" for node in nodes):
        return []
    joint = []
    for chain in find_chains(nodes, kept):
        roles = [chain_role(node.native_name) for node in chain]
        if chain[0].arguments.get("chroma") == "resample" and "resample" in roles:
            joint.append(chain[: roles.index("resample") + 1])
    return joint


def find_chains(
    nodes: Sequence[OperatorNode], kept: Iterable[DataNode]
) -> list[list[OperatorNode]]:
    """Find the chains and expressions among operators that run without a barrier between them.

    Parameters
    ----------
    nodes : sequence of OperatorNode
        The operators, in an order in which they can run.
    kept : iterable of DataNode
        Values that must be materialized, such as the outputs of the pipeline.

    Returns
    -------
    list of list of OperatorNode
        Groups of two or more operators in their order, each as large as possible.
    """
    return _find_groups(nodes, kept, set())


def _find_groups(
    nodes: Sequence[OperatorNode], kept: Iterable[DataNode], without: set[str]
) -> list[list[OperatorNode]]:
    roles = {node: chain_role(node.native_name) for node in nodes}
    roles = {node: "" if role in without else role for node, role in roles.items()}
    elementwise = [node for node in nodes if roles[node] == "elementwise"]
    images = [
        node
        for node in nodes
        if roles[node] in _FOLLOWERS and (len(node.outputs) == 1 or roles[node] == "source")
    ]
    kept = list(kept)
    groups = _find_image_chains(nodes, images, roles, kept) + _find_expressions(
        nodes, elementwise, kept
    )
    return [group for group in groups if len(group) > 1]


def _find_expressions(
    nodes: Sequence[OperatorNode], elementwise: Sequence[OperatorNode], kept: Sequence[DataNode]
) -> list[list[OperatorNode]]:
    """Let every operator join the group of those that read its result, if all are in one."""
    readers: dict[DataNode, set[OperatorNode]] = {}
    for node in nodes:
        for value in node.dependencies:
            readers.setdefault(value, set()).add(node)
    needed = set(kept)
    group_of: dict[OperatorNode, list[OperatorNode]] = {}
    groups: list[list[OperatorNode]] = []
    # What reads a value comes later, so it has its group already.
    for node in reversed(elementwise):
        (output,) = node.outputs
        joined = [group_of.get(reader) for reader in readers.get(output, ())]
        group = joined[0] if joined and output not in needed else None
        if group is not None and group[0].conditions != node.conditions:
            group = None
        if group is None or any(other is not group for other in joined):
            group = []
            groups.append(group)
        group.insert(0, node)
        group_of[node] = group
    return groups


def _find_image_chains(
    nodes: Sequence[OperatorNode],
    images: Sequence[OperatorNode],
    roles: Mapping[OperatorNode, str],
    kept: Sequence[DataNode],
) -> list[list[OperatorNode]]:
    uses = Counter(value for node in nodes for value in node.dependencies)
    uses.update(kept)
    late = _made_beside_images(nodes, images)
    chains: list[_Chain] = []
    ends: dict[DataNode, _Chain] = {}
    for node in images:
        role = roles[node]
        output = node.outputs[0]
        chain = ends.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if (
            chain is not None
            and uses[node.inputs[0]] == 1
            and late.isdisjoint(node.tensor_arguments.values())
            and chain.accepts(role)
            and chain.nodes[-1].conditions == node.conditions
        ):
            del ends[node.inputs[0]]
            chain.append(node, role)
        elif _may_begin(node, role):
            chain = _Chain(node, role)
            chains.append(chain)
        else:
            continue
        ends[output] = chain
    return [chain.nodes for chain in chains]


def _may_begin(node: OperatorNode, role: str) -> bool:
    """Return whether a chain may begin with an operator; sources may be readers."""
    if not node.inputs:
        return role == "source"
    return len(node.inputs) == 1 and role not in ("pixels", "finish")


def _made_beside_images(
    nodes: Sequence[OperatorNode], images: Sequence[OperatorNode]
) -> set[DataNode]:
    """Find what sources make beside images, and all that follows from it.

    It is materialized when the whole chain of the source is run, so no member may need it.
    """
    late = {value for node in images for value in node.outputs[1:]}
    for node in nodes if late else ():
        if not late.isdisjoint(node.dependencies):
            late.update(node.outputs)
    return late


class _Chain:
    def __init__(self, node: OperatorNode, role: str) -> None:
        self.nodes = [node]
        self._last_role = role
        self._may_resample = role != "resample"

    def accepts(self, role: str) -> bool:
        return role in _FOLLOWERS[self._last_role] and (role != "resample" or self._may_resample)

    def append(self, node: OperatorNode, role: str) -> None:
        self.nodes.append(node)
        self._last_role = role
        # Pixels that have changed are not resampled in the same chain.
        self._may_resample = self._may_resample and role not in ("resample", "pixels")
