"""Resize tensors along any of their dimensions."""

from __future__ import annotations

from dataclasses import replace

from dali_core._spec import UNSET, Arg, OpSpec
from dali_core.operators.resize import FILTER_ARGS, SIZE_ARGS

_SHARED = ("max_size", "roi_start", "roi_end", "roi_relative", "subpixel_scale")

SPEC = OpSpec(
    name="tensor_resize",
    doc="""Resize tensors along any of their dimensions.

This is `fn.resize` without a notion of images: `axes` or `axis_names` say which dimensions are
meant. Those that change must lie within three consecutive dimensions. A size of 0 means that none
is given for that dimension. A negative size mirrors it.
""",
    input_docs=("Tensors of any type and layout.",),
    args=(
        Arg(
            "sizes",
            list[float],
            "Size of the output: one number, or one for each of the axes. Excludes `scales`.",
            default=UNSET,
            tensor=True,
            alternatives=("scales",),
        ),
        Arg(
            "scales",
            list[float],
            "Size of the output as a multiple of that of the input, also for a region of it.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "axes",
            list[int],
            "Dimensions that sizes, scales and regions belong to; negative ones count from the "
            "last. By default all, in their order. Excludes `axis_names`.",
            default=UNSET,
            excludes=("axis_names",),
        ),
        Arg(
            "axis_names",
            str,
            "Letters of these dimensions in the layout of the input.",
            default=UNSET,
        ),
        *(
            replace(
                arg,
                default="default",
                doc=arg.doc.partition(" Excludes")[0],
            )
            for arg in SIZE_ARGS
            if arg.name == "mode"
        ),
        *(arg for arg in SIZE_ARGS if arg.name in _SHARED),
        Arg(
            "size_rounding",
            str,
            'How fractional sizes become whole ones: ``"round"`` (halves away from zero), '
            '``"truncate"`` or ``"ceil"``.',
            default="round",
            choices=("round", "truncate", "ceil"),
        ),
        Arg(
            "alignment",
            list[float],
            "Which point of the region keeps its place where `subpixel_scale` widens or narrows "
            "it: 0 for its start, 0.5 for its centre, 1 for its end. One number, or one for each "
            "of the axes.",
            default=[0.5],
            tensor=True,
        ),
        *FILTER_ARGS,
    ),
)
