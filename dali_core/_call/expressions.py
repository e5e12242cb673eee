"""Expressions of values: Python's operators, functions of elements, and indices in brackets."""

from __future__ import annotations

import enum
import operator
from typing import Any, TypeAlias, TypeVar

from dali_core._call.location import user_location
from dali_core._call.values import Input, Value
from dali_core._constants import (
    ScalarConstant,
    as_array,
    check_range,
    constant_arguments,
    is_array,
    is_constant,
)
from dali_core._data_types import DALIDataType
from dali_core._messages import shown
from dali_core._registry.specs import spec_of_role
from dali_core._spec import OpSpec, Source
from dali_core.errors import ArgumentTypeError, ArgumentValueError

Request: TypeAlias = tuple[OpSpec, tuple[Any, ...], dict[str, Any]]
"""A call to be made: an operator, its inputs, and its keyword arguments."""

_Self = TypeVar("_Self", bound="Expressions")
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


class Expressions(Value):
    """A value with operators of Python, and methods that call operators of the library."""

    __slots__ = ()

    # NumPy's arrays and numbers leave operators with nodes to the nodes.
    __array_ufunc__ = None

    # Nodes are equal to nothing but themselves where they are keys; `==` is an expression.
    __hash__ = object.__hash__

    def __add__(self: _Self, other: Input) -> _Self:
        return self._computed("add", self, other)

    def __radd__(self: _Self, other: Input) -> _Self:
        return self._computed("add", _of_python(other), self)

    def __sub__(self: _Self, other: Input) -> _Self:
        return self._computed("sub", self, other)

    def __rsub__(self: _Self, other: Input) -> _Self:
        return self._computed("sub", _of_python(other), self)

    def __mul__(self: _Self, other: Input) -> _Self:
        return self._computed("mul", self, other)

    def __rmul__(self: _Self, other: Input) -> _Self:
        return self._computed("mul", _of_python(other), self)

    def __truediv__(self: _Self, other: Input) -> _Self:
        return self._computed("truediv", self, other)

    def __rtruediv__(self: _Self, other: Input) -> _Self:
        return self._computed("truediv", _of_python(other), self)

    def __floordiv__(self: _Self, other: Input) -> _Self:
        return self._computed("floordiv", self, other)

    def __rfloordiv__(self: _Self, other: Input) -> _Self:
        return self._computed("floordiv", _of_python(other), self)

    def __mod__(self: _Self, other: Input) -> _Self:
        return self._computed("mod", self, other)

    def __rmod__(self: _Self, other: Input) -> _Self:
        return self._computed("mod", _of_python(other), self)

    def __pow__(self: _Self, other: Input) -> _Self:
        return self._computed("pow", self, other)

    def __rpow__(self: _Self, other: Input) -> _Self:
        return self._computed("pow", _of_python(other), self)

    def __and__(self: _Self, other: Input) -> _Self:
        return self._computed("and", self, other)

    def __rand__(self: _Self, other: Input) -> _Self:
        return self._computed("and", _of_python(other), self)

    def __or__(self: _Self, other: Input) -> _Self:
        return self._computed("or", self, other)

    def __ror__(self: _Self, other: Input) -> _Self:
        return self._computed("or", _of_python(other), self)

    def __xor__(self: _Self, other: Input) -> _Self:
        return self._computed("xor", self, other)

    def __rxor__(self: _Self, other: Input) -> _Self:
        return self._computed("xor", _of_python(other), self)

    def __lshift__(self: _Self, other: Input) -> _Self:
        return self._computed("lshift", self, other)

    def __rlshift__(self: _Self, other: Input) -> _Self:
        return self._computed("lshift", _of_python(other), self)

    def __rshift__(self: _Self, other: Input) -> _Self:
        return self._computed("rshift", self, other)

    def __rrshift__(self: _Self, other: Input) -> _Self:
        return self._computed("rshift", _of_python(other), self)

    def __eq__(self: _Self, other: Input) -> _Self:  # type: ignore[override]
        return self._computed("eq", self, other)

    def __ne__(self: _Self, other: Input) -> _Self:  # type: ignore[override]
        return self._computed("ne", self, other)

    def __lt__(self: _Self, other: Input) -> _Self:
        return self._computed("lt", self, other)

    def __le__(self: _Self, other: Input) -> _Self:
        return self._computed("le", self, other)

    def __gt__(self: _Self, other: Input) -> _Self:
        return self._computed("gt", self, other)

    def __ge__(self: _Self, other: Input) -> _Self:
        return self._computed("ge", self, other)

    def __neg__(self: _Self) -> _Self:
        return self._computed("neg", self)

    def __abs__(self: _Self) -> _Self:
        return self._computed("abs", self)

    def __invert__(self: _Self) -> _Self:
        return self._computed("invert", self)

    def __pos__(self: _Self) -> _Self:
        return self

    def __getitem__(self: _Self, entries: Any) -> _Self:
        """Take elements: by integers, slices, an ellipsis, `dali_core.newaxis` or scalar nodes."""
        return self._called(*subscript(self, entries))

    def cpu(self: _Self) -> _Self:
        """Return the value in host memory: this node itself, or a copy of what is on the GPU."""
        return self if self.device == "cpu" else self._of_role("to host")

    def gpu(self: _Self) -> _Self:
        """Return the value on the pipeline's GPU: this node itself, or a copy from the host."""
        return self if self.device == "gpu" else self._of_role("to device")

    def shape(self: _Self, *, dtype: DALIDataType | None = None, device: str = "cpu") -> _Self:
        """Return the shape of each sample as data.

        Parameters
        ----------
        dtype : DALIDataType, optional
            Type of the result; by default ``INT64``.
        device : str
            ``"cpu"``, where the result is.
        """
        return self._of_role("shape", dtype=dtype, device=device)

    def property(self: _Self, key: str, *, device: str = "cpu") -> _Self:
        """Return a property of each sample as a text: a tensor of bytes.

        Parameters
        ----------
        key : str
            ``"source_info"``, the file that the sample came from, or ``"layout"``.
        device : str
            ``"cpu"``, where the result is.
        """
        return self._of_role("property", key=key, device=device)

    def source_info(self: _Self, *, device: str = "cpu") -> _Self:
        """Return the file that each sample came from: ``property("source_info")``."""
        return self.property("source_info", device=device)

    def _computed(self: _Self, function: str, *operands: Any) -> _Self:
        return self._called(*arithmetic(function, *operands))

    def _of_role(self: _Self, role: str, **keywords: Any) -> _Self:
        return self._called(spec_of_role(role), (self,), keywords)

    def _called(
        self: _Self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]
    ) -> _Self:
        result: _Self = self.owner.call(spec, inputs, keywords)
        return result


