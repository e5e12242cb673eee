"""Map integers through a table."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="lookup_table",
    doc="""Replace each integer by the number that a table has for it.

Where `keys` has the integer, the result is the entry of `values` at the same place, and
`default_value` elsewhere. A key that is given twice has its last value.
""",
    input_docs=("Tensors of any integer type, shape and layout.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "keys",
            list[int],
            "Integers from 0 to 65535 that the table knows.",
            default=[],
            range=Range(0, 65535),
        ),
        Arg(
            "values",
            list[float],
            "What each key becomes, as many as `keys`.",
            default=[],
            finite=False,
        ),
        Arg("default_value", float, "What all other integers become.", default=0.0, finite=False),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output, ``FLOAT`` if left out. For integer types, numbers are rounded "
            "half away from zero, and saturate.",
            default=UNSET,
        ),
        Arg(
            "output_dtype",
            types.DALIDataType,
            "Former name of `dtype`.",
            default=UNSET,
            deprecated="dtype",
        ),
    ),
)
