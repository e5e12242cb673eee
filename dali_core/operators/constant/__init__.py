"""The same tensor for every sample."""

from __future__ import annotations

from typing import Any

from dali_core import _types as types
from dali_core._constants import NUMBERS, constant_arguments
from dali_core._spec import UNSET, Arg, OpSpec, Range, Source

SPEC = OpSpec(
    name="constant",
    role="constant tensor",
    doc="""Return the same tensor for every sample.

The numbers are in `fdata` or `idata`, one of which must be given. A single number fills the whole
shape. Integers saturate, and numbers with a fraction are rounded half away from zero if the type is
an integer one.
""",
    inputs=0,
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "fdata",
            list[float],
            "Numbers, in ``float32``.",
            default=UNSET,
            finite=False,
            alternatives=("idata",),
        ),
        Arg("idata", list[int], "Integers.", default=UNSET),
        Arg(
            "shape",
            list[int],
            "Shape of the output. By default there is one dimension.",
            default=UNSET,
            range=Range(0),
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output. By default ``FLOAT`` for `fdata` and ``INT32`` for `idata`.",
            default=UNSET,
        ),
        Arg("layout", str, "Layout of the output: one letter a dimension, or empty.", default=""),
    ),
)


def constant_source(value: Any) -> Any:
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
    return Source(SPEC, constant_arguments(value))
