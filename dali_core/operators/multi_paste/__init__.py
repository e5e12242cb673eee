"""Paste regions of several images on canvases."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="multi_paste",
    doc="""Paste regions of one or more images on a black canvas, one after the other.

With `in_ids`, there is one input, and the regions are taken from the samples of the batch with
these numbers; without, from the sample's images of all inputs in turn. The arguments with
coordinates have a row of height and width for each region. Regions must lie inside their image and
inside the canvas.

Without `output_size`, all images of the batch must have one shape, which is that of the canvas.
Sequences are pasted frame by frame; all must have equally many.
""",
    inputs=(1, 64),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "in_ids",
            list[int],
            "Numbers of the samples in the batch to paste from; needs a single input.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "output_size",
            list[int],
            "Height and width of the canvas; what follows, such as the number of channels, is not "
            "used.",
            default=UNSET,
            tensor=True,
            range=Range(0),
            length=Range(2),
        ),
        Arg(
            "in_anchors",
            list[int],
            "Where each region starts in its image; zeros by default. Excludes `in_anchors_rel`.",
            default=UNSET,
            tensor=True,
            excludes=("in_anchors_rel",),
        ),
        Arg(
            "in_anchors_rel",
            list[float],
            "Where each region starts, in units of the extents of its image, rounded down.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "shapes",
            list[int],
            "Extents of each region; by default, up to the end of its image. Excludes "
            "`shapes_rel`.",
            default=UNSET,
            tensor=True,
            excludes=("shapes_rel",),
        ),
        Arg(
            "shapes_rel",
            list[float],
            "Extents of each region in units of those of its image, rounded up.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "out_anchors",
            list[int],
            "Where each region starts on the canvas; zeros by default. Excludes `out_anchors_rel`.",
            default=UNSET,
            tensor=True,
            excludes=("out_anchors_rel",),
        ),
        Arg(
            "out_anchors_rel",
            list[float],
            "Where each region starts, in units of the extents of the canvas, rounded down.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output; that of the input if left out. Integers round half away from zero "
            "and saturate.",
            default=UNSET,
        ),
    ),
    reads_batch=True,
)