def _of_python(value: Any) -> Any:
    """Read a number of NumPy in front of an operator as the reference does: as one of Python."""
    import numpy

    return value.item() if isinstance(value, numpy.generic) else value


def arithmetic(function: str, *operands: Any) -> Request:
    """Return the call that computes a function of the elements of some operands.

    Parameters
    ----------
    function : str
        Name of the function.
    *operands : object
        Values, constants, numbers, lists or arrays.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If an operand is none of these.
    """
    spec = spec_of_role("expression")
    where = f"{spec.title_for({'function': function})} at {user_location()}"
    inputs: list[Value | Source] = []
    numbers: list[int] = []
    constants: list[ScalarConstant] = []
    for operand in operands:
        value = _as_operand(operand, where)
        if not isinstance(value, ScalarConstant):
            numbers.append(len(inputs))
            inputs.append(value)
        else:
            numbers.append(-1)
            constants.append(value)
    integers = [int(0 if entry.dtype in _FLOATS else entry.value) for entry in constants]
    keywords = {
        "function": function,
        "operands": numbers,
        "constant_types": [int(entry.dtype) for entry in constants],
        "constant_integers": [_signed(value) for value in integers],
        "constant_reals": [float(entry.value) for entry in constants],
    }
    return spec, tuple(inputs), keywords


def _as_operand(value: Any, where: str) -> Value | Source | ScalarConstant:
    """Return what an expression can compute with: a value, a call that gives one, or a number.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the value is neither, nor a list or an array.
    """
    if isinstance(value, Value):
        return value
    try:
        if isinstance(value, (list, tuple)) or (is_array(value) and as_array(value).ndim):
            return Source(spec_of_role("constant tensor"), constant_arguments(value))
        constant = value if isinstance(value, ScalarConstant) else ScalarConstant(value)
        if not isinstance(constant.value, float):
            check_range(constant.value, constant.dtype)
        return constant
    except (ArgumentTypeError, ArgumentValueError) as error:
        is_number = is_constant(value) and not isinstance(value, enum.Enum)
        if isinstance(error, ArgumentTypeError) and not is_number:
            error = ArgumentTypeError(
                f"operands must be DataNodes, numbers, lists or arrays (got {shown(value)}, a "
                f"{type(value).__name__}). Convert it."
            )
        raise type(error)(f"{where}: {error}") from error


def _signed(value: int) -> int:
    """Return the bits of a 64-bit integer as one with a sign."""
    return value - 2**64 if value >= 2**63 else value


# Kinds of entries and sources of numbers, as the native code of the role "index" numbers them.
_INDEX, _SLICE, _NEW_AXIS, _ELLIPSIS = range(4)
_ABSENT, _CONSTANT, _INPUT = range(3)


def subscript(value: Value, entries: Any) -> Request:
    """Return the call that computes ``value[entries]``."""
    return _Subscript(value, entries if isinstance(entries, tuple) else (entries,)).request()


class _Subscript:
    def __init__(self, value: Value, entries: tuple[Any, ...]) -> None:
        self._entries = entries
        self._where = f"operator [] at {user_location()}"
        self._inputs: list[Value] = [value]
        self._names = [entry.name for entry in entries if isinstance(entry, NewAxis)]

    def request(self) -> Request:
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
        return spec_of_role("index"), tuple(self._inputs), {"entries": numbers}

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
            if not isinstance(entry.step, Value) and self._bound(entry.step) == [_CONSTANT, 0]:
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
        if isinstance(value, Value):
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
