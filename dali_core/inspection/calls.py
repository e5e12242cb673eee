"""Calls of operators as texts: name, line of the program, and arguments."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dali_core._call.arguments import all_args
from dali_core._graph.node import OperatorNode
from dali_core.errors import title_of

_LONGEST_VALUE = 40
_MOST_ARGUMENTS = 6


@dataclass(frozen=True)
class OperatorCall:
    """A call of an operator.

    Attributes
    ----------
    operator : str
        Name of the operator, such as ``"fn.resize"``.
    place : str
        Name of the file, without its folders, and line.
    location : str
        The same with folders.
    arguments : str
        Arguments that differ from their defaults, such as ``"size=[224, 224]"``.
    """

    operator: str
    place: str
    location: str
    arguments: str


def operator_call(node: OperatorNode) -> OperatorCall:
    """Describe the call that made a node."""
    place = node.location.replace("\\", "/").rpartition("/")[2]
    return OperatorCall(title_of(node.operator), place, node.location, _arguments(node))


def _arguments(node: OperatorNode) -> str:
    defaults = {arg.name: arg.default for arg in all_args(node.spec)}
    given = [
        f"{name}={_value_text(value)}"
        for name, value in node.arguments.items()
        if name != "name" and not _is_same(value, defaults.get(name))
    ]
    given += [f"{name}={value.name}" for name, value in node.tensor_arguments.items()]
    if len(given) > _MOST_ARGUMENTS:
        given[_MOST_ARGUMENTS:] = ["..."]
    return ", ".join(given)


def _is_same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and repr(value) == repr(default)


def _value_text(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return value.name
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    text = repr(value)
    if len(text) <= _LONGEST_VALUE:
        return text
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return f"[{len(value)} elements]"
    if isinstance(value, str):
        return f"'...{value[-_LONGEST_VALUE:]}'"
    return f"{text[:_LONGEST_VALUE]}..."
