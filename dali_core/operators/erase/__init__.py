"""Erase regions of tensors."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="erase",
    keeps_type=True,
    doc="""Fill one or more rectangular regions of each tensor with a value.

A region starts at its `anchor` and has the extents `shape`, both given for some dimensions in the
order of `axis_names` or `axes`; along all other dimensions it is the whole tensor. Several regions
follow each other: ``anchor=(y0, x0, y1, x1)`` with ``shape=(h0, w0, h1, w1)`` and
``axis_names="HW"`` are two.

Along a dimension, the positions from ``anchor`` up to, not including, ``anchor + shape`` are
filled; both limits drop their fraction, and what lies outside the tensor is ignored.

Without `axis_names` and `axes`, all dimensions but the channels (C) are given, in the order of the
layout. Nothing is copied if there is nothing to fill.
""",
    input_docs=("Tensors of any type and shape.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "anchor",
            list[float],
            "Where the regions start; zeros by default.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "shape",
            list[float],
            "Extents of the regions, as many numbers as `anchor` has. By default, there is no "
            "region.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "axes",
            list[int],
            "Dimensions that `anchor` and `shape` are given for; negative numbers count from the "
            "last one. If one is named twice, its last entry counts. `axis_names` comes before it.",
            default=UNSET,
        ),
        Arg(
            "axis_names",
            str,
            "Letters of the layout: the dimensions that `anchor` and `shape` are given for.",
            default=UNSET,
        ),
        Arg(
            "fill_value",
            list[float],
            "What regions are filled with: one number, or one for each channel, which needs a "
            "layout with C. For integer types the fraction is dropped, and a number out of range "
            "wraps around.",
            default=[0.0],
            tensor=True,
            finite=False,
        ),
        Arg(
            "normalized",
            bool,
            "Whether `anchor` and `shape` are in units of the tensor's extents. Excludes "
            "`normalized_anchor` and `normalized_shape`.",
            default=UNSET,
            excludes=("normalized_anchor", "normalized_shape"),
        ),
        Arg(
            "normalized_anchor",
            bool,
            "Whether `anchor` is in units of the tensor's extents.",
            default=UNSET,
        ),
        Arg(
            "normalized_shape",
            bool,
            "Whether `shape` is in units of the tensor's extents.",
            default=UNSET,
        ),
        Arg(
            "centered_anchor",
            bool,
            "Whether `anchor` is the middle of the region instead of its start.",
            default=False,
        ),
    ),
)
