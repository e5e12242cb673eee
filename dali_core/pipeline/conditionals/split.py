"""The two sides of a decision on data, while a pipeline is being defined."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from dali_core._call.location import user_location
from dali_core._graph.graph import Graph, add_operator, conditions_with, current_graph
from dali_core._graph.node import Condition, DataNode
from dali_core._registry.specs import spec_of_role
from dali_core.errors import GraphError


class _Undefined:
    """What a variable without a value has."""


UNDEFINED: Final = _Undefined()


@dataclass(frozen=True, eq=False)
class NoneOf:
    """The samples for which several flags, scalars of booleans, are all False."""

    flags: tuple[DataNode, ...]


def predicate(value: DataNode, keyword: str, *, negated: bool = False) -> DataNode:
    """Return the truth value of data as a scalar of booleans.

    Parameters
    ----------
    value : DataNode
        Scalars.
    keyword : str
        Where the value stands: ``"if"``, ``"and"``, ``"or"`` or ``"not"``.
    negated : bool
        Whether to give the opposite.
    """
    if not isinstance(current_graph(), Graph):
        raise GraphError(
            f"{keyword} at {user_location()}: decisions on data must be made while a pipeline is "
            "being defined (none is). Decide inside a @pipeline_def function."
        )
    spec = spec_of_role("predicate")
    if value.source.spec is spec and not negated:
        return current_graph().own(value, keyword)
    result = add_operator(spec, (value,), {"keyword": keyword, "negated": negated})
    assert isinstance(result, DataNode)
    return result


class Split:
    """The two groups of samples for which a condition holds, or does not.

    Parameters
    ----------
    test : DataNode
        Scalars.
    keyword : str
        Where they stand; see `predicate`.
    title : str, optional
        What messages call the place where both sides join, if it is no operator.
    is_negated : bool
        Whether the condition holds where they are False.
    is_inherited : bool
        Whether operators on values of a side belong to it, too, wherever they are called.

    Attributes
    ----------
    predicate : DataNode
        Scalars of booleans.
    is_negated : bool
        Whether the condition holds where the predicate is False.
    outside : tuple of Condition
        The conditions around the branch.
    """

    def __init__(
        self,
        test: DataNode,
        keyword: str = "if",
        *,
        title: str | None = None,
        is_negated: bool = False,
        is_inherited: bool = False,
    ) -> None:
        self.title = title
        self.is_negated = is_negated
        self.predicate = predicate(test, keyword)
        self.graph: Graph = self.predicate.owner  # type: ignore[assignment]
        self.outside = conditions_with(self.graph, [self.predicate])
        self._conditions = {
            side: Condition(self.predicate, side != self.is_negated, is_inherited)
            for side in (True, False)
        }

    def inside(self, side: bool) -> tuple[Condition, ...]:
        """Return the conditions of a side: where the branch's condition is True, or False."""
        return (*self.outside, self._conditions[side])

    def side(self, side: bool) -> AbstractContextManager[None]:
        """Add operators to one side."""
        return self.graph.within(self.inside(side))
