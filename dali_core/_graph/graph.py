"""The graph of a pipeline, and values that belong to none yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from dali_core._call.bind import bind
from dali_core._call.bound import BoundCall, BoundCalls
from dali_core._call.values import Value
from dali_core._graph.context import current_definition
from dali_core._graph.node import Condition, DataNode, OperatorNode
from dali_core._spec import OpSpec
from dali_core._storage.access import Access
from dali_core.errors import GraphError, title_of


class _Owner:
    """Records calls of expressions of its values, as all others, in the current graph."""

    def call(self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call an operator; see `add_operator`."""
        return add_operator(spec, inputs, keywords)


class Graph(_Owner):
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
        num_outputs: int,
        name: str | None = None,
        conditions: tuple[Condition, ...] | None = None,
    ) -> OperatorNode:
        """Append an operator whose inputs and arguments are checked.

        Its name is `name`, or that among the arguments, or a new one. Its conditions are those of
        the branch that is being defined, unless others are given.
        """
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
        node.outputs = [DataNode(node, i, self) for i in range(num_outputs)]
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
            len(node.outputs),
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


class Unattached(_Owner):
    """Where operators are that are called outside of any pipeline, each for itself.

    A pipeline that uses such a value takes a copy (`Graph.own`), so it may be used by several.
    """

    conditions: tuple[Condition, ...] = ()
    replaces_failed = None

    def within(self, conditions: tuple[Condition, ...]) -> AbstractContextManager[None]:
        """Make operators; they have no conditions."""
        return nullcontext()

    def add(
        self,
        spec: OpSpec,
        location: str,
        inputs: list[DataNode],
        arguments: dict[str, Any],
        tensor_arguments: dict[str, DataNode],
        num_outputs: int,
    ) -> OperatorNode:
        """Make an operator that belongs to no pipeline yet."""
        if num_outputs == 0:
            raise GraphError(
                f"{title_of(spec.name)} at {location}: an operator without outputs must be called "
                "while a pipeline is being defined (none is), since nothing can use it later. Call "
                "it inside a @pipeline_def function, define_graph, or `with pipeline:`."
            )
        name = arguments.get("name") or spec.name.replace(".", "_")
        node = OperatorNode(spec, -1, name, location, inputs, arguments, tensor_arguments)
        node.outputs = [DataNode(node, i, self) for i in range(num_outputs)]
        return node

    def own(self, value: DataNode, what: str) -> DataNode:
        """Return the value itself: what uses it has no pipeline either."""
        return value


_UNATTACHED = Unattached()


def current_graph() -> Graph | Unattached:
    """Return the graph that operators are added to which are called now."""
    _, graph = current_definition()
    return _UNATTACHED if graph is None else graph


def add_operator(
    spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> DataNode | list[DataNode] | None:
    """Add an operator to the pipeline that is being defined, or make one that belongs to none yet.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    inputs : tuple
        Positional inputs: nodes, or numbers, lists and arrays, which become constants. For lists of
        nodes, the operator is called once for each of their entries.
    keywords : dict
        Keyword arguments.

    Returns
    -------
    DataNode, list of DataNode, or None
        The operator's output; a list if it has several or is called several times, None if it has
        none.

    Raises
    ------
    GraphError
        If an input is of another pipeline, which is built, or of another branch.
    ArgumentTypeError, ArgumentValueError
        If inputs or arguments do not fit the operator.
    """
    graph = current_graph()
    bound = bind(spec, inputs, keywords, replaces_failed=graph.replaces_failed)
    results = [_record(calls, graph) for calls in bound]
    return results if len(results) > 1 else results[0]


def _record(bound: BoundCalls, graph: Graph | Unattached) -> Any:
    """Add the operators of a call to a graph, and return the nodes of its result."""
    made: dict[Value, DataNode] = {}
    with graph.within(conditions_with(graph, bound.conditional)):
        for call in bound.sources:
            _add(call, made, graph)
        for value, read in bound.reads.items():
            assert isinstance(value, DataNode)
            node = made[value] = graph.own(value, read.what)
            if not read.may_be_partial:
                check_branch(node, graph, read.what)
        for call in bound.calls:
            if call.unless is None:
                _add(call, made, graph)
                continue
            with graph.within((*graph.conditions, Condition(made[call.unless], False))):
                _add(call, made, graph)
    if isinstance(bound.result, list):
        return [made[output] for output in bound.result]
    return None if bound.result is None else made[bound.result]


def _add(call: BoundCall, made: dict[Value, DataNode], graph: Graph | Unattached) -> None:
    inputs = [made[value] for value in call.inputs]
    tensors = {name: made[value] for name, value in call.tensor_arguments.items()}
    node = graph.add(call.spec, call.location, inputs, call.arguments, tensors, len(call.outputs))
    made.update(zip(call.outputs, node.outputs, strict=True))


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
