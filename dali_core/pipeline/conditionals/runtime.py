"""What transformed programs call: every condition in them ends up here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dali_core._graph.context import current_pipeline, user_location
from dali_core._graph.node import DataNode
from dali_core.errors import ArgumentTypeError, GraphError
from dali_core.pipeline.conditionals.branches import Branch as branch  # noqa: N813
from dali_core.pipeline.conditionals.branches import NoneOf, Split, predicate
from dali_core.pipeline.conditionals.conversion import convert as converted
from dali_core.pipeline.conditionals.merging import Unmergeable, merge, merge_nodes

__all__ = [
    "all_of",
    "any_of",
    "branch",
    "convert",
    "if_expression",
    "is_over",
    "negation",
    "none_of",
    "plain",
    "while_is_over",
]


def convert(function: Any) -> Any:
    """Convert what is about to be called, if a pipeline is being defined.

    Sources and the like that were defined there run as they are later on.
    """
    return function if current_pipeline() is None else converted(function)


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


def all_of(value: Any, *others: Callable[[], Any]) -> Any:
    """Evaluate ``value and others[0]() and ...``."""
    for number, other in enumerate(others):
        if isinstance(value, DataNode):
            behind = others[number + 1 :]
            return _logical("and", value, lambda: all_of(other(), *behind))  # noqa: B023
        if not value:
            return value
        value = other()
    return value


def any_of(value: Any, *others: Callable[[], Any]) -> Any:
    """Evaluate ``value or others[0]() or ...``."""
    for number, other in enumerate(others):
        if isinstance(value, DataNode):
            behind = others[number + 1 :]
            return _logical("or", value, lambda: any_of(other(), *behind))  # noqa: B023
        if value:
            return value
        value = other()
    return value


def _logical(keyword: str, left: DataNode, right: Callable[[], Any]) -> DataNode:
    """Evaluate the right side for those samples only for which it decides."""
    split = Split(left, keyword)
    decides = keyword == "and"
    with split.side(decides):
        value = right()
        if isinstance(value, DataNode):
            value = predicate(value, keyword)
        elif not isinstance(value, bool):
            raise ArgumentTypeError(
                f"{keyword} at {user_location()}: what `{keyword}` is applied to must be data or a "
                f"bool (got {value!r}, a {type(value).__name__}). Convert it."
            )
    if value is decides:
        return split.predicate
    sides = {decides: value, not decides: split.predicate}
    return merge_nodes(split, sides[True], sides[False])


def negation(value: Any) -> Any:
    """Evaluate ``not value``."""
    return predicate(value, "not", negated=True) if isinstance(value, DataNode) else not value


def plain(test: Any) -> Any:
    """Give a condition that must not be data."""
    if isinstance(test, (DataNode, NoneOf)):
        raise GraphError(
            f"Condition at {user_location()}: must not be about data where `yield`, `await` or "
            "`:=` depend on it, nor in generators and coroutines. Take them out."
        )
    return test


def none_of(*flags: bool | DataNode) -> bool | NoneOf:
    """Tell for which samples none of the flags is set."""
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
