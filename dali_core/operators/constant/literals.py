"""Numbers and lists in the user's program, for operators that take them as inputs."""

from __future__ import annotations

from typing import Any

from dali_core._literals import NUMBERS, literal_arguments
from dali_core._spec import Source
from dali_core.operators.constant import SPEC


def as_source(value: Any) -> Any:
    """Make a source of a number or of a list of numbers; anything else is given back as it is.

    Parameters
    ----------
    value : object
        A boolean, integer, float or member of an enumeration, or a list or tuple of them, or of
        lists of equal lengths.

    Returns
    -------
    Source or object
        The same tensor for every sample: ``BOOL``, ``INT32`` or, if one number is a float,
        ``FLOAT``.

    Raises
    ------
    ArgumentTypeError
        If a list is ragged or holds something else.
    ArgumentValueError
        If an integer does not fit into 32 bits.
    """
    if not isinstance(value, (*NUMBERS, list, tuple)):
        return value
    return Source(SPEC, literal_arguments(value))
