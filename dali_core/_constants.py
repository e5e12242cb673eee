"""Constants of the user's program: numbers with a type, and tensors of numbers as arguments."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from dali_core._data_types import DALIDataType, to_dali_type
from dali_core._messages import shown
from dali_core._types import DALIImageType, DALIInterpType
from dali_core.errors import ArgumentTypeError, ArgumentValueError

_INTEGER_TYPES = (
    DALIDataType.BOOL,
    DALIDataType.INT8,
    DALIDataType.INT16,
    DALIDataType.INT32,
    DALIDataType.INT64,
    DALIDataType.UINT8,
    DALIDataType.UINT16,
    DALIDataType.UINT32,
    DALIDataType.UINT64,
)
_FLOAT_TYPES = (DALIDataType.FLOAT16, DALIDataType.FLOAT, DALIDataType.FLOAT64)
_RANGES = {
    DALIDataType.BOOL: range(2),
    **{DALIDataType[f"UINT{bits}"]: range(2**bits) for bits in (8, 16, 32, 64)},
    **{
        DALIDataType[f"INT{bits}"]: range(-(2 ** (bits - 1)), 2 ** (bits - 1))
        for bits in (8, 16, 32, 64)
    },
}
# Members of enumerations count as their numbers.
NUMBERS = (numbers.Real, DALIDataType, DALIImageType, DALIInterpType)
# Without a wish, numbers of NumPy are no wider than those of Python.
_NARROWED = {
    DALIDataType.INT64: DALIDataType.INT32,
    DALIDataType.UINT64: DALIDataType.UINT32,
    DALIDataType.FLOAT64: DALIDataType.FLOAT,
}


class ScalarConstant:
    """A number in an expression, together with the type that it counts as.

    `Constant` makes these. Expressions take numbers of Python as well, which count as ``BOOL``,
    ``INT32`` or ``FLOAT``; a constant may be of any other type: ``image * Constant(2).uint8()`` is
    of type ``UINT8``. Arithmetic with constants alone is left to Python's numbers.

    Parameters
    ----------
    value : bool, int or float
        The number; an array of one element serves as well. It becomes a number of the kind of
        `dtype`, which for integers cuts off the fraction.
    dtype : DALIDataType, optional
        Type; by default that of the number.

    Attributes
    ----------
    value : bool, int or float
        The number.
    dtype : DALIDataType
        Its type.
    shape : list
        Always empty.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, dtype: DALIDataType | None = None) -> None:
        own = None
        if getattr(value, "size", None) == 1 and hasattr(value, "item"):
            own = to_dali_type(value.dtype)
            # As everywhere, floating point numbers are no wider than needed without being asked to.
            own = DALIDataType.FLOAT if own is DALIDataType.FLOAT64 else own
            value = value.item()
        if not isinstance(value, numbers.Real):
            raise ArgumentTypeError(
                f"ScalarConstant: value must be a bool, an int or a float (got {shown(value)}, a "
                f"{type(value).__name__}). Use types.Constant for lists and arrays."
            )
        if dtype is None:
            is_integer = isinstance(value, numbers.Integral)
            dtype = own or (
                DALIDataType.BOOL
                if isinstance(value, bool)
                else DALIDataType.INT32
                if is_integer
                else DALIDataType.FLOAT
            )
        if dtype not in (*_INTEGER_TYPES, *_FLOAT_TYPES):
            raise ArgumentTypeError(
                f"ScalarConstant: dtype must be a type of numbers (got {dtype!r}). Use a type such "
                "as types.FLOAT."
            )
        self.dtype = dtype
        self.shape: list[int] = []
        number = value if isinstance(value, (int, float)) else float(value)
        convert = bool if dtype is DALIDataType.BOOL else int if dtype in _INTEGER_TYPES else float
        self.value: bool | int | float = convert(number)

    def bool(self) -> ScalarConstant:
        """Return the same number as ``BOOL``."""
        return ScalarConstant(self.value, DALIDataType.BOOL)

    def int8(self) -> ScalarConstant:
        """Return the same number as ``INT8``."""
        return ScalarConstant(self.value, DALIDataType.INT8)

    def int16(self) -> ScalarConstant:
        """Return the same number as ``INT16``."""
        return ScalarConstant(self.value, DALIDataType.INT16)

    def int32(self) -> ScalarConstant:
        """Return the same number as ``INT32``."""
        return ScalarConstant(self.value, DALIDataType.INT32)

    def int64(self) -> ScalarConstant:
        """Return the same number as ``INT64``."""
        return ScalarConstant(self.value, DALIDataType.INT64)

    def uint8(self) -> ScalarConstant:
        """Return the same number as ``UINT8``."""
        return ScalarConstant(self.value, DALIDataType.UINT8)

    def uint16(self) -> ScalarConstant:
        """Return the same number as ``UINT16``."""
        return ScalarConstant(self.value, DALIDataType.UINT16)

    def uint32(self) -> ScalarConstant:
        """Return the same number as ``UINT32``."""
        return ScalarConstant(self.value, DALIDataType.UINT32)

    def uint64(self) -> ScalarConstant:
        """Return the same number as ``UINT64``."""
        return ScalarConstant(self.value, DALIDataType.UINT64)

    def float16(self) -> ScalarConstant:
        """Return the same number as ``FLOAT16``."""
        return ScalarConstant(self.value, DALIDataType.FLOAT16)

    def float32(self) -> ScalarConstant:
        """Return the same number as ``FLOAT``."""
        return ScalarConstant(self.value, DALIDataType.FLOAT)

    def float64(self) -> ScalarConstant:
        """Return the same number as ``FLOAT64``."""
        return ScalarConstant(self.value, DALIDataType.FLOAT64)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, ScalarConstant):
            return (self.value, self.dtype) == (other.value, other.dtype)
        return NotImplemented

    def __bool__(self) -> Any:
        return bool(self._integer("bool"))

    def __int__(self) -> Any:
        return int(self._integer("int"))

    def __float__(self) -> Any:
        if self.dtype not in _FLOAT_TYPES:
            raise ArgumentTypeError(
                f"float: a constant must be of floating point type (got {self}). Use .float32()."
            )
        return float(self.value)

    def _integer(self, what: str) -> Any:
        if self.dtype not in _INTEGER_TYPES:
            raise ArgumentTypeError(
                f"{what}: a constant must be of integer type or BOOL (got {self}). Use .int32()."
            )
        return self.value

    def __str__(self) -> str:
        return f"{self.value}:{type(self.dtype).__name__}.{self.dtype.name}"

    def __repr__(self) -> str:
        return repr(self.value)


