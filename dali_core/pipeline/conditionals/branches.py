"""Branches on data, while a pipeline is being defined.

If a condition is data, both sides of a branch are traced, one after the other. The operators of a
side get a condition each, and are jumped over for the samples that do not take that side. What both
sides have assigned is merged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dali_core._call.location import user_location
from dali_core._graph.node import DataNode
from dali_core.errors import GraphError
from dali_core.pipeline.conditionals.jumps import PREFIX, RESULT
from dali_core.pipeline.conditionals.logic import any_of
from dali_core.pipeline.conditionals.merging import Unmergeable, merge, merge_flags
from dali_core.pipeline.conditionals.split import UNDEFINED, NoneOf, Split


def _split_by(test: DataNode | NoneOf) -> Split:
    if isinstance(test, DataNode):
        return Split(test)
    first, *others = test.flags
    return Split(any_of(first, *(partial(_itself, flag) for flag in others)), is_negated=True)


def _itself(value: DataNode) -> DataNode:
    return value


class Branch:
    """One run of an `if` statement; the transformed program drives it.

    Parameters
    ----------
    test : object
        The condition. If it is no data, one side runs as usual.
    has_else : bool
        Whether there is a second side.
    names : sequence of str
        What the sides assign.
    live : sequence of bool
        Whether it is read afterwards.
    getters : sequence of callable
        Give the values.

    Attributes
    ----------
    is_traced : bool
        Whether the condition is data, so that both sides run.
    runs : bool
        Whether the side that was entered last has to run.
    """

    def __init__(
        self,
        test: Any,
        has_else: bool = False,
        names: Sequence[str] = (),
        live: Sequence[bool] = (),
        getters: Sequence[Callable[[], Any]] = (),
    ) -> None:
        self.is_traced = isinstance(test, (DataNode, NoneOf))
        self.runs = False
        self._names, self._live, self._getters = names, live, getters
        if not self.is_traced:
            self._truth = bool(test)
            return
        self._has_else = has_else
        self._location = user_location()
        self._test = test
        self._split = _split_by(test)
        self._before = self._values()
        self._after: dict[bool, list[Any]] = {False: self._before}
        self._current: list[Any] = []
        self._wanted: list[Any] = []

    def side(self, side: bool) -> Branch:
        """Choose a side, to be used in a `with` statement."""
        self._side = side
        return self

    def __enter__(self) -> None:
        self.runs = self.is_traced or self._truth == self._side
        if self.is_traced:
            self._context = self._split.side(self._side)
            self._context.__enter__()

    def __exit__(self, *error: object) -> None:
        if self.is_traced:
            self._context.__exit__(None, None, None)

    def leave(self) -> None:
        """Note what the variables are at the end of a side."""
        if self.is_traced:
            self._after[self._side] = self._values()

    def settle(self) -> None:
        """After one of two sides: find the values from before. At the end: merge both."""
        self._current = self._after[self._side]
        if self._side and self._has_else:
            self._wanted = self._before
        else:
            self._wanted = [self._merged(number) for number in range(len(self._names))]

    def sets(self, number: int) -> bool:
        """Return whether a variable has to be set to `value`."""
        wanted = self._wanted[number]
        return wanted is not UNDEFINED and wanted is not self._current[number]

    def deletes(self, number: int) -> bool:
        """Return whether a variable has to be deleted."""
        return self._wanted[number] is UNDEFINED and self._current[number] is not UNDEFINED

    def value(self, number: int) -> Any:
        """Return the value that a variable has to be set to."""
        return self._wanted[number]

    def _values(self) -> list[Any]:
        values = []
        for get in self._getters:
            try:
                values.append(get())
            except (NameError, AttributeError, LookupError, TypeError):
                values.append(UNDEFINED)
        return values

    def _merged(self, number: int) -> Any:
        name = self._names[number]
        yes, no = self._after[True][number], self._after[False][number]
        if yes is no or not self._live[number]:
            return yes if yes is no else UNDEFINED
        is_missing = yes is UNDEFINED or no is UNDEFINED
        if name == RESULT and is_missing:
            return no if yes is UNDEFINED else yes
        if name.startswith(PREFIX) and name != RESULT:
            return merge_flags(self._split, self._test, yes, no)
        if is_missing:
            side = "if" if yes is UNDEFINED else "else"
            raise GraphError(
                f"if at {self._location}: {name!r} must be assigned in both branches, since it is "
                f"used afterwards (got none in the `{side}` branch). Assign it before the `if`, or "
                "in both branches."
            )
        try:
            return merge(self._split, yes, no, any_scope=name == RESULT)
        except Unmergeable as problem:
            what = "what is returned" if name == RESULT else repr(name)
            raise GraphError(
                f"if at {self._location}: {what} must be alike in both branches ({problem}). Give "
                "both the same structure of numbers and results of operators."
            ) from problem
