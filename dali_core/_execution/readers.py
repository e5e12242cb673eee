"""The readers of a planned graph, by node and by name."""

from __future__ import annotations

from collections.abc import Iterable

from dali_core._graph.node import OperatorNode
from dali_core._graph.reader import Reader
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError


class Readers:
    """Opens the data sets of all operators that read one.

    Parameters
    ----------
    nodes : iterable of OperatorNode
        Operators of the plan.

    Attributes
    ----------
    by_node : dict of OperatorNode to Reader
        All readers, in the order of their calls.
    """

    def __init__(self, nodes: Iterable[OperatorNode]) -> None:
        self.by_node = {node: _open(node) for node in nodes if node.spec.reader is not None}

    @property
    def named(self) -> dict[str, Reader]:
        """The readers that the user has named."""
        return {
            node.name: reader
            for node, reader in self.by_node.items()
            if node.arguments.get("name") is not None
        }

    def find(self, name: str) -> Reader:
        """Find a reader by its name.

        Raises
        ------
        GraphError
            If there is none; the message lists those that there are.
        """
        for node, reader in self.by_node.items():
            if node.name == name:
                return reader
        raise GraphError(
            f"Pipeline: there is no reader named {name!r} among what the outputs need. Named "
            f"readers: {', '.join(map(repr, self.named)) or 'none'}. Pass name=... to the reader."
        )


def _open(node: OperatorNode) -> Reader:
    assert node.spec.reader is not None
    try:
        return Reader.from_arguments(node.spec.reader(node.arguments), node.arguments)
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{node.where}: {error}") from error
