"""Finds chains of image operators that run as one.

A chain follows the pattern ``source? window* resample? (window | pixels)* finish?``. The roles are
what the native code of an operator says it can be (`dali_core/image_chain.hpp`); no operator is
known by name here. Only the last value of a chain comes into being, so all others must be read by
nobody else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dali_core._graph.node import DataNode, OperatorNode
from dali_core._runtime.executor import chain_role

# For each role, those that may follow; once something has resampled, nothing does so again.
_FOLLOWERS = {
    "source": {"window", "resample", "pixels", "finish"},
    "window": {"window", "resample", "pixels", "finish"},
    "resample": {"window", "pixels", "finish"},
    "pixels": {"window", "pixels", "finish"},
    "finish": set(),
    "": set(),
}


def find_chains(
    nodes: Sequence[OperatorNode], kept: Iterable[DataNode]
) -> list[list[OperatorNode]]:
    """Find the chains among operators that run without a barrier between them.

    Parameters
    ----------
    nodes : sequence of OperatorNode
        The operators, in an order in which they can run.
    kept : iterable of DataNode
        Values that must come into being, such as the outputs of the pipeline.

    Returns
    -------
    list of list of OperatorNode
        Chains of two or more operators, each as long as possible.
    """
    uses = Counter(value for node in nodes for value in node.dependencies)
    uses.update(kept)
    chains: list[_Chain] = []
    ends: dict[DataNode, _Chain] = {}
    for node in nodes:
        role = chain_role(node.spec.registered_name)
        if not role or len(node.outputs) != 1:
            continue
        (output,) = node.outputs
        chain = ends.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if chain is not None and uses[node.inputs[0]] == 1 and chain.accepts(role):
            del ends[node.inputs[0]]
            chain.append(node, role)
        elif len(node.inputs) == 1 and role not in ("pixels", "finish"):
            chain = _Chain(node, role)
            chains.append(chain)
        else:
            continue
        ends[output] = chain
    return [chain.nodes for chain in chains if len(chain.nodes) > 1]


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
