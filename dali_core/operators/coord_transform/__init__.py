"""Transform points by a matrix."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="coord_transform",
    doc="""Multiply points by a matrix and add a vector to them: ``M p + T``.

The components of a point lie along the last dimension. Affine transforms of coordinates,
projections and linear changes of colours are such operations. The output has as many components as
`M` has rows; the layout is that of the input.

The result is computed in ``float32``. Integers round half away from zero and saturate. Arguments
that come with each sample may have a value for each frame: their layout then starts with F.
""",
    devices=("cpu", "gpu"),
    input_docs=("Points of any type; the layout of sequences starts with F.",),
    args=(
        Arg(
            "M",
            list[float],
            "The matrix, row by row, with a column for each component of the input; or one number "
            "for the diagonal of a square matrix. By default, the identity.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "T",
            list[float],
            "What to add: one number for each row of `M`, or one for all. By default, nothing.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "MT",
            list[float],
            "`M` with `T` as an additional last column, row by row; or one number for the diagonal "
            "of `M`. Excludes `M` and `T`.",
            default=UNSET,
            tensor=True,
            excludes=("M", "T"),
        ),
        Arg("dtype", types.DALIDataType, "Type of the output.", default=types.FLOAT),
    ),
)
