"""Decode files that `numpy.save` has written."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="decoders.numpy",
    doc="""Decode files that `numpy.save` has written.

Format versions 1 to 3, either byte order, C and Fortran order: the output is dense, in C order and
in the byte order of the machine. Its shape is that of the array, of at most 8 dimensions. Arrays of
objects, which are pickled, are refused, and so are records, texts and complex numbers.""",
    input_docs=("The bytes of each file, one-dimensional uint8.",),
    args=(
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output, to which elements are converted as by `fn.cast`; that of the "
            "array if left out.",
            default=UNSET,
        ),
    ),
)
