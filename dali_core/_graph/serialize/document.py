"""Graphs as plain data: what is written of each operator, and how it is checked when read.

Values are referred to by ``[operator, output]``: the positions of the operator in the document and
of the value among its outputs. An operator only refers to those before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dali_core._call.arguments import all_args, check_arguments, check_inputs
from dali_core._call.devices import check_places, choose_device
from dali_core._graph.graph import Graph, check_branch
from dali_core._graph.node import Condition, DataNode, OperatorNode
from dali_core._graph.plan.planner import live_nodes
from dali_core._graph.serialize.plain_data import from_plain, to_plain
from dali_core._messages import printable
from dali_core._registry.specs import find_own, find_spec, identity
from dali_core._spec import MAX_OUTPUTS, UNSET, OpSpec
from dali_core._storage.access import check_arguments as check_access
from dali_core.errors import (
    DaliCoreError,
    SerializationError,
    located,
)

_REQUIRED = ("operator", "name")
_OPTIONAL = (
    "location",
    "inputs",
    "arguments",
    "tensor_arguments",
    "conditions",
    "random_index",
)


# Writing


def graph_to_plain(graph: Graph, outputs: Sequence[DataNode]) -> dict[str, Any]:
    """Describe a graph, without unused operators.

    Parameters
    ----------
    graph : Graph
        The operators.
    outputs : sequence of DataNode
        What the pipeline returns.

    Returns
    -------
    dict
        Plain data: ``operators`` and ``outputs``.

    Raises
    ------
    SerializationError
        If an operator has an argument that is no plain data, such as a function.
    """
    nodes = live_nodes(outputs, graph.nodes)
    numbers = {node: number for number, node in enumerate(nodes)}
    return {
        "operators": [_node_to_plain(node, numbers) for node in nodes],
        "outputs": [_reference(value, numbers) for value in outputs],
    }


def _reference(value: DataNode, numbers: Mapping[OperatorNode, int]) -> list[int]:
    return [numbers[value.source], value.index]


def _node_to_plain(node: OperatorNode, numbers: Mapping[OperatorNode, int]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "operator": identity(node.spec),
        "name": node.name,
        "location": node.location,
    }
    if node.inputs:
        entry["inputs"] = [_reference(value, numbers) for value in node.inputs]
    arguments = _arguments_to_plain(node)
    if arguments:
        entry["arguments"] = arguments
    if node.tensor_arguments:
        entry["tensor_arguments"] = {
            name: _reference(value, numbers) for name, value in node.tensor_arguments.items()
        }
    if node.conditions:
        entry["conditions"] = [
            [*_reference(condition.predicate, numbers), condition.wanted]
            for condition in node.conditions
        ]
    if node.random_index >= 0:
        entry["random_index"] = node.random_index
    return entry


def _arguments_to_plain(node: OperatorNode) -> dict[str, Any]:
    """Return the constant arguments that are not as by default."""
    arguments = {}
    for arg in all_args(node.spec):
        if arg.name not in node.arguments:
            continue
        what = f"Pipeline.serialize: argument {arg.name!r} of {node.where}"
        value = to_plain(node.arguments[arg.name], what)
        # Compared as text, because 1, 1.0 and True are equal.
        if arg.default is UNSET or json.dumps(value) != json.dumps(_default(arg.default)):
            arguments[arg.name] = value
    return arguments


def _default(value: Any) -> Any:
    try:
        return to_plain(value, "a default")
    except SerializationError:
        return None  # REQUIRED


# Reading


def graph_from_plain(data: Mapping[str, Any], graph: Graph) -> list[DataNode]:
    """Add the operators that `graph_to_plain` described to an empty graph.

    Every operator must be one of this library, and its inputs and arguments are checked like those
    of a call in a program.

    Parameters
    ----------
    data : mapping
        ``operators`` and ``outputs``: plain data of unknown origin.
    graph : Graph
        Where to add them.

    Returns
    -------
    list of DataNode
        The outputs.

    Raises
    ------
    SerializationError
        If the data does not describe a graph. The message names the place.
    """
    entries = _typed(data["operators"], list, "operators")
    for number, entry in enumerate(entries):
        what = f"operators[{number}]"
        try:
            _add_node(_typed(entry, dict, what), what, graph)
        except SerializationError:
            raise
        except DaliCoreError as error:
            raise SerializationError(f"{what}: {error}") from error
    outputs = _typed(data["outputs"], list, "outputs")
    if not outputs:
        raise SerializationError("outputs: there must be at least one (got none).")
    return [
        _resolve(reference, f"outputs[{number}]", graph) for number, reference in enumerate(outputs)
    ]


def _add_node(entry: Mapping[str, Any], what: str, graph: Graph) -> None:
    check_keys(entry, _REQUIRED, _OPTIONAL, what)
    spec = _spec(entry["operator"], what)
    location = printable(_typed(entry.get("location", "an unknown place"), str, f"{what}.location"))
    where = f"fn.{spec.name} at {location}"
    inputs = [
        _resolve(reference, f"{what}.inputs[{i}]", graph)
        for i, reference in enumerate(_typed(entry.get("inputs", []), list, f"{what}.inputs"))
    ]
    given = {
        name: from_plain(value, f"{what}.arguments.{name}")
        for name, value in _object(entry, "arguments", what).items()
    }
    for name, reference in _object(entry, "tensor_arguments", what).items():
        place = f"{what}.tensor_arguments.{name}"
        if name in given:
            raise SerializationError(f"{place}: must be given once (got it among arguments, too).")
        given[name] = _resolve(reference, place, graph)
    constants, values = check_arguments(spec, given, where)
    tensors: dict[str, DataNode] = {name: given[name] for name in values}
    _check_access(spec, constants, graph, where)
    device = choose_device(spec, constants.get("device"), inputs, where)
    check_inputs(spec, _without_batch_input(spec, inputs, constants, what), where)
    graph.conditions = _conditions(entry, what, graph)
    for value in (*tensors.values(), *(inputs if not spec.joins else ())):
        check_branch(value, graph, where)
    check_places(spec, device, inputs, tensors, where)
    count = _num_outputs(spec, constants, len(inputs), what)
    name = _typed(entry["name"], str, f"{what}.name")
    node = graph.add(spec, location, inputs, constants, tensors, count, name, graph.conditions)
    graph.conditions = ()
    if spec.random:
        node.random_index = _random_index(entry.get("random_index"), f"{what}.random_index")


def _check_access(spec: OpSpec, constants: Mapping[str, Any], graph: Graph, where: str) -> None:
    """Check what the operator is to open, as far as its arguments say it."""
    if spec.arg("storage_options") is None:
        return
    with located(where):
        check_access(graph.access, {arg.name: constants.get(arg.name) for arg in spec.args})


def _conditions(entry: Mapping[str, Any], what: str, graph: Graph) -> tuple[Condition, ...]:
    found: tuple[Condition, ...] = ()
    given = _typed(entry.get("conditions", []), list, f"{what}.conditions")
    for number, condition in enumerate(given):
        place = f"{what}.conditions[{number}]"
        *reference, wanted = _typed(condition, list, place) or [None]
        predicate = _resolve(reference, place, graph)
        if type(wanted) is not bool or not predicate.source.is_within(found):
            raise SerializationError(
                f"{place}: must be [operator, output, true or false], of an operator with the "
                f"conditions before it (got {condition!r})."
            )
        found = (*found, Condition(predicate, wanted))
    return found


def _spec(name: Any, what: str) -> OpSpec:
    spec = find_spec(name) if isinstance(name, str) else None
    if spec is None:
        raise SerializationError(
            f"{what}.operator: must be an operator of this version of dali_core (got {name!r}). "
            "Use the version that wrote the document, or install the operator."
        )
    return spec


def _without_batch_input(
    spec: OpSpec, inputs: list[DataNode], constants: dict[str, Any], what: str
) -> list[DataNode]:
    """Check and take away the input that the library adds to a call, if it needs one."""
    found = spec.batch_input(constants) if spec.batch_input is not None and inputs else None
    if found is None:
        return inputs
    expected, _ = check_arguments(found.spec, found.keywords, what)
    source = inputs[-1].source
    is_added = source.spec is found.spec and any(value is inputs[0] for value in source.inputs[:1])
    if is_added and all(source.arguments.get(name) == value for name, value in expected.items()):
        return inputs[:1]
    if len(inputs) == 1 or spec is not find_own(spec.name):
        raise SerializationError(
            f"{what}.inputs: the last must be the result of {identity(found.spec)!r} for the first "
            f"(got that of {identity(source.spec)!r})."
        )
    return inputs


def _num_outputs(spec: OpSpec, constants: dict[str, Any], num_inputs: int, what: str) -> int:
    count = spec.num_outputs(constants, num_inputs)
    count = 1 if count is None else count
    if not 0 <= count <= MAX_OUTPUTS:
        raise SerializationError(
            f"{what}: an operator must have at most {MAX_OUTPUTS} outputs (got {count})."
        )
    return count


def _random_index(value: Any, what: str) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise SerializationError(f"{what}: must be an int from 0 on (got {value!r}).")
    return value


def _resolve(reference: Any, what: str, graph: Graph) -> DataNode:
    """Find the value that a reference names."""
    numbers = reference if isinstance(reference, list) else []
    if len(numbers) != 2 or any(type(number) is not int for number in numbers):
        raise SerializationError(
            f"{what}: must be [operator, output], the numbers of both (got {reference!r})."
        )
    operator, output = numbers
    if not 0 <= operator < len(graph.nodes):
        raise SerializationError(
            f"{what}: must refer to an operator before (got number {operator} of "
            f"{len(graph.nodes)})."
        )
    outputs = graph.nodes[operator].outputs
    if not 0 <= output < len(outputs):
        raise SerializationError(
            f"{what}: must refer to one of the {len(outputs)} outputs of operators[{operator}] "
            f"(got number {output})."
        )
    return outputs[output]


def _object(entry: Mapping[str, Any], name: str, what: str) -> dict[str, Any]:
    found: dict[str, Any] = _typed(entry.get(name, {}), dict, f"{what}.{name}")
    return found


def _typed(value: Any, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise SerializationError(
            f"{what}: must be {_JSON_NAMES[kind]} (got {type(value).__name__})."
        )
    return value


def check_keys(
    data: Mapping[str, Any], required: Sequence[str], optional: Sequence[str], what: str
) -> None:
    """Check that an object has all keys that it must have, and none that is unknown."""
    missing = [key for key in required if key not in data]
    unknown = [key for key in data if key not in (*required, *optional)]
    if missing or unknown:
        got = f"without {missing[0]!r}" if missing else f"with {unknown[0]!r}"
        raise SerializationError(
            f"{what}: must have the keys {', '.join(map(repr, required))} and may have "
            f"{', '.join(map(repr, optional)) or 'no others'} (got one {got})."
        )


_JSON_NAMES: dict[type, str] = {list: "a list", dict: "an object", str: "a string"}
