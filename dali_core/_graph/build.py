"""Records operator calls as nodes of the pipeline that is being defined."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from dali_core._graph.arguments import check_arguments
from dali_core._graph.context import current_pipeline, user_location
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._spec import OpSpec, Source
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError


class Graph:
    """The operators of one pipeline, in the order of their calls."""

    def __init__(self) -> None:
        self.nodes: list[OperatorNode] = []
        self._names: set[str] = set()
        self._num_random = 0

    def add(
        self,
        spec: OpSpec,
        location: str,
        inputs: list[DataNode],
        arguments: dict[str, Any],
        tensor_arguments: dict[str, DataNode],
        name: str | None = None,
    ) -> OperatorNode:
        """Append an operator whose inputs and arguments are checked.

        Its name is `name`, or that among the arguments, or a new one.
        """
        random_index = -1
        if spec.random:
            random_index = self._num_random
            self._num_random += 1
        node = OperatorNode(
            spec=spec,
            index=len(self.nodes),
            name=self._unique_name(spec, name or arguments.get("name"), location),
            location=location,
            inputs=inputs,
            arguments=arguments,
            tensor_arguments=tensor_arguments,
            random_index=random_index,
        )
        count = spec.outputs(arguments) if callable(spec.outputs) else spec.outputs
        node.outputs = [DataNode(node, i, self) for i in range(1 if count is None else count)]
        self.nodes.append(node)
        return node

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


def add_operator(
    spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> DataNode | list[DataNode] | None:
    """Add an operator to the pipeline that is being defined.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    inputs : tuple
        Positional inputs.
    keywords : dict
        Keyword arguments.

    Returns
    -------
    DataNode, list of DataNode, or None
        The operator's output; a list if it has several, None if it has none.

    Raises
    ------
    GraphError
        If no pipeline is being defined.
    ArgumentTypeError, ArgumentValueError
        If inputs or arguments do not fit the operator.
    """
    location = user_location()
    where = f"fn.{spec.name} at {location}"
    pipeline = current_pipeline()
    if pipeline is None:
        raise GraphError(
            f"{where}: operators must be called while a pipeline is being defined (none is). "
            "Call it inside a @pipeline_def function, define_graph, or `with pipeline:`."
        )
    graph = pipeline._graph
    if spec.bind is not None:
        try:
            inputs, keywords = spec.bind(inputs, keywords)
        except ArgumentTypeError as error:
            raise ArgumentTypeError(f"{where}: {error}") from error
        inputs = tuple(
            add_operator(value.spec, (), value.keywords) if isinstance(value, Source) else value
            for value in inputs
        )
    check_inputs(spec, inputs, graph, where)
    if spec.deprecated:
        # Up to the user's call: the operator's function, its caller.
        warnings.warn(
            f"{where}: the operator is deprecated. Use {spec.deprecated}.",
            DeprecationWarning,
            stacklevel=3,
        )
    constants, tensors = check_arguments(spec, keywords, where)
    for name, value in tensors.items():
        _check_owner(value, graph, f"{where}: argument {name!r}")
    check_device(spec, constants["device"], where)
    if spec.batch_input is not None and len(inputs) == 1:
        found = spec.batch_input(constants)
        if found is not None:
            inputs = (*inputs, add_operator(found.spec, inputs, found.keywords))
    node = graph.add(spec, location, list(inputs), constants, tensors)
    is_single = spec.outputs(constants) is None if callable(spec.outputs) else spec.outputs == 1
    if is_single:
        return node.outputs[0]
    return list(node.outputs) or None


def check_device(spec: OpSpec, device: str, where: str) -> None:
    """Check that an operator can run on a device."""
    if device not in spec.devices:
        raise ArgumentValueError(
            f"{where}: device must be one of {', '.join(map(repr, spec.devices))} "
            f"(got {device!r}). This version has no GPU operators."
        )


def check_inputs(spec: OpSpec, inputs: Sequence[Any], graph: Graph, where: str) -> None:
    """Check the number of positional inputs of a call, and that they belong to its graph."""
    least, most = spec.input_range
    if not least <= len(inputs) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise ArgumentTypeError(
            f"{where}: {wanted} inputs must be passed (got {len(inputs)}). "
            "Pass inputs by position and everything else by name."
        )
    for number, value in enumerate(inputs):
        if not isinstance(value, DataNode):
            raise ArgumentTypeError(
                f"{where}: input {number} must be a DataNode, the result of another operator "
                f"(got a {type(value).__name__}). Feed data in through fn.external_source."
            )
        _check_owner(value, graph, f"{where}: input {number}")


def _check_owner(value: DataNode, graph: Graph, what: str) -> None:
    if value.owner is not graph:
        raise GraphError(
            f"{what} must belong to the pipeline that is being defined "
            f"(got {value.name!r} of another one). Make it in this pipeline."
        )
