"""Records operator calls as nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dali_core._graph.arguments import check_arguments, check_names, given_arguments
from dali_core._graph.context import user_location, warn_user
from dali_core._graph.device_decoding import decode_on_device, read_videos_on_device
from dali_core._graph.devices import check_places, choose_device
from dali_core._graph.graph import Graph, check_branch, conditions_with, current_graph
from dali_core._graph.input_sets import input_sets
from dali_core._graph.node import DataNode
from dali_core._graph.registry import spec_of_role
from dali_core._literals import is_literal, literal_arguments
from dali_core._recorder import recorder
from dali_core._spec import DeviceVideos, OpSpec, Source
from dali_core.errors import (
    ArgumentFormError,
    ArgumentTypeError,
    ArgumentValueError,
    title_of,
)


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
    call = _Call(spec, keywords)
    # What joins both sides of a branch belongs to where the branch begins.
    givers = inputs[:1] if spec.joins else (*inputs, *keywords.values())
    conditions = conditions_with(call.graph, givers)
    if isinstance(call.graph, Graph) and conditions != call.graph.conditions:
        with call.graph.within(conditions):
            return add_operator(spec, inputs, keywords)
    keywords = given_arguments(spec, keywords, call.where)
    if sets := input_sets(inputs, call.where):
        results = _add_each(spec, sets, keywords, call.where)
        return results if len(results) > 1 else results[0]
    wanted = keywords.get("device")
    if spec.moving is not None and isinstance(wanted, str) and wanted == spec.moving.device:
        # This is called again, for the host, which binds.
        return _add_moved(spec, call.nodes(inputs) if spec.bind is None else inputs, keywords)
    inputs, keywords = call.bound(inputs, keywords)
    nodes = call.nodes(inputs)
    call.check_use(nodes)
    constants, tensors = call.arguments(keywords)
    nodes = call.placed(nodes, constants, tensors)
    nodes = call.with_batch_input(nodes, constants)
    node = call.graph.add(spec, call.location, list(nodes), constants, tensors)
    if spec.num_outputs(constants, len(nodes)) is None:
        return node.outputs[0]
    return list(node.outputs) or None


def call_operator(
    spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> DataNode | list[DataNode] | dict[str, DataNode] | None:
    """Add an operator as `add_operator` does; return a dict where its outputs have names."""
    result = add_operator(spec, inputs, keywords)
    if spec.output_names is None:
        return result
    assert result is not None
    values = result if isinstance(result, list) else [result]
    return dict(zip(spec.output_names(keywords), values, strict=True))


class _Call:
    """The passes over the inputs and arguments of a call, in their order."""

    def __init__(self, spec: OpSpec, keywords: dict[str, Any]) -> None:
        self.spec = spec
        self.graph = current_graph()
        self.location = user_location()
        title = title_of(spec.title_for(keywords))
        self.where = f"{title} at {self.location}"

    def bound(
        self, inputs: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Rearrange inputs and arguments as the operator wants them."""
        if self.spec.bind is None:
            return inputs, keywords
        if self.spec.hands_to_reader:
            check_names(self.spec, keywords, self.where)
        try:
            bound: tuple[tuple[Any, ...], dict[str, Any]] = self.spec.bind(inputs, keywords)
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise type(error)(f"{self.where}: {error}") from error
        return bound

    def nodes(self, inputs: tuple[Any, ...]) -> tuple[DataNode, ...]:
        """Make values of this graph of the inputs."""
        nodes = tuple(_as_nodes(inputs, self.where))
        check_inputs(self.spec, nodes, self.where)
        return tuple(
            self.graph.own(value, f"{self.where}: input {i}") for i, value in enumerate(nodes)
        )

    def check_use(self, inputs: Sequence[DataNode]) -> None:
        """Check that the inputs exist for all samples, and warn of a deprecated operator."""
        if not self.spec.joins:
            for number, value in enumerate(inputs):
                check_branch(value, self.graph, f"{self.where}: input {number}")
        if self.spec.deprecated:
            warn_user(f"{self.where}: the operator is deprecated. Use {self.spec.deprecated}.")

    def arguments(self, keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, DataNode]]:
        """Check the arguments; return the constants, and those that come with each sample."""
        keywords = {
            name: _as_argument(self.spec, name, value, self.where)
            for name, value in keywords.items()
        }
        constants, tensors = check_arguments(self.spec, keywords, self.where)
        for name, value in tensors.items():
            what = f"{self.where}: argument {name!r}"
            tensors[name] = self.graph.own(value, what)
            check_branch(tensors[name], self.graph, what)
        return constants, tensors

    def placed(
        self,
        inputs: tuple[DataNode, ...],
        constants: dict[str, Any],
        tensors: dict[str, DataNode],
    ) -> tuple[DataNode, ...]:
        """Choose the device, and move the inputs there."""
        device = choose_device(self.spec, constants.get("device"), inputs, self.where)
        if device == "gpu":
            constants["device"] = device
            if self.spec.input_device == "same":
                inputs = tuple(value.gpu() for value in inputs)
        check_places(self.spec, device, inputs, tensors, self.where)
        return inputs

    def with_batch_input(
        self, inputs: tuple[DataNode, ...], constants: dict[str, Any]
    ) -> tuple[DataNode, ...]:
        """Add what the operator has to know about the whole batch."""
        found = None
        if self.spec.batch_input is not None and len(inputs) == 1:
            found = self.spec.batch_input(constants)
        if found is None:
            return inputs
        result = add_operator(found.spec, inputs, found.keywords)
        assert isinstance(result, DataNode)
        return (*inputs, result)


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


