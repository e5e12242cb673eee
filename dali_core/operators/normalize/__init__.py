"""Subtract the mean and divide by the standard deviation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, Native, OpSpec, Range, Source
from dali_core.operators.normalize.ranges import remark_on_ranges

_AXES_ARGS = (
    Arg(
        "axes",
        list[int],
        "Dimensions over which mean and deviation are taken; negative numbers count from the last "
        "one. By default, all. Excludes `axis_names`.",
        default=UNSET,
        length=Range(1),
    ),
    Arg(
        "axis_names",
        str,
        "Letters of the dimensions over which mean and deviation are taken. Where it is empty, "
        "every element is its own mean.",
        default=UNSET,
        excludes=("axes",),
    ),
)

_SAMPLE_STATISTICS = OpSpec(
    name="normalize",
    lower=Native("normalize.statistics"),
    devices=("cpu", "gpu"),
    doc="Compute number, mean and sum of squared deviations of the elements of each tensor.",
    input_docs=("Tensors of any type and shape.",),
    args=_AXES_ARGS,
)


def _axes(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {arg.name: arguments.get(arg.name) for arg in _AXES_ARGS}


_BATCH_STATISTICS = OpSpec(
    name="normalize",
    lower=Native("normalize.batch_statistics"),
    devices=("cpu", "gpu"),
    doc="Compute number, mean and sum of squared deviations of the elements of each batch.",
    inputs=(1, 2),
    input_docs=("Tensors of any type and shape.", "Their own statistics."),
    args=_AXES_ARGS,
    batch_input=lambda arguments: Source(_SAMPLE_STATISTICS, _axes(arguments)),
    reads_batch=True,
)


def _batch_input(arguments: Mapping[str, Any]) -> Source | None:
    return Source(_BATCH_STATISTICS, _axes(arguments)) if arguments["batch"] else None


SPEC = OpSpec(
    name="normalize",
    doc="""Subtract the mean of each tensor and divide by its standard deviation.

The output is ``scale * (input - mean) / sqrt(deviation ** 2 + epsilon) + shift``, computed in
single precision. Where the root is 0, the output is `shift`.

Mean and deviation come from the tensor, or from the whole batch, unless they are given. Given ones
may have one element for each that is left of the tensor when all dimensions in `axes` have
shrunk to one; without `axes`, they are taken over the dimensions in which given ones have one
element. The deviation is taken around the mean, given or not.

The layout stays.
""",
    input_docs=("Tensors of any type and shape.",),
    args=(
        *_AXES_ARGS,
        Arg(
            "batch",
            bool,
            "Whether mean and deviation are those of the whole batch. Dimensions that are not in "
            "`axes` must then have the same extent in all tensors, and given means and deviations "
            "must be numbers.",
            default=False,
        ),
        Arg(
            "mean",
            float,
            "Mean: a number, or with each sample a tensor whose extents are 1 or those of the "
            "input.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "stddev",
            float,
            "Standard deviation: a number, or with each sample a tensor whose extents are 1 or "
            "those of the input.",
            default=UNSET,
            tensor=True,
        ),
        Arg("scale", float, "Standard deviation of the output.", default=1.0),
        Arg("shift", float, "Mean of the output.", default=0.0),
        Arg("epsilon", float, "Number that is added to the variance.", default=0.0, range=Range(0)),
        Arg(
            "ddof",
            int,
            "Delta degrees of freedom: the sum of squared deviations is divided by the number of "
            "elements minus this. Has no effect where `stddev` is given.",
            default=0,
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output. Numbers saturate, and integers are rounded half away from zero.",
            default=types.FLOAT,
        ),
    ),
    batch_input=_batch_input,
    devices=("cpu", "gpu"),
    remark=remark_on_ranges("mean", "stddev"),
)
