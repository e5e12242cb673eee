"""Shared arguments of reductions, and numbers in the place of the mean."""

from __future__ import annotations

from typing import Any

from dali_core import _types as types
from dali_core._spec import UNSET, Arg
from dali_core.operators.constant import constant_source

INPUT_DOC = "Tensors of any type, shape and layout; bool counts as 0 and 1."

AXES_DOC = """

All dimensions are reduced, or those that `axes` or `axis_names` lists; they vanish unless
`keep_dims` is set, from the layout as well. An empty list reduces nothing."""

AXES_ARGS = (
    Arg(
        "axes",
        list[int],
        "Dimensions to reduce, each once; negative ones count from the end.",
        default=UNSET,
    ),
    Arg(
        "axis_names",
        str,
        "Dimensions to reduce, by their letters in the input's layout. Not together with `axes`.",
        default=UNSET,
        excludes=("axes",),
    ),
    Arg(
        "keep_dims",
        bool,
        "Whether reduced dimensions stay, with extent 1.",
        default=False,
    ),
)

DDOF_ARG = Arg(
    "ddof",
    int,
    "Subtracted from the number of elements when dividing by it: 1 for the unbiased estimate from "
    "a sample of which the mean is computed, too.",
    default=0,
)

MEAN_DOC = (
    "Means: one number, or one for each output, with or without the reduced dimensions. A number "
    "stands for one that is the same for all samples."
)


_NUMBERS = [kind for kind in types.DALIDataType if 0 <= kind.value < types.BOOL.value]


def dtype_arg(default: str) -> Arg:
    """Describe the argument `dtype` of a reduction that has this type by default."""
    return Arg(
        "dtype",
        types.DALIDataType,
        f"Type of the output. By default, {default}",
        default=UNSET,
        choices=_NUMBERS,
    )


def bind_mean(inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Let a number stand for a mean that is the same for all samples."""
    if len(inputs) == 2 and isinstance(inputs[1], (int, float)):
        inputs = (inputs[0], constant_source(float(inputs[1])))
    return inputs, keywords
