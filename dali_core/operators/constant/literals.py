"""Numbers and lists in the user's program, for operators that take them as inputs."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from dali_core import types
from dali_core._spec import Source
from dali_core.errors import ArgumentTypeError
from dali_core.operators.constant import SPEC

_INT32 = range(-(2**31), 2**31)


def as_source(value: Any) -> Any:
    """Make a source of a number or of a list of numbers; anything else is given back as it is.

    Parameters
    ----------
    value : object
        A boolean, integer or float, or a list or tuple of them, or of lists of equal lengths.

    Returns
    -------
    Source or object
        The same tensor for every sample: ``BOOL``, ``INT32`` or, if one number is a float,
        ``FLOAT``.

    Raises
    ------
    ArgumentTypeError
        If a list is ragged or holds something else, or an integer does not fit into 32 bits.
    """
    if not isinstance(value, (numbers.Real, list, tuple)):
        return value
    shape, flat = _flatten(value)
    if all(isinstance(number, bool) for number in flat):
        data: dict[str, Any] = {"idata": [int(number) for number in flat], "dtype": types.BOOL}
    elif all(isinstance(number, numbers.Integral) for number in flat):
        outside = [number for number in flat if number not in _INT32]
        if outside:
            raise ArgumentTypeError(
                f"integers must fit into 32 bits (got {outside[0]}). "
                "Use fn.constant with dtype=types.INT64."
            )
        data = {"idata": flat}
    else:
        data = {"fdata": flat}
    return Source(SPEC, {**data, "shape": shape})


def _flatten(value: Any) -> tuple[list[int], list[Any]]:
    """Give the shape of a nested list, and its numbers in order."""
    if isinstance(value, numbers.Real):
        return [], [value]
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ArgumentTypeError(
            f"lists must be of numbers (got {value!r}, a {type(value).__name__}). Convert it."
        )
    parts = [_flatten(entry) for entry in value]
    shapes = {tuple(shape) for shape, _ in parts}
    if len(shapes) > 1:
        raise ArgumentTypeError(
            f"lists must have equal lengths (got shapes {sorted(shapes)}). Pad them."
        )
    inner = list(shapes.pop()) if shapes else []
    return [len(parts), *inner], [number for _, flat in parts for number in flat]
