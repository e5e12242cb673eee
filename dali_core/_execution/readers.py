"""The readers of a planned graph, by node and by name."""

from __future__ import annotations

from collections.abc import Iterable

from dali_core._graph.index_sampler import IndexSampler
from dali_core._graph.node import OperatorNode
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError


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
        self.by_node = {node: _open(node) for node in nodes if node.spec.reader is not None}

    @property
    def by_name(self) -> dict[str, IndexSampler]:
        """All readers, by the names of their operators."""
        return {node.name: reader for node, reader in self.by_node.items()}

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


def _open(node: OperatorNode) -> IndexSampler:
    assert node.spec.reader is not None
    try:
        return IndexSampler.from_arguments(node.spec.reader(node.arguments), node.arguments)
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{node.where}: {error}") from error
