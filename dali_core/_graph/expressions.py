"""Records expressions: functions of elements, and indices in brackets."""

from __future__ import annotations

import operator
from typing import Any

from dali_core._graph.build import add_operator
from dali_core._graph.constants import as_operand
from dali_core._graph.context import user_location
from dali_core._graph.node import DataNode
from dali_core._graph.registry import spec_of_role
from dali_core._messages import shown
from dali_core._recorder import recorder
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.types import DALIDataType, ScalarConstant

_FLOATS = (DALIDataType.FLOAT16, DALIDataType.FLOAT, DALIDataType.FLOAT64)


class NewAxis:
    """A new dimension of extent 1 in an index: ``x[dali_core.newaxis]``.

    Calling it names the dimension in the layout: ``x[:, dali_core.newaxis("C")]``. Without a name,
    the result has no layout. Either all new dimensions of an index have names, or none.

    Parameters
    ----------
    name : str, optional
        Letter of the dimension.
    """

    def __init__(self, name: str | None = None) -> None:
        if name is not None and (not isinstance(name, str) or len(name) != 1):
            raise ArgumentValueError(
                f"newaxis at {user_location()}: name must be one letter (got {name!r}). Pass a "
                "letter of the layout, such as 'C'."
            )
        self.name = name

    def __call__(self, name: str | None = None) -> NewAxis:
        """Return a new dimension with a name."""
        return NewAxis(name)

    def __repr__(self) -> str:
        return "newaxis" if self.name is None else f"newaxis({self.name!r})"


newaxis = NewAxis()
"""A new dimension of extent 1 in an index."""


def arithmetic(function: str, *operands: Any) -> DataNode:
    """Record a function of the elements of some operands.

    Parameters
    ----------
    function : str
        Name of the function.
    *operands : object
        Nodes, constants, numbers, lists or arrays.

    Returns
    -------
    DataNode
        The result.
    """
    spec = spec_of_role("expression")
    where = f"{spec.title_for({'function': function})} at {user_location()}"
    inputs: list[DataNode] = []
    numbers: list[int] = []
    constants: list[ScalarConstant] = []
    for operand in operands:
        value = as_operand(operand, where)
        if isinstance(value, DataNode):
            numbers.append(len(inputs))
            inputs.append(value)
        else:
            numbers.append(-1)
            constants.append(value)
    integers = [int(0 if entry.dtype in _FLOATS else entry.value) for entry in constants]
    result = add_operator(
        spec,
        tuple(inputs),
        {
            "function": function,
            "operands": numbers,
            "constant_types": [int(entry.dtype) for entry in constants],
            "constant_integers": [_signed(value) for value in integers],
            "constant_reals": [float(entry.value) for entry in constants],
        },
    )
    assert isinstance(result, DataNode)
    return result


def _signed(value: int) -> int:
    """Return the bits of a 64-bit integer as one with a sign."""
    return value - 2**64 if value >= 2**63 else value


# Kinds of entries and sources of numbers, as the native code of the role "index" numbers them.
_INDEX, _SLICE, _NEW_AXIS, _ELLIPSIS = range(4)
_ABSENT, _CONSTANT, _INPUT = range(3)


def subscript(value: DataNode, entries: Any) -> DataNode:
    """Record ``value[entries]``."""
    return _Subscript(value, entries if isinstance(entries, tuple) else (entries,)).record()


class _Subscript:
    def __init__(self, value: DataNode, entries: tuple[Any, ...]) -> None:
        self._entries = entries
        self._where = f"operator [] at {user_location()}"
        self._inputs: list[DataNode] = [value]
        self._names = [entry.name for entry in entries if isinstance(entry, NewAxis)]

    def record(self) -> DataNode:
        if sum(entry is Ellipsis for entry in self._entries) > 1:
            raise ArgumentValueError(
                f"{self._where}: there must be at most one ellipsis (got more). Use : for single "
                "dimensions."
            )
        if None in self._names and any(name is not None for name in self._names):
            raise ArgumentValueError(
                f"{self._where}: either all new axes must have names or none (got "
                f"{self._names}). Name all of them."
            )
        numbers = [number for entry in self._entries for number in self._described(entry)]
        result = add_operator(spec_of_role("index"), tuple(self._inputs), {"entries": numbers})
        assert isinstance(result, DataNode)
        return result

    def _described(self, entry: Any) -> list[int]:
        """Return the seven numbers of an entry."""
        nothing = [_ABSENT, 0]
        if entry is Ellipsis:
            return [_ELLIPSIS, *nothing * 3]
        if isinstance(entry, NewAxis):
            name = [_CONSTANT, ord(entry.name)] if entry.name is not None else nothing
            return [_NEW_AXIS, *name, *nothing * 2]
        if entry is None:
            return [_SLICE, *nothing * 3]  # the reference takes it for a missing index
        if isinstance(entry, slice):
            if not isinstance(entry.step, DataNode) and self._bound(entry.step) == [_CONSTANT, 0]:
                raise ArgumentValueError(
                    f"{self._where}: steps of slices must not be 0 (got 0). Use 1 for all elements."
                )
            return [
                _SLICE,
                *self._bound(entry.start),
                *self._bound(entry.stop),
                *self._bound(entry.step),
            ]
        return [_INDEX, *self._bound(entry), *nothing * 2]

    def _bound(self, value: Any) -> list[int]:
        """Return source and value of an index or of a bound of a slice."""
        if value is None:
            return [_ABSENT, 0]
        if isinstance(value, DataNode):
            self._inputs.append(value)
            return [_INPUT, len(self._inputs) - 1]
        if isinstance(value, ScalarConstant):
            value = value.value
        if getattr(value, "size", None) == 1 and hasattr(value, "item"):
            value = value.item()
        try:
            number = operator.index(value)
        except TypeError as error:
            raise ArgumentTypeError(
                f"{self._where}: indices must be integers, slices, ellipses, newaxis or DataNodes "
                f"(got {shown(value)}, a {type(value).__name__}). Convert it."
            ) from error
        if not -(2**63) <= number < 2**63:
            raise ArgumentValueError(
                f"{self._where}: indices must fit into 64 bits (got {shown(number)})."
            )
        return [_CONSTANT, number]


recorder.arithmetic = arithmetic
recorder.subscript = subscript
