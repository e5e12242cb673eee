"""Stubs of `fn` and `ops`, from the operators' descriptions."""

from __future__ import annotations

import enum
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin

from dali_core import fn, ops, types
from dali_core._call import accepted_types
from dali_core._call.arguments import all_args
from dali_core._graph.namespaces import OperatorClass, class_name, documentation, signature
from dali_core._spec import REQUIRED, UNSET, Arg, OpSpec
from dali_core._stubs.text import definition, first_line, stub

_ACCEPTED = {
    int: "Int",
    float: "Float",
    str: "Str",
    types.DALIDataType: "DataType",
}
_ACCEPTED_LISTS = {
    int: "Ints",
    float: "Floats",
    str: "Strs",
    bool: "Bools",
    types.DALIDataType: "DataTypes",
}
_LONGEST_DEFAULT = 40

SOURCES = {
    "OperatorClass": OperatorClass.__module__,
    **dict.fromkeys(
        (*_ACCEPTED.values(), *_ACCEPTED_LISTS.values(), "Input"), accepted_types.__name__
    ),
    **{
        name: types.__name__
        for name, value in vars(types).items()
        if isinstance(value, type) and issubclass(value, enum.Enum)
    },
}


def function_stubs(specs: Sequence[OpSpec]) -> dict[str, str]:
    """Write the stubs of `fn`: for each group of operators, "" being the module itself."""
    return _modules(specs, fn.__name__, inspect.getdoc(fn) or "", _function)


def class_stubs(specs: Sequence[OpSpec]) -> dict[str, str]:
    """Write the stubs of `ops`: for each group of operators, "" being the module itself."""
    others = f"from {ops.Compose.__module__} import Compose as Compose"
    return _modules(specs, ops.__name__, inspect.getdoc(ops) or "", _class, [others])


def _modules(
    specs: Sequence[OpSpec],
    module: str,
    doc: str,
    write: Callable[[OpSpec], list[str]],
    others: Sequence[str] = (),
) -> dict[str, str]:
    groups: dict[str, list[OpSpec]] = {"": []}
    for spec in specs:
        group, _, _ = spec.name.rpartition(".")
        while group not in groups:
            groups[group] = []
            group, _, _ = group.rpartition(".")
        groups[spec.name.rpartition(".")[0]].append(spec)
    result = {}
    for group, members in groups.items():
        path = f"{module}.{group}" if group else module
        inner = sorted(other.rpartition(".")[2] for other in groups if _is_below(other, group))
        body = "\n".join(line for spec in members for line in ("", *write(spec)))
        result[group] = stub(
            f"Operators of {group!r}." if group else first_line(doc),
            body,
            found=SOURCES,
            submodules=[
                *(() if group else others),
                *(f"from {path} import {name} as {name}" for name in inner),
            ],
        )
    return result


def _is_below(other: str, group: str) -> bool:
    return bool(other) and other.rpartition(".")[0] == group


def _function(spec: OpSpec) -> list[str]:
    name = spec.name.rpartition(".")[2]
    doc = documentation(spec)
    variants = _variants(spec)
    # What may be passed by position need not be by name.
    also_by_position = spec.constructor if spec.bind is not None else ()
    lines: list[str] = []
    for number, (overrides, result) in enumerate(variants):
        keywords = [
            f"{arg.name}: {overrides[arg.name]}"
            if arg.name in overrides
            else keyword(arg, optional=arg.name in also_by_position)
            for arg in all_args(spec)
        ]
        parameters = [*inputs_of(spec), *keywords]
        if len(variants) > 1:
            lines.append("@overload")
        lines += definition(name, parameters, result, doc)
        if number + 1 < len(variants):
            lines.append("")
    return lines


def _class(spec: OpSpec) -> list[str]:
    inputs = inputs_of(spec)
    args = {arg.name: arg for arg in all_args(spec)}
    by_position = [keyword(args.pop(name), optional=True) for name in spec.constructor]
    given = [keyword(arg, optional=True) for arg in args.values()]
    results = {result for _, result in _variants(spec)}
    result = results.pop() if len(results) == 1 else "Any"
    constructor = definition("__init__", ["self", *by_position, "*", *given], "None", indent="    ")
    added = [keyword(arg, optional=True, constant=False) for arg in all_args(spec)]
    call = definition("__call__", ["self", *inputs, *added], result, indent="    ")
    name = class_name(spec.name)
    return [
        f"class {name}(OperatorClass):",
        f'    """{first_line(spec.doc)}',
        "",
        f"    The arguments are those of `fn.{spec.name}`.",
        '    """',
        "",
        *constructor,
        *call,
    ]


