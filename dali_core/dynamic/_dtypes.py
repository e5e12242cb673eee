"""Types of elements as objects: their kind and size."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from dali_core._call.location import user_location
from dali_core._data_types import DALIDataType, to_dali_type, to_numpy_type
from dali_core.dynamic._conversion import conversions
from dali_core.errors import ArgumentTypeError, ArgumentValueError


class Kind(enum.Enum):
    """What numbers of a type are."""

    signed = 1
    unsigned = 2
    float = 3
    bool = 4
    enum = 5


@dataclass(frozen=True)
class DType:
    """A type of elements; types of equal form are equal.

    Attributes
    ----------
    kind : Kind
        What the numbers are.
    bits : int
        Size of an element.
    exponent_bits, significand_bits : int
        Parts of a floating point number; 0 for others.
    name : str
        Short name, such as ``"u8"``.
    type_id : DALIDataType
        The type for operators.
    """

    kind: Kind
    bits: int
    exponent_bits: int
    significand_bits: int
    name: str
    type_id: DALIDataType

    # A reference name, which pickles must find.
    __module__ = "dali_core.dynamic"

    @property
    def bytes(self) -> int:
        """Size of an element in bytes."""
        return (self.bits + 7) // 8

    def __call__(self, data: Any) -> Any:
        """Make a tensor of this type."""
        return conversions.as_tensor(data, dtype=self)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        if self.kind is Kind.float:
            parts = (
                f", exponent_bits={self.exponent_bits}, significand_bits={self.significand_bits}"
            )
        else:
            parts = ""
        return f"DType(kind=Kind.{self.kind.name}, bits={self.bits}{parts})"


def _integers(name: str, bits: int, type_id: DALIDataType) -> DType:
    kind = Kind.unsigned if name.startswith("u") else Kind.signed
    return DType(kind, bits, 0, 0, name, type_id)


uint8 = _integers("u8", 8, DALIDataType.UINT8)
uint16 = _integers("u16", 16, DALIDataType.UINT16)
uint32 = _integers("u32", 32, DALIDataType.UINT32)
uint64 = _integers("u64", 64, DALIDataType.UINT64)
int8 = _integers("i8", 8, DALIDataType.INT8)
int16 = _integers("i16", 16, DALIDataType.INT16)
int32 = _integers("i32", 32, DALIDataType.INT32)
int64 = _integers("i64", 64, DALIDataType.INT64)
float16 = DType(Kind.float, 16, 5, 10, "f16", DALIDataType.FLOAT16)
float32 = DType(Kind.float, 32, 8, 23, "f32", DALIDataType.FLOAT)
float64 = DType(Kind.float, 64, 11, 52, "f64", DALIDataType.FLOAT64)
bool = DType(Kind.bool, 8, 0, 0, "bool", DALIDataType.BOOL)
DataType = DType(Kind.enum, 32, 0, 0, "DataType", DALIDataType.DATA_TYPE)
ImageType = DType(Kind.enum, 32, 0, 0, "ImageType", DALIDataType.IMAGE_TYPE)
InterpType = DType(Kind.enum, 32, 0, 0, "InterpType", DALIDataType.INTERP_TYPE)

ALL = (
    *(uint8, uint16, uint32, uint64, int8, int16, int32, int64),
    *(float16, float32, float64, bool, DataType, ImageType, InterpType),
)
_BY_ID = {entry.type_id: entry for entry in ALL}
_BY_NAME = {entry.name: entry for entry in ALL}


def dtype(value: Any) -> DType:
    """Return the type that a value names.

    Parameters
    ----------
    value : DType, DALIDataType, str, or a type of NumPy, PyTorch or Python
        The type. Texts are short names, such as ``"u8"``, or those of NumPy. Python's `float` means
        32 bits.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If there is no such type. Python's `int` is refused, as its width is not clear.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, DALIDataType) and value in _BY_ID:
        return _BY_ID[value]
    where = f"dtype at {user_location()}"
    if value is int:
        raise ArgumentTypeError(
            f"{where}: must have a width (got int). Use int32 or int64 of this module."
        )
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    try:
        if isinstance(value, str):
            import numpy

            return _BY_ID[to_dali_type(numpy.dtype(value))]
        return _BY_ID[to_dali_type(value)]
    except (TypeError, ValueError, KeyError) as error:
        kind = ArgumentValueError if isinstance(value, str) else ArgumentTypeError
        raise kind(
            f"{where}: must be a type of numbers (got {value!r:.60}). Use one of this module, such "
            f"as float32, or: {', '.join(entry.name for entry in ALL)}."
        ) from error


def type_id(value: Any) -> DALIDataType:
    """Return the type for operators that a value names; see `dtype`."""
    return dtype(value).type_id


def numpy_type(value: DType) -> Any:
    """Return the type of NumPy."""
    import numpy

    if value.kind is Kind.enum:
        return numpy.int32
    return to_numpy_type(value.type_id)


def of_id(value: DALIDataType) -> DType:
    """Return the type of elements with a number for operators."""
    return _BY_ID[value]
