"""The graph of a pipeline, and values that belong to none yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dali_core._graph.context import current_definition
from dali_core._graph.node import Condition, DataNode, OperatorNode
from dali_core._spec import MAX_OUTPUTS, OpSpec
from dali_core._storage.access import Access
from dali_core.errors import ArgumentValueError, GraphError, title_of


class Graph:
    """The operators of one pipeline, in the order of their calls.

    Parameters
    ----------
    location : str
        Where the pipeline was made, for messages.
    replaces_failed : bool
        Whether good samples take the place of bad ones.

    Attributes
    ----------
    nodes : list of OperatorNode
        The operators.
    conditions : tuple of Condition
        What must hold so that operators that are added now run for a sample.
    mixes_readers : bool
        Whether what is added now is one of several data sets in turn.
    is_built : bool
        Whether the pipeline was built, so that its values are its own.
    access : Access
        What readers that are added now may open.
    """

    def __init__(
        self, location: str = "an unknown place", *, replaces_failed: bool = False
    ) -> None:
        self.location = location
        self.replaces_failed = replaces_failed
        self.nodes: list[OperatorNode] = []
        self.conditions: tuple[Condition, ...] = ()
        self.mixes_readers = False
        self.is_built = False
        self.access = Access.PROGRAM
        self._names: set[str] = set()
        self._num_random = 0
        self._copies: dict[OperatorNode, OperatorNode] = {}

    def add(
        self,
        spec: OpSpec,
        location: str,
        inputs: list[DataNode],
        arguments: dict[str, Any],
        tensor_arguments: dict[str, DataNode],
        name: str | None = None,
        conditions: tuple[Condition, ...] | None = None,
    ) -> OperatorNode:
        """Append an operator whose inputs and arguments are checked.

        Its name is `name`, or that among the arguments, or a new one. Its conditions are those of
        the branch that is being defined, unless others are given.
        """
        count = _num_outputs(spec, arguments, len(inputs), location)
        random_index = -1
        if spec.random:
            random_index = self._num_random
            self._num_random += 1
        is_for_all = spec.is_source or spec.role == "parameter"
        takes_turns = self.mixes_readers and spec.reader is not None
        node = OperatorNode(
            spec=spec,
            index=len(self.nodes),
            name=self._unique_name(spec, name or arguments.get("name"), location),
            location=location,
            inputs=inputs,
            arguments=arguments,
            tensor_arguments=tensor_arguments,
            random_index=random_index,
            # What brings data in does so for whole batches; the branch takes what it needs.
            conditions=() if is_for_all and not takes_turns else self.conditions,
            access=self.access,
        )
        if conditions is not None:
            node.conditions = conditions
        node.outputs = [DataNode(node, i, self) for i in range(count)]
        self.nodes.append(node)
        return node

    @contextmanager
    def within(self, conditions: tuple[Condition, ...]) -> Iterator[None]:
        """Add operators that run under certain conditions."""
        before = self.conditions
        self.conditions = conditions
        try:
            yield
        finally:
            self.conditions = before

    def own(self, value: DataNode, what: str) -> DataNode:
        """Return this graph's version of a value.

        What belongs to no pipeline yet, or to one that has not been built, is copied into this
        graph, together with all that it is computed from: once, however often it is used.

        Parameters
        ----------
        value : DataNode
            A value of any graph.
        what : str
            Who uses it, for messages.

        Raises
        ------
        GraphError
            If it is computed by another pipeline, which is built.
        """
        if value.owner is self:
            return value
        waiting = [value]
        while waiting:
            source = waiting[-1].source
            missing = [entry for entry in source.dependencies if not self._has(entry)]
            if missing:
                waiting += reversed(missing)
                continue
            if not self._has(waiting.pop()):
                self._copies[source] = self._copy(source, what)
        return self.find(value)

    def find(self, value: DataNode) -> DataNode:
        """Return this graph's version of a value; the value itself if there is none."""
        copy = None if value.owner is self else self._copies.get(value.source)
        return value if copy is None else copy.outputs[value.index]

    def _has(self, value: DataNode) -> bool:
        return value.owner is self or value.source in self._copies

    def _copy(self, node: OperatorNode, what: str) -> OperatorNode:
        other = node.outputs[0].owner
        if isinstance(other, Graph) and other.is_built:
            raise GraphError(
                f"{what} must be of one pipeline only (got {node.name!r}, made by {node.where} for "
                f"the pipeline made at {other.location}, which is built; the one made at "
                f"{self.location} cannot use it as well). Call the operator again in the second "
                "pipeline, or once outside of both."
            )
        copy = self.add(
            node.spec,
            node.location,
            [self.find(value) for value in node.inputs],
            dict(node.arguments),
            {name: self.find(value) for name, value in node.tensor_arguments.items()},
            conditions=tuple(
                replace(entry, predicate=self.find(entry.predicate)) for entry in node.conditions
            ),
        )
        copy.access = node.access
        return copy

    def _unique_name(self, spec: OpSpec, wanted: str | None, location: str) -> str:
        if wanted is not None and wanted in self._names:
            raise GraphError(
                f"fn.{spec.name} at {location}: name must be unique in the pipeline "
                f"(got {wanted!r} again). Choose another name."
            )
        name = wanted or f"{spec.name.replace('.', '_')}_{len(self.nodes)}"
        while wanted is None and name in self._names:
            name += "_"
        self._names.add(name)
        return name


