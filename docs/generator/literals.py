"""Values as Python source text."""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np


def literal(value: Any) -> str:
    """Return a value as source text.

    Raises
    ------
    TypeError
        If the value has no short text, such as a function.
    """
    if isinstance(value, enum.Enum):
        return f"types.{value.name}"
    if isinstance(value, (np.ndarray, np.generic)):
        return literal(value.tolist())
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(literal(item) for item in value)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        return '"' + repr(value)[1:-1].replace('"', '\\"') + '"'
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    raise TypeError(f"docs: the value must be plain (got {value!r}).")


def kind(expected: Any, *, module: str = "types") -> str:
    """Return the name of an argument's type: ``list of float``, ``types.DALIDataType``."""
    arguments = getattr(expected, "__args__", ())
    if arguments:
        return f"list of {kind(arguments[0], module=module)}"
    if isinstance(expected, type) and issubclass(expected, enum.Enum):
        return f"{module}.{expected.__name__}"
    return "any object" if expected is object else str(expected.__name__)


def array_source(array: np.ndarray) -> str:
    """Return source text that creates an array with this shape and dtype."""
    dtype = f"np.{array.dtype.name}" if array.dtype != bool else "bool"
    if array.size <= 12:
        return f"np.array({literal(array)}, dtype={dtype})"
    shape = literal(tuple(array.shape)).replace("[", "(").replace("]", ")")
    if array.ndim == 1:
        shape = str(array.shape[0])
    if array.dtype.kind == "f":
        return f"random.uniform(0, 1, {shape}).astype({dtype})"
    if array.dtype == bool:
        return f"random.uniform(0, 1, {shape}) > 0.5"
    high = 256 if array.dtype.itemsize == 1 and array.dtype.kind == "u" else 100
    return f"random.integers(0, {high}, {shape}, dtype={dtype})"
