"""`and`, `or` and `not` of data, while a pipeline is being defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dali_core._call.location import user_location
from dali_core._graph.node import DataNode
from dali_core.errors import ArgumentTypeError
from dali_core.pipeline.conditionals.merging import merge_nodes
from dali_core.pipeline.conditionals.split import Split, predicate


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
