"""Constants of expressions: `types.Constant` and what it makes."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from dali_core._data_types import DALIDataType, to_dali_type
from dali_core._messages import shown
from dali_core._recorder import recorder
from dali_core.errors import ArgumentTypeError

if TYPE_CHECKING:
    from dali_core._graph.node import DataNode

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


@overload
def Constant(value: float, dtype: DALIDataType | None = None) -> ScalarConstant: ...


@overload
def Constant(
    value: Any,
    dtype: DALIDataType | None = None,
    shape: Sequence[int] | int | None = None,
    layout: str | None = None,
    device: str | None = None,
    **kwargs: Any,
) -> DataNode: ...


def Constant(  # noqa: N802 (the reference's name)
    value: Any,
    dtype: DALIDataType | None = None,
    shape: Sequence[int] | int | None = None,
    layout: str | None = None,
    device: str | None = None,
    **kwargs: Any,
) -> ScalarConstant | DataNode:
    """Make a constant for a pipeline that is being defined.

    Parameters
    ----------
    value : bool, int, float, list, or array
        The numbers. Arrays of NumPy, and what converts to them (PyTorch's tensors, say), keep shape
        and type, but types of 64 bits become ``INT32``, ``UINT32`` or ``FLOAT``.
    dtype : DALIDataType, optional
        Type of the constant; by default ``BOOL``, ``INT32`` or ``FLOAT`` for Python's numbers.
    shape : int or sequence of int, optional
        Shape; a single number fills it.
    layout : str, optional
        Layout: one letter a dimension.
    device : str, optional
        ``"cpu"``; makes a node of a single number, too.
    **kwargs
        More arguments of `fn.constant`, such as `name`.

    Returns
    -------
    ScalarConstant or DataNode
        For a single number and no other argument than `dtype`, a number to be used in expressions.
        Otherwise a node: the same tensor for every sample.
    """
    is_number = isinstance(value, numbers.Real) or getattr(value, "shape", None) == ()
    if is_number and not shape and not layout and device is None and not kwargs:
        return ScalarConstant(value, dtype)
    return ConstantNode(device, value, dtype, shape, layout, **kwargs)


def ConstantNode(  # noqa: N802 (the reference's name)
    device: str | None,
    value: Any,
    dtype: DALIDataType | None = None,
    shape: Sequence[int] | int | None = None,
    layout: str | None = None,
    **kwargs: Any,
) -> DataNode:
    """Make a node that is the same tensor for every sample; see `Constant`."""
    node: DataNode = recorder.constant_node(value, dtype, shape, layout, device, kwargs)
    return node
