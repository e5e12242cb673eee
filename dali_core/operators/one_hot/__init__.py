"""Encode class numbers as vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, Native, OpSpec, Range, Source

_ONLY_SINGLE_NUMBERS = OpSpec(
    name="one_hot",
    lower=Native("one_hot.only_single_numbers"),
    doc="Find out whether all tensors of a batch have one element.",
    input_docs=("Tensors of any shape.",),
    reads_batch=True,
    input_device="any",
)


def _batch_input(arguments: Mapping[str, Any]) -> Source | None:
    return Source(_ONLY_SINGLE_NUMBERS, {}) if "axis" not in arguments else None


SPEC = OpSpec(
    name="one_hot",
    doc="""Encode each class number as a vector that has another value in that place.

The output has one more dimension, of `num_classes` elements. Fractions are dropped. A number that
is no class gives a vector of `off_value` only.

If no `axis` is given and all tensors of a batch have a single element, they count as scalars,
whatever their dimensions: each becomes one vector.
""",
    input_docs=("Class numbers, counted from 0: tensors of any type and shape.",),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(
        Arg("num_classes", int, "Number of classes.", default=0, range=Range(0)),
        Arg(
            "axis",
            int,
            "Where the output gets its new dimension; -1 appends it. By default it is appended, "
            "and the shape of the output depends on the whole batch.",
            default=UNSET,
        ),
        Arg(
            "on_value",
            float,
            "Value in the place of the class. For integer types the fraction is dropped, and a "
            "number out of range wraps around.",
            default=1.0,
            finite=False,
        ),
        Arg(
            "off_value",
            float,
            "Value in all other places; converted alike.",
            default=0.0,
            finite=False,
        ),
        Arg("dtype", types.DALIDataType, "Type of the output.", default=types.FLOAT),
        Arg(
            "axis_name",
            str,
            "Letter of the new dimension in the output's layout. Without it the output has no "
            "layout.",
            default=UNSET,
        ),
    ),
    batch_input=_batch_input,
)
