"""Types that a call may pass for an argument of each type, for type checkers.

`check_arguments` converts these to the type that the operator's description states.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from dali_core._call.values import Input as Input
from dali_core._constants import ScalarConstant
from dali_core._data_types import DALIDataType

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Int: TypeAlias = "int | numpy.integer[Any] | ScalarConstant"
Float: TypeAlias = "float | numpy.floating[Any] | numpy.integer[Any] | ScalarConstant"
Str: TypeAlias = "str | os.PathLike[str]"
DataType: TypeAlias = "DALIDataType | type[Any]"
"""A data type, or the type object that NumPy has for it."""

# One value serves as a list of one.
Ints: TypeAlias = "Int | Sequence[Int] | NDArray[Any]"
Floats: TypeAlias = "Float | Sequence[Float] | NDArray[Any]"
Strs: TypeAlias = "Str | Sequence[Str]"
Bools: TypeAlias = "bool | Sequence[bool] | NDArray[Any]"
DataTypes: TypeAlias = "DataType | Sequence[DataType]"

# The same under names that `dali_core.dynamic` has for nothing else.
Bool: TypeAlias = "bool"
ElementType: TypeAlias = DataType
ElementTypes: TypeAlias = DataTypes
