"""Records operator calls as nodes of the pipeline that is being defined."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from dali_core._graph.arguments import check_arguments
from dali_core._graph.context import current_pipeline, user_location
from dali_core._graph.devices import check_places, choose_device
from dali_core._graph.input_sets import input_sets
from dali_core._graph.node import Condition, DataNode, OperatorNode
from dali_core._graph.registry import spec_of_role
from dali_core._literals import is_literal, literal_arguments
from dali_core._spec import OpSpec, Source
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError, title_of

MOST_OUTPUTS = 4096
"""Of one operator."""


class Graph:
    """The operators of one pipeline, in the order of their calls.

    Attributes
    ----------
    nodes : list of OperatorNode
        The operators.
    conditions : tuple of Condition
        What must hold so that operators that are added now run for a sample.
    """

    def __init__(self) -> None:
        self.nodes: list[OperatorNode] = []
        self.conditions: tuple[Condition, ...] = ()
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
        count = spec.outputs(arguments) if callable(spec.outputs) else spec.outputs
        if count is not None and not 0 <= count <= MOST_OUTPUTS:
            raise ArgumentValueError(
                f"{title_of(spec.name)} at {location}: an operator must have at most "
                f"{MOST_OUTPUTS} outputs (got {count}). Give parts of one output instead."
            )
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
            # What brings data in does so for whole batches; the branch takes what it needs.
            conditions=() if spec.is_source else self.conditions,
        )
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
        If no pipeline is being defined, or an input is of another one or of another branch.
    ArgumentTypeError, ArgumentValueError
        If inputs or arguments do not fit the operator.
    """
    location = user_location()
    where = f"{title_of(spec.title(keywords) if spec.title else spec.name)} at {location}"
    pipeline = current_pipeline()
    if pipeline is None:
        raise GraphError(
            f"{where}: operators must be called while a pipeline is being defined (none is). "
            "Call it inside a @pipeline_def function, define_graph, or `with pipeline:`."
        )
    calls = input_sets(inputs, where)
    if calls:
        results = _add_each(spec, calls, keywords, where)
        return results if len(results) > 1 else results[0]
    graph = pipeline._graph
    if spec.bind is not None:
        try:
            inputs, keywords = spec.bind(inputs, keywords)
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise type(error)(f"{where}: {error}") from error
    inputs = tuple(_as_node(value, f"{where}: input {i}") for i, value in enumerate(inputs))
    check_inputs(spec, inputs, graph, where)
    wanted = keywords.get("device")
    if isinstance(wanted, str) and wanted == spec.moving_device:
        return _add_moved(spec, inputs, keywords)
    if not spec.joins:
        for number, value in enumerate(inputs):
            check_branch(value, graph, f"{where}: input {number}")
    if spec.deprecated:
        # Up to the user's call: the operator's function, its caller.
        warnings.warn(
            f"{where}: the operator is deprecated. Use {spec.deprecated}.",
            DeprecationWarning,
            stacklevel=3,
        )
    keywords = {name: _as_argument(spec, name, value, where) for name, value in keywords.items()}
    constants, tensors = check_arguments(spec, keywords, where)
    for name, value in tensors.items():
        _check_owner(value, graph, f"{where}: argument {name!r}")
        check_branch(value, graph, f"{where}: argument {name!r}")
    device = choose_device(spec, constants.get("device"), inputs, where)
    if device == "gpu":
        constants["device"] = device
        if not spec.mixes_devices:
            inputs = tuple(value.gpu() for value in inputs)
    check_places(spec, device, inputs, tensors, where)
    if spec.batch_input is not None and len(inputs) == 1:
        found = spec.batch_input(constants)
        if found is not None:
            inputs = (*inputs, add_operator(found.spec, inputs, found.keywords))
    node = graph.add(spec, location, list(inputs), constants, tensors)
    is_single = spec.outputs(constants) is None if callable(spec.outputs) else spec.outputs == 1
    if is_single:
        return node.outputs[0]
    return list(node.outputs) or None


def _add_each(
    spec: OpSpec, calls: list[tuple[Any, ...]], keywords: dict[str, Any], where: str
) -> list[Any]:
    if spec.python_step is not None:
        raise ArgumentTypeError(
            f"{where}: operators in Python must get each input for itself (got a list). Call the "
            "operator for each."
        )
    # Only one may have the name.
    others = {name: value for name, value in keywords.items() if name != "name"}
    return [
        add_operator(spec, inputs, others if number else keywords)
        for number, inputs in enumerate(calls)
    ]


def add_literal(value: Any) -> DataNode:
    """Add a tensor that is the same for every sample, made of a number, a list or an array."""
    node = add_operator(spec_of_role("literal"), (), literal_arguments(value))
    assert isinstance(node, DataNode)
    return node


def _as_node(value: Any, what: str) -> Any:
    if isinstance(value, Source):
        return add_operator(value.spec, (), value.keywords)
    if isinstance(value, DataNode) or not is_literal(value):
        return value
    try:
        return add_literal(value)
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{what}: {error}") from error


def _as_argument(spec: OpSpec, name: str, value: Any, where: str) -> Any:
    """Make a node of an array of several dimensions, if the argument may be one."""
    arg = spec.arg(name)
    is_node = isinstance(value, DataNode)
    if arg is not None and arg.tensor and not is_node and len(getattr(value, "shape", ())) > 1:
        return _as_node(value, f"{where}: argument {name!r}")
    return value


def _add_moved(
    spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> DataNode | list[DataNode] | None:
    """Run an operator on the host and move its results to the device; or decode there."""
    found = spec.decodes_on_device(keywords) if spec.decodes_on_device is not None else None
    if found is not None:
        from dali_core._graph.device_decoding import decode_on_device

        decoded = decode_on_device(found, inputs, keywords)
        if decoded is not None:
            return decoded
    results = add_operator(spec, inputs, {**keywords, "device": "cpu"})
    if isinstance(results, list):
        return [result.gpu() for result in results]
    return results if results is None else results.gpu()


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
                f"{where}: input {number} must be a DataNode, the result of another operator, or a "
                f"number, a list or an array (got a {type(value).__name__}). Feed data in through "
                "fn.external_source."
            )
        _check_owner(value, graph, f"{where}: input {number}")


def _check_owner(value: DataNode, graph: Graph, what: str) -> None:
    if value.owner is not graph:
        raise GraphError(
            f"{what} must belong to the pipeline that is being defined "
            f"(got {value.name!r} of another one). Make it in this pipeline."
        )


def check_branch(value: DataNode, graph: Graph, what: str) -> None:
    """Check that a value exists for all samples that operators added now run for."""
    if not value.source.is_within(graph.conditions):
        raise GraphError(
            f"{what} must exist for all samples that the operator runs for (got {value.name!r}, "
            f"made in a branch that others do not take by {value.source.where}). Assign it to a "
            "variable in both branches."
        )
