"""Functions that transformed programs call: every condition in them ends up here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dali_core._call.location import user_location
from dali_core._graph.node import DataNode
from dali_core.errors import GraphError
from dali_core.pipeline.conditionals.branches import Branch as branch  # noqa: N813
from dali_core.pipeline.conditionals.logic import all_of, any_of, negation
from dali_core.pipeline.conditionals.merging import Unmergeable, merge
from dali_core.pipeline.conditionals.split import NoneOf, Split

__all__ = [
    "all_of",
    "any_of",
    "branch",
    "if_expression",
    "is_over",
    "negation",
    "none_of",
    "plain",
    "while_is_over",
]


def if_expression(test: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """Evaluate ``yes() if test else no()``."""
    if not isinstance(test, DataNode):
        return yes() if test else no()
    split = Split(test)
    with split.side(True):
        first = yes()
    with split.side(False):
        second = no()
    try:
        return merge(split, first, second)
    except Unmergeable as problem:
        raise GraphError(
            f"if at {user_location()}: both values of a conditional expression must be alike "
            f"({problem}). Give both the same structure of numbers and results of operators."
        ) from problem


def plain(test: Any) -> Any:
    """Return a condition that must not be data."""
    if isinstance(test, (DataNode, NoneOf)):
        raise GraphError(
            f"Condition at {user_location()}: must not be about data where `yield`, `await` or "
            "`:=` depend on it, nor in generators and coroutines. Take them out."
        )
    return test


def none_of(*flags: bool | DataNode) -> bool | NoneOf:
    """Return for which samples none of the flags is set."""
    if any(flag is True for flag in flags):
        return False
    nodes = tuple(flag for flag in flags if isinstance(flag, DataNode))
    return NoneOf(nodes) if nodes else True


def is_over(*flags: bool | DataNode) -> bool:
    """Return whether one of the flags is set for all samples."""
    return any(flag is True for flag in flags)


def while_is_over(*flags: bool | DataNode) -> bool:
    """Return whether a loop that might never end is over."""
    if any(isinstance(flag, DataNode) for flag in flags) and not is_over(*flags):
        raise GraphError(
            f"while at {user_location()}: must not be left on a condition about data, since the "
            "number of rounds must be known when the pipeline is defined. Use `for ... in range`."
        )
    return is_over(*flags)
