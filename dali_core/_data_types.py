"""Types of elements, and which ones of NumPy, PyTorch, JAX and Python they are; see `types`."""

from __future__ import annotations

import enum
import warnings
from typing import TYPE_CHECKING, Any

from dali_core.errors import ArgumentFormError, ArgumentKeyError, ArgumentTypeError

if TYPE_CHECKING:
    import numpy


class NumberedEnum(enum.Enum):
    """An enumeration whose members convert to their number, and equal it.

    They equal no member of another enumeration, whatever the numbers.
    """

    @classmethod
    def _missing_(cls, value: object) -> None:
        if not isinstance(value, int):
            raise ArgumentFormError(
                f"{cls.__name__}: must be made of a number (got {value!r}, a "
                f"{type(value).__name__}). Use {cls.__name__}[name] for a name."
            )

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == other) if isinstance(other, int) else self is other

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class DALIDataType(NumberedEnum):
    """Type of the elements of a tensor, or of an operator's argument."""

    __module__ = "dali_core.types"

    NO_TYPE = -1
    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    STRING = 12
    FEATURE = 17
    IMAGE_TYPE = 20
    DATA_TYPE = 21
    INTERP_TYPE = 22
    TENSOR_LAYOUT = 23
    PYTHON_OBJECT = 24

    def __call__(self) -> str:
        """Return the type as `struct` and `memoryview` write it, such as ``"=f"``; deprecated.

        Programs from the time when `dtype` of a tensor was a method still call it.
        """
        import numpy

        warnings.warn(
            "dtype(): a tensor's dtype is a property. Leave out the parentheses.",
            DeprecationWarning,
            stacklevel=2,
        )
        # `struct` has l and L for what may be of 32 bits.
        return "=" + numpy.dtype(to_numpy_type(self)).char.translate({ord("l"): "q", ord("L"): "Q"})


_NUMPY_NAMES = {
    DALIDataType.UINT8: "uint8",
    DALIDataType.UINT16: "uint16",
    DALIDataType.UINT32: "uint32",
    DALIDataType.UINT64: "uint64",
    DALIDataType.INT8: "int8",
    DALIDataType.INT16: "int16",
    DALIDataType.INT32: "int32",
    DALIDataType.INT64: "int64",
    DALIDataType.FLOAT16: "float16",
    DALIDataType.FLOAT: "float32",
    DALIDataType.FLOAT64: "float64",
    DALIDataType.BOOL: "bool",
}
_FROM_NAMES = {
    **{name: data_type for data_type, name in _NUMPY_NAMES.items()},
    "half": DALIDataType.FLOAT16,
    "float": DALIDataType.FLOAT,
    "double": DALIDataType.FLOAT64,
    "int": DALIDataType.INT32,
    "long": DALIDataType.INT64,
}


def to_numpy_type(dali_type: DALIDataType) -> type[numpy.generic]:
    """Return the NumPy scalar type of a data type.

    Raises
    ------
    ArgumentKeyError
        If NumPy has no such type.
    """
    import numpy

    if dali_type not in _NUMPY_NAMES:
        raise ArgumentKeyError(
            f"to_numpy_type: dali_type must be a type of numbers (got {dali_type}). "
            f"Use one of {', '.join(data_type.name for data_type in _NUMPY_NAMES)}."
        )
    return numpy.dtype(_NUMPY_NAMES[dali_type]).type


def to_dali_type(framework_type: Any) -> DALIDataType:
    """Return the data type of a dtype of NumPy, PyTorch or JAX, of a type of Python, or of a name.

    Parameters
    ----------
    framework_type : object
        Such as `numpy.float32`, ``numpy.dtype("float32")``, `torch.float32`, `jax.numpy.float32`,
        `float` or ``"float32"``. Python's `int` and `float` have 32 bits here, as in expressions.

    Raises
    ------
    ArgumentTypeError
        If there is no equal data type.
    """
    import numpy

    if isinstance(framework_type, type) and issubclass(framework_type, numpy.generic):
        framework_type = numpy.dtype(framework_type)
    name = str(getattr(framework_type, "name", None) or getattr(framework_type, "__name__", ""))
    if not name:
        name = str(framework_type).rpartition(".")[2]
    name = name.removesuffix("_")
    if name not in _FROM_NAMES:
        raise ArgumentTypeError(
            f"to_dali_type: framework_type must be a type of numbers (got {framework_type!r}). "
            f"Use one of {', '.join(_NUMPY_NAMES.values())}."
        )
    return _FROM_NAMES[name]