def inputs_of(spec: OpSpec) -> list[str]:
    """Write the positional inputs of an operator, and what separates them from keywords."""
    kind = "Input" if spec.bind is None else "Any"
    lines = []
    for parameter in signature(spec).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            return [f"*{parameter.name}: {kind}"]
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            default = "" if parameter.default is inspect.Parameter.empty else " = ..."
            lines.append(f"{parameter.name}: {kind}{default}")
    return [*lines, "/", "*"] if lines else ["*"]


def _variants(spec: OpSpec) -> list[tuple[dict[str, str], str]]:
    """Types of some arguments, and of the result that goes with them."""
    if spec.output_names is not None:
        return [({}, "dict[str, DataNode]")]
    if spec.optional_input_has_output:
        return [({}, "list[DataNode]" if _least_outputs(spec) > 1 else "Any")]
    if not callable(spec.outputs):
        count = spec.outputs
        return [({}, "DataNode" if count == 1 else "list[DataNode]" if count else "None")]
    number = spec.arg("num_outputs")
    if number is None:
        # The documentation says whether one output, too, is in a list.
        is_list = "-------\nlist of DataNode\n" in inspect.cleandoc(spec.doc)
        adding = _adds_output(spec)
        if adding is not None and not is_list:
            return [
                ({adding: "Literal[False] = False"}, "DataNode"),
                ({adding: "Literal[True]"}, "list[DataNode]"),
                ({adding: "bool"}, "Any"),
            ]
        return [({}, "list[DataNode]" if is_list else "Any")]
    if number.default in (None, UNSET):
        return [
            ({number.name: "None = None"}, "DataNode"),
            ({number.name: "int"}, "list[DataNode]" if spec.lists_one_output else "Any"),
        ]
    # Any, since type checkers take 1 for an int, too.
    return [({number.name: "Literal[1] = 1"}, "DataNode"), ({number.name: "int"}, "Any")]


def _defaults(spec: OpSpec) -> dict[str, Any]:
    left_out = (REQUIRED, UNSET, None)
    return {arg.name: arg.default for arg in all_args(spec) if arg.default not in left_out}


def _least_outputs(spec: OpSpec) -> int:
    """Return the number of outputs with the defaults; flags of such operators add to it."""
    count = spec.outputs(_defaults(spec)) if callable(spec.outputs) else spec.outputs
    return count or 1


def _adds_output(spec: OpSpec) -> str | None:
    """Return the only flag that turns the one output of an operator into a list."""
    defaults = _defaults(spec)
    assert callable(spec.outputs)
    if any(arg.default is REQUIRED for arg in spec.args) or spec.outputs(defaults) is not None:
        return None
    flags = [
        arg.name
        for arg in spec.args
        if arg.type is bool and spec.outputs({**defaults, arg.name: True}) is not None
    ]
    return flags[0] if len(flags) == 1 else None


def keyword(arg: Arg, *, optional: bool = False, constant: bool = True) -> str:
    """Write a keyword argument: its type and default."""
    kind = _accepted(arg.type)
    if arg.tensor and kind != "Any":
        kind += " | DataNode"
    default = None if arg.default in (UNSET, None) else arg.default
    if optional and (default is REQUIRED or not constant):
        default = None
    if default is REQUIRED:
        return f"{arg.name}: {kind}"
    if default is None and kind != "Any":
        kind += " | None"
    return f"{arg.name}: {kind} = {_literal(default)}"


def _accepted(expected: Any) -> str:
    if get_origin(expected) is list:
        (item,) = get_args(expected)
        return _ACCEPTED_LISTS.get(item, f"{item.__name__} | Sequence[{item.__name__}]")
    return _ACCEPTED.get(expected, getattr(expected, "__name__", "Any"))


def _literal(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, float) and not math.isfinite(value):
        return "..."
    if isinstance(value, str):
        quoted = repr(value)
        text = quoted if '"' in value else f'"{quoted[1:-1]}"'
    elif isinstance(value, (list, tuple)):
        text = f"[{', '.join(_literal(item) for item in value)}]"
    else:
        text = repr(value)
    return text if len(text) <= _LONGEST_DEFAULT else "..."
