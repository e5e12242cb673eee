"""Merges what the two sides of a branch give."""

from __future__ import annotations

import enum
import numbers
from collections.abc import Sequence
from typing import Any

from dali_core._constants import is_constant
from dali_core._graph.constants import add_constant
from dali_core._graph.graph import add_operator
from dali_core._graph.node import DataNode
from dali_core._registry.specs import spec_of_role
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError
from dali_core.pipeline.conditionals.split import UNDEFINED, NoneOf, Split, predicate


class Unmergeable(Exception):  # noqa: N818 (becomes a GraphError that names the variable)
    """The values of both sides cannot become one."""


def merge(split: Split, yes: Any, no: Any, *, any_scope: bool = False) -> Any:
    """Merge two values.

    Parameters
    ----------
    split : Split
        The branch.
    yes, no : object
        What its two sides give: results of operators, numbers, arrays, or equal structures
        (tuples, lists and dicts) of these.
    any_scope : bool
        Whether values may exist for some of the samples of a side only, since others do not matter.

    Returns
    -------
    object
        The same object if both sides have it; otherwise a result of an operator, or such a
        structure.

    Raises
    ------
    Unmergeable
        If the structures differ, or hold something else.
    """
    if yes is no:
        return yes
    if isinstance(yes, (tuple, list)) and type(yes) is type(no) and len(yes) == len(no):
        pairs = zip(yes, no, strict=True)
        merged = [merge(split, one, other, any_scope=any_scope) for one, other in pairs]
        is_named = hasattr(yes, "_fields")
        return type(yes)(*merged) if is_named else type(yes)(merged)
    if isinstance(yes, dict) and isinstance(no, dict) and list(yes) == list(no):
        return {key: merge(split, yes[key], no[key], any_scope=any_scope) for key in yes}
    if _is_datum(yes) and _is_datum(no):
        return merge_nodes(split, yes, no, any_scope=any_scope)
    if isinstance(yes, (str, bytes, enum.Enum)) and type(yes) is type(no) and yes == no:
        return yes
    raise Unmergeable(f"got {_described(yes)} and {_described(no)}")


def merge_nodes(split: Split, yes: Any, no: Any, *, any_scope: bool = False) -> DataNode:
    """Merge two results of operators or numbers into the result of an operator."""
    sides = {side: _as_node(split, side, value) for side, value in ((True, yes), (False, no))}
    for side, value in sides.items():
        if not any_scope and not value.source.is_within(split.inside(side)):
            raise GraphError(
                f"{value.source.where}: {value.name!r} must exist for all samples that it is used "
                "for (got one that was made in a branch that others do not take). Assign it to a "
                "variable in both branches."
            )
    first, second = sides[not split.is_negated], sides[split.is_negated]
    merged = add_operator(
        spec_of_role("merge"), (split.predicate, first, second), {"title": split.title}
    )
    assert isinstance(merged, DataNode)
    return merged


def merge_flags(split: Split, test: DataNode | NoneOf, yes: Any, no: Any) -> Any:
    """Merge two flags: booleans of Python, or scalars of booleans.

    Parameters
    ----------
    split : Split
        The branch.
    test : DataNode or NoneOf
        What it depends on.
    yes, no : bool or DataNode
        The flag on its two sides.

    Returns
    -------
    bool or DataNode
        The flag afterwards; a boolean where it is the same for all samples.
    """
    before = no
    if isinstance(test, NoneOf) and len(test.flags) == 1 and no is test.flags[0]:
        no = True  # where the flag is set, it is
        if yes is False:
            return before
    if yes is no:
        return yes
    if yes is UNDEFINED or no is UNDEFINED:
        return no if yes is UNDEFINED else yes
    if isinstance(yes, bool) and isinstance(no, bool):
        is_predicate = yes != split.is_negated
        return split.predicate if is_predicate else predicate(split.predicate, "not", negated=True)
    return merge_nodes(split, yes, before, any_scope=True)


def _is_datum(value: Any) -> bool:
    return isinstance(value, DataNode) or (
        is_constant(value) and not isinstance(value, (list, tuple))
    )


def _as_node(split: Split, side: bool, value: Any) -> DataNode:
    if isinstance(value, DataNode):
        return value
    with split.side(side):
        try:
            return add_constant(value)
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise Unmergeable(str(error)) from error


def _described(value: Any) -> str:
    if value is None or isinstance(value, (DataNode, numbers.Real, str)):
        return repr(value)
    if isinstance(value, Sequence):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict with keys {list(value)}"
    return f"a {type(value).__name__}"