def is_array(value: Any) -> bool:
    """Return whether a value is an array of NumPy or something that converts to one."""
    return not isinstance(value, type) and any(
        hasattr(value, name) for name in ("__array__", "__array_interface__", "__dlpack__")
    )


def is_constant(value: Any) -> bool:
    """Return whether a value means the same tensor for every sample."""
    return isinstance(value, (*NUMBERS, list, tuple, ScalarConstant)) or is_array(value)


def check_range(value: int, dtype: DALIDataType) -> None:
    """Check that an integer fits into an integer type.

    Raises
    ------
    ArgumentValueError
        If it does not.
    """
    if dtype in _RANGES and value not in _RANGES[dtype]:
        raise ArgumentValueError(
            f"integers must fit into {dtype.name} (got {shown(value)}). "
            "Use types.Constant with another dtype."
        )


def as_array(value: Any) -> Any:
    """Convert what `is_array` accepts to an array of NumPy.

    Raises
    ------
    ArgumentTypeError
        If it is in the memory of a device, say, or has no type of numbers.
    """
    import numpy

    try:
        convert: Any = (
            numpy.asarray
            if hasattr(value, "__array__") or hasattr(value, "__array_interface__")
            else numpy.from_dlpack
        )
        array = convert(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"its elements are of type {array.dtype}")
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise ArgumentTypeError(
            f"arrays must hold numbers in host memory (got a {type(value).__name__}: {error}). "
            "Convert it with numpy.asarray first."
        ) from error
    return array


def constant_arguments(
    value: Any, dtype: DALIDataType | None = None, shape: Sequence[int] | None = None
) -> dict[str, Any]:
    """Describe a tensor of constants by numbers, type and shape.

    Parameters
    ----------
    value : object
        What `is_constant` accepts; lists may be nested, of equal lengths.
    dtype : DALIDataType, optional
        Type of the tensor. By default that of an array, a NumPy number or a `ScalarConstant`, but
        at most 32 bits wide; for Python's numbers ``BOOL``, ``INT32``, or ``FLOAT`` if there is a
        float.
    shape : sequence of int, optional
        Shape of the tensor; by default that of the value.

    Returns
    -------
    dict
        ``fdata`` or ``idata``, ``dtype`` and ``shape``.

    Raises
    ------
    ArgumentTypeError
        If a list is ragged or holds something else than numbers.
    ArgumentValueError
        If an integer does not fit.
    """
    own: DALIDataType | None = None
    if isinstance(value, ScalarConstant):
        own, found, flat = value.dtype, [], [value.value]
    elif is_array(value):
        array = as_array(value)
        wide = to_dali_type(array.dtype)
        own, found, flat = _NARROWED.get(wide, wide), list(array.shape), array.ravel().tolist()
    else:
        found, flat = _flatten(value)
    are_integers = bool(flat) and all(isinstance(number, numbers.Integral) for number in flat)
    if own is None:
        are_bool = are_integers and all(isinstance(number, bool) for number in flat)
        own = (
            DALIDataType.BOOL
            if are_bool
            else DALIDataType.INT32
            if are_integers
            else DALIDataType.FLOAT
        )
    numbers_of: dict[str, Any]
    if are_integers:
        numbers_of = {"idata": [int(number) for number in flat]}
        for number in numbers_of["idata"] if dtype is None else ():
            check_range(number, own)
    else:
        numbers_of = {"fdata": list(map(_as_float, flat))}
    return {
        **numbers_of,
        "dtype": dtype or own,
        "shape": found if shape is None else list(shape),
    }


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError as error:
        raise ArgumentValueError(
            f"numbers must fit into floats of 64 bits (got {shown(number)}). Pass smaller ones."
        ) from error


def _flatten(value: Any) -> tuple[list[int], list[Any]]:
    """Return the shape of a nested list, and its numbers in order."""
    if isinstance(value, ScalarConstant):
        return [], [value.value]
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, NUMBERS):
        return [], [value if isinstance(value, numbers.Real) else int(value)]
    if not isinstance(value, (list, tuple)):
        raise ArgumentTypeError(
            f"lists must be of numbers (got {shown(value)}, a {type(value).__name__}). Convert it."
        )
    parts = [_flatten(entry) for entry in value]
    shapes = {tuple(shape) for shape, _ in parts}
    if len(shapes) > 1:
        raise ArgumentTypeError(
            f"lists must have equal lengths (got shapes {sorted(shapes)}). Pad them."
        )
    inner = list(shapes.pop()) if shapes else []
    return [len(parts), *inner], [number for _, flat in parts for number in flat]
