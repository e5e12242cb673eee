"""The readers of a planned graph, by node and by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dali_core._graph.node import OperatorNode
from dali_core._readers.mixtures import MixtureOrder, check_own_arguments
from dali_core._readers.order import IndexSampler, Part
from dali_core.errors import GraphError, located


class Readers:
    """Opens the data sets of all operators that read one.

    Parameters
    ----------
    nodes : iterable of OperatorNode
        Operators of the plan.

    Attributes
    ----------
    by_node : dict of OperatorNode to IndexSampler
        All readers, in the order of their calls.
    """

    def __init__(self, nodes: Iterable[OperatorNode]) -> None:
        reading = [node for node in nodes if node.spec.reader is not None]
        opened = {node: _open(node) for node in reading if node.spec.role != "mixture"}
        for node in reading:
            if node.spec.role == "mixture":
                opened |= _open_mixture(node, opened)
        self.by_node = {node: opened[node] for node in reading}

    @property
    def by_name(self) -> dict[str, IndexSampler]:
        """All readers, by the names of their operators."""
        return {node.name: reader for node, reader in self.by_node.items()}

    @property
    def leading(self) -> dict[str, IndexSampler]:
        """The readers that follow no mixture, by the names of their operators."""
        return {name: reader for name, reader in self.by_name.items() if reader.part is None}

    def find(self, name: str) -> IndexSampler:
        """Find a reader by its name.

        Raises
        ------
        GraphError
            If there is none; the message lists those that there are.
        """
        readers = self.by_name
        if name in readers:
            return readers[name]
        raise GraphError(
            f"Pipeline: there is no reader named {name!r} among what the outputs need. "
            f"Readers: {', '.join(map(repr, readers)) or 'none'}. Pass name=... to the reader."
        )


def _open_mixture(
    node: OperatorNode, opened: Mapping[OperatorNode, IndexSampler]
) -> dict[OperatorNode, IndexSampler]:
    """Open a mixture; return it and its parts, which know of it from then on."""
    parts = {part: found[1] for part in opened if (found := mixture_of(part)) and found[0] is node}
    sizes: dict[int, int] = {}
    for part, number in parts.items():
        size = opened[part].plan.num_samples
        if sizes.setdefault(number, size) != size:
            raise GraphError(
                f"{part.where}: readers of one function must have equally many samples (got {size} "
                f"after {sizes[number]}), since they are read together. Mix them by themselves."
            )
        with located(part.where):
            check_own_arguments(part.arguments)
    count = node.arguments["num_sets"]
    if sorted(sizes) != list(range(count)):
        raise GraphError(
            f"{node.where}: the outputs must need a reader of each of the {count} data sets (got "
            f"readers of {sorted(sizes)}). Return values of all of them."
        )
    with located(node.where):
        order = MixtureOrder(
            [sizes[number] for number in range(count)],
            node.arguments.get("weights"),
            node.arguments["length"],
        )
    chooser = _open(node, sampler=order)
    return {node: chooser} | {
        part: replace(opened[part], part=Part(chooser, number)) for part, number in parts.items()
    }


def mixture_of(node: OperatorNode) -> tuple[OperatorNode, int] | None:
    """Find the mixture that a reader is part of, and the number of its data set there.

    The condition of data set 0 is that 0 was chosen; of data set 1 that 0 was not and 1 was; of
    the last one that none of the others was.
    """
    found: OperatorNode | None = None
    number = 0
    for condition in node.conditions:
        chooser = _chooser(condition.predicate.source)
        if chooser is not None:
            found = chooser
            number += not condition.wanted
    return None if found is None else (found, number)


def _chooser(node: OperatorNode) -> OperatorNode | None:
    """Return the mixture that a predicate asks for its choice."""
    while node.spec.role != "mixture":
        if not node.inputs:
            return None
        node = node.inputs[0].source
    return node


def _open(node: OperatorNode, **more: Any) -> IndexSampler:
    assert node.spec.reader is not None
    arguments = {**node.opening_arguments, **more}
    with located(node.where):
        return IndexSampler.from_arguments(node.spec.reader(arguments), arguments, node.where)
