"""Change the type of elements."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec

# Enumerations are integers.
_TYPES = [
    *(kind for kind in types.DALIDataType if 0 <= kind.value <= types.BOOL.value),
    types.IMAGE_TYPE,
    types.DATA_TYPE,
    types.INTERP_TYPE,
]

SPEC = OpSpec(
    name="cast",
    doc="""Convert the elements of each tensor to another type.

Integers saturate: a number out of range becomes the nearest one in range. Numbers with a fraction
round half away from zero on their way to an integer, and NaN becomes 0. A number becomes true if it
does not round to 0, so 0.3 is false. Nothing is copied if the type is the input's own.
Numbers of enumerations, such as ``INTERP_TYPE``, are of type ``INT32``.
""",
    input_docs=("Tensors of any type, shape and layout.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output.",
            choices=_TYPES,
        ),
    ),
)
