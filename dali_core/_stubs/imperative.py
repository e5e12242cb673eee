"""Stubs of `dynamic`, from the operators' descriptions and from what its modules export."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path

from dali_core._call import accepted_types
from dali_core._call.arguments import all_args
from dali_core._graph.namespaces import documentation
from dali_core._spec import Arg, OpSpec
from dali_core._stubs.operators import SOURCES, inputs_of, keyword
from dali_core._stubs.text import definition, first_line, stub
from dali_core.dynamic import _functions
from dali_core.dynamic._functions import is_callable, operator_documentation, path_of

_MODULE = "dali_core.dynamic"
_SOURCES = {
    **SOURCES,
    "Batch": f"{_MODULE}._batches",
    "Bool": accepted_types.__name__,
    "DType": f"{_MODULE}._dtypes",
    "ElementType": accepted_types.__name__,
    "ElementTypes": accepted_types.__name__,
    "Device": f"{_MODULE}._devices",
    "RNG": f"{_MODULE}._rng",
    "Reader": f"{_MODULE}._readers",
    "Tensor": f"{_MODULE}._tensors",
}


def imperative_stubs(specs: Sequence[OpSpec], package: Path) -> dict[str, str]:
    """Write the stubs of `dynamic`: for each group of operators, "" being the module itself.

    Parameters
    ----------
    specs : sequence of OpSpec
        All operators.
    package : Path
        The folder of this package.
    """
    groups: dict[str, list[tuple[str, OpSpec]]] = {"": []}
    for spec in specs:
        if not is_callable(spec):
            continue
        group, _, name = path_of(spec.name).rpartition(".")
        groups.setdefault(group, []).append((name, spec))
        while group:
            group = group.rpartition(".")[0]
            groups.setdefault(group, [])
    result = {}
    for group, members in groups.items():
        path = f"{_MODULE}.{group}" if group else _MODULE
        inner = sorted(o.rpartition(".")[2] for o in groups if o and o.rpartition(".")[0] == group)
        source = package.joinpath("dynamic", *filter(None, group.split(".")))
        file = source / "__init__.py" if source.is_dir() else source.with_suffix(".py")
        exported, doc = _exported(file) if file.exists() else ([], f"Operators of {group!r}.")
        body = "\n".join(line for name, spec in members for line in ("", *_written(name, spec)))
        submodules = [f"from {path} import {name} as {name}" for name in inner]
        own = {statement.rpartition(" as ")[2] for statement in exported}
        result[group] = stub(
            doc, body, own=own, found=_SOURCES, submodules=_merged(exported, submodules, path)
        )
    return result


def _merged(exported: Sequence[str], submodules: Sequence[str], path: str) -> list[str]:
    """Sort import statements by their modules; those of the module's own parts by names, too."""
    statements = [*submodules, *(entry for entry in exported if entry not in submodules)]

    def key(statement: str) -> tuple[str, str]:
        module = statement.split()[1]
        return module, statement if module == path else ""

    return sorted(statements, key=key)


def _exported(file: Path) -> tuple[list[str], str]:
    """Return the statements that export a module's names, and the first line of its docstring."""
    tree = ast.parse(file.read_text("utf-8"))
    statements = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        and all(alias.asname == alias.name for alias in node.names)
    ]
    return statements, first_line(ast.get_docstring(tree) or "")


def _written(name: str, spec: OpSpec) -> list[str]:
    if spec.reader is not None or spec.hands_to_reader:
        return _reader(name, spec)
    keywords = [
        _typed(arg) for arg in all_args(spec) if arg.name not in (*_functions.GONE, "device")
    ]
    keywords += ["batch_size: int | None = None", "device: str | Device | None = None"]
    if spec.random:
        keywords.append("rng: RNG | None = None")
    inputs = inputs_of(spec)
    is_value = spec.outputs == 1 and not spec.lists_one_output and inputs[0].endswith(": Input")
    doc = operator_documentation(spec)
    lines: list[str] = []
    of_any = [entry.replace(": Input", ": Any") for entry in inputs]
    if is_value:  # a batch gives a batch; what else there is decides for the others
        of_batch = [inputs[0].replace(": Input", ": Batch"), *of_any[1:]]
        lines += ["@overload", *definition(name, [*of_batch, *keywords], "Batch"), "@overload"]
    return [*lines, *definition(name, [*of_any, *keywords], "Any", doc)]


def _typed(arg: Arg) -> str:
    """Write a keyword argument, without names that the module has for other things."""
    name, _, rest = keyword(arg).partition(": ")
    kind, equals, default = rest.partition(" = ")
    kind = kind.replace("DataNode", "Tensor | Batch")
    kind = re.sub(r"\bDataType(s?)\b", r"DType | ElementType\1", kind)
    kind = re.sub(r"\bbool\b", "Bool", kind)
    return f"{name}: {kind}{equals}{default}"


def _reader(name: str, spec: OpSpec) -> list[str]:
    own = ("name", "device", "preserve", "bytes_per_sample_hint")
    keywords = [
        _typed(arg).replace("Tensor | Batch", "Any")
        for arg in all_args(spec)
        if arg.name not in own
    ]
    first = [
        "self",
        "max_batch_size: int | None = None",
        "name: str | None = None",
        "device: str | Device | None = None",
        "num_inputs: int | None = None",
        "*",
        "enable_checkpointing: Bool = False",
    ]
    return [
        f"class {name}(Reader):",
        f'    """{first_line(documentation(spec))}',
        "",
        f"    The arguments are those of `fn.{spec.name}`.",
        '    """',
        "",
        *definition("__init__", [*first, *keywords], "None", indent="    "),
    ]
