"""Pad the sequences of a batch to one length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range, Source
from dali_core.operators.pad import LARGEST_EXTENTS


def _batch_input(arguments: Mapping[str, Any]) -> Source | None:
    return Source(LARGEST_EXTENTS, {}) if "length" not in arguments else None


SPEC = OpSpec(
    name="pad_batch",
    doc="""Pad the sequences of each batch to one length, and return where they are.

There are three outputs: the padded sequences; masks (``length``), 1 where an element is from the
sequence and 0 where it is padding; and the number of elements of each sequence, an int32 scalar.

The length is that of the longest sequence in the batch, rounded up to a multiple of `pad_to`, or
that of `length`. `pack` joins sequences instead, with hardly any padding.
""",
    input_docs=(
        "Sequences of any type, with their elements along `axis`. All other extents stay.",
        "Least extents of the output, one for each dimension. By default, the largest in the "
        "batch.",
    ),
    inputs=(1, 2),
    outputs=3,
    args=(
        Arg("axis", int, "Dimension to pad; negative numbers count from the last one.", default=0),
        Arg(
            "pad_to",
            int,
            "Number of which the padded length becomes a multiple, as kernels on a device want.",
            default=1,
            range=Range(1),
        ),
        Arg(
            "side",
            str,
            "Where the padding is. Models that generate text want it on the left.",
            default="right",
            choices=("right", "left"),
        ),
        Arg("fill_value", float, "Value of the padding.", default=0.0, finite=False),
        Arg(
            "length",
            int,
            "Length of all outputs, before it is rounded up to `pad_to`. A longer sequence is "
            "an error, unless `max_length` cuts it.",
            default=UNSET,
            range=Range(0),
        ),
        Arg(
            "max_length",
            int,
            "Longer sequences are cut off at their end. By default, none is.",
            default=UNSET,
            range=Range(0),
        ),
        Arg("mask_dtype", types.DALIDataType, "Type of the masks.", default=types.INT32),
    ),
    batch_input=_batch_input,
)