class Unattached:
    """Where operators are that are called outside of any pipeline, each for itself.

    A pipeline that uses such a value takes a copy (`Graph.own`), so it may be used by several.
    """

    conditions: tuple[Condition, ...] = ()

    def add(
        self,
        spec: OpSpec,
        location: str,
        inputs: list[DataNode],
        arguments: dict[str, Any],
        tensor_arguments: dict[str, DataNode],
    ) -> OperatorNode:
        """Make an operator that belongs to no pipeline yet."""
        count = _num_outputs(spec, arguments, len(inputs), location)
        if count == 0:
            raise GraphError(
                f"{title_of(spec.name)} at {location}: an operator without outputs must be called "
                "while a pipeline is being defined (none is), since nothing can use it later. Call "
                "it inside a @pipeline_def function, define_graph, or `with pipeline:`."
            )
        name = arguments.get("name") or spec.name.replace(".", "_")
        node = OperatorNode(spec, -1, name, location, inputs, arguments, tensor_arguments)
        node.outputs = [DataNode(node, i, self) for i in range(count)]
        return node

    def own(self, value: DataNode, what: str) -> DataNode:
        """Return the value itself: what uses it has no pipeline either."""
        return value


_UNATTACHED = Unattached()


def current_graph() -> Graph | Unattached:
    """Return the graph that operators are added to which are called now."""
    _, graph = current_definition()
    return _UNATTACHED if graph is None else graph


def _num_outputs(spec: OpSpec, arguments: dict[str, Any], num_inputs: int, location: str) -> int:
    count = spec.num_outputs(arguments, num_inputs)
    count = 1 if count is None else count
    if not 0 <= count <= MAX_OUTPUTS:
        raise ArgumentValueError(
            f"{title_of(spec.name)} at {location}: an operator must have at most {MAX_OUTPUTS} "
            f"outputs (got {count}). Give parts of one output instead."
        )
    return count


def conditions_with(graph: Graph | Unattached, values: Iterable[Any]) -> tuple[Condition, ...]:
    """Return what must hold for operators that are added now, with what values hand on to them."""
    conditions = graph.conditions
    for value in values:
        if isinstance(value, DataNode):
            for entry in value.source.conditions:
                if entry.is_inherited and entry not in conditions:
                    conditions = (*conditions, entry)
    return conditions


def check_branch(value: DataNode, graph: Graph | Unattached, what: str) -> None:
    """Check that a value exists for all samples that operators added now run for."""
    if not value.source.is_within(graph.conditions):
        raise GraphError(
            f"{what} must exist for all samples that the operator runs for (got {value.name!r}, "
            f"made in a branch that others do not take by {value.source.where}). Assign it to a "
            "variable in both branches."
        )
