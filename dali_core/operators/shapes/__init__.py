"""Return the shapes of tensors."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec

SHAPE_TYPES = (
    types.INT64,
    types.UINT64,
    types.INT32,
    types.UINT32,
    types.FLOAT,
    types.FLOAT64,
)
"""Of extents."""

SPEC = OpSpec(
    name="shapes",
    input_device="any",
    role="shape",
    doc="""Return the shape of each tensor, as a tensor with one number for each dimension.""",
    input_docs=("Tensors of any type, shape and layout.",),
    args=(
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output: ``INT64``, ``UINT64``, ``INT32``, ``UINT32``, ``FLOAT`` or "
            "``FLOAT64``. By default, ``INT64``.",
            default=UNSET,
            choices=SHAPE_TYPES,
        ),
        Arg(
            "type",
            types.DALIDataType,
            "Former name of `dtype`.",
            default=UNSET,
            deprecated="dtype",
            choices=SHAPE_TYPES,
        ),
    ),
)