def _as_nodes(inputs: tuple[Any, ...], where: str) -> Iterator[Any]:
    for number, value in enumerate(inputs):
        if isinstance(value, Source):
            results = add_operator(value.spec, (), value.keywords)
            yield from results if isinstance(results, list) else [results]
        else:
            yield _as_node(value, f"{where}: input {number}")


def _as_node(value: Any, what: str) -> Any:
    if isinstance(value, DataNode) or not is_literal(value):
        return value
    try:
        return add_literal(value)
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{what}: {error}") from error


def _as_argument(spec: OpSpec, name: str, value: Any, where: str) -> Any:
    """Make a node of an array, if it is an argument."""
    if is_array_argument(spec, name, value):
        return _as_node(value, f"{where}: argument {name!r}")
    return value


def is_array_argument(spec: OpSpec, name: str, value: Any) -> bool:
    """Return whether a value is an array of several dimensions, for an argument that may be one."""
    arg = spec.arg(name)
    is_node = isinstance(value, DataNode)
    is_array = not is_node and len(getattr(value, "shape", ())) > 1
    return arg is not None and arg.tensor and is_array


def _add_moved(
    spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> DataNode | list[DataNode] | None:
    """Run an operator on the host and move its results to the device; or decode there."""
    assert spec.moving is not None
    decode = spec.moving.decode
    found = decode(keywords) if decode is not None else None
    if found is not None:
        decoded: DataNode | list[DataNode] | None
        if isinstance(found, DeviceVideos):
            decoded = read_videos_on_device(found, keywords)
        else:
            decoded = decode_on_device(found, inputs, keywords)
        if decoded is not None:
            return decoded
    results = add_operator(spec, inputs, {**keywords, "device": "cpu"})
    if isinstance(results, list):
        return [result.gpu() for result in results]
    return results if results is None else results.gpu()


def check_inputs(spec: OpSpec, inputs: Sequence[Any], where: str) -> None:
    """Check the number of positional inputs of a call, and that they are values of graphs."""
    least, most = spec.input_range
    if spec.role == "fed":
        most = len(inputs)  # which `bind` has added
    if not least <= len(inputs) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise ArgumentFormError(
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


recorder.add_operator = add_operator
