"""Draw random windows that leave enough of the boxes of an image."""

from __future__ import annotations

from typing import Any

from dali_core._spec import UNSET, Arg, OpSpec, Range


def _num_outputs(arguments: dict[str, Any]) -> int:
    return 3 + int(arguments["output_bbox_indices"])


SPEC = OpSpec(
    name="random_bbox_crop",
    doc="""Draw a random window of an image, and give the boxes that are left in it.

Windows are drawn until one satisfies a threshold, which itself is drawn from `thresholds`, and
again after every `num_attempts` windows. A window that leaves no box is never taken, unless there
are no boxes at all. If there is no such window within `total_num_attempts`, the one that is nearest
to a threshold is taken; without that limit, the search ends with an error after 100,000 windows.

The outputs are the start of the window and its extents, in the order x, y (and z), as `slice` takes
them; the boxes in units of the window, cut off at its borders; the labels, if there are some; and
the numbers of the boxes that are left, with `output_bbox_indices`. Start and extents are float32:
in units of the extents of the image, or in pixels with `crop_shape`.

What is drawn for a sample depends on the seed, the epoch and the sample alone, not on batch size,
threads or shards.
""",
    inputs=(1, 2),
    input_docs=(
        "Boxes, float32 of shape ``(N, 4)``, or ``(N, 6)`` in volumes, in units of the extents of "
        "the image: they start at 0 or later, and end at 1 or before. Where the end is before the "
        "start, nothing of a box is in a window, but its centre may be.",
        "Labels of any type, a row for each box.",
    ),
    outputs=_num_outputs,
    optional_input_has_output=True,
    args=(
        Arg(
            "thresholds",
            list[float],
            "Least intersection over union, or overlap, of boxes and the window.",
            default=[0.0],
            range=Range(0, 1),
            length=Range(1),
        ),
        Arg(
            "threshold_type",
            str,
            "``'iou'`` for intersection over union, ``'overlap'`` for the share of a box that lies "
            "in the window.",
            default="iou",
            choices=("iou", "overlap"),
        ),
        Arg(
            "all_boxes_above_threshold",
            bool,
            "Whether all boxes must reach the threshold, or one of them.",
            default=True,
        ),
        Arg(
            "allow_no_crop",
            bool,
            "Let the whole image be one more result, as likely to be drawn as each threshold. No "
            "effect with `crop_shape`.",
            default=True,
        ),
        Arg(
            "bbox_prune_threshold",
            float,
            "Least share of a box in the window for the box to be left, more than nothing in any "
            "case. By default, its centre must be inside the window.",
            default=UNSET,
            range=Range(0, 1),
        ),
        Arg(
            "scaling",
            list[float],
            "Range of the window's extents, in units of those of the image.",
            default=[1.0, 1.0],
            range=Range(0),
            length=2,
        ),
        Arg(
            "aspect_ratio",
            list[float],
            "Range of the window's aspect ratio, width divided by height: of pixels with "
            "`input_shape`, else in units of the image's. For volumes it is the range of x to y, x "
            "to z and y to z, or six numbers give three ranges. If there is only one ratio, the "
            "smaller extents follow from the largest.",
            default=[1.0, 1.0],
            range=Range(0),
            length=Range(2, 6),
        ),
        Arg(
            "crop_shape",
            list[int],
            "Extents of the window in pixels, in the order of `shape_layout`. It needs "
            "`input_shape`.",
            default=UNSET,
            tensor=True,
            range=Range(1, 2**31 - 1),
            excludes=("scaling", "aspect_ratio"),
        ),
        Arg(
            "input_shape",
            list[int],
            "Extents of the image in pixels, in the order of `shape_layout`.",
            default=UNSET,
            tensor=True,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "shape_layout",
            str,
            "Order of the extents: the letters W and H, and D for volumes. By default ``WH`` or "
            "``WHD``.",
            default=UNSET,
        ),
        Arg(
            "bbox_layout",
            str,
            "Order of the numbers of a box: x, y (and z) for its start, with X, Y (and Z) for its "
            "end, or W, H (and D) for its extents. By default ``xyXY`` or ``xyzXYZ``.",
            default=UNSET,
        ),
        Arg(
            "ltrb",
            bool,
            "Former way to set `bbox_layout`: ``xyXY`` if true, else ``xyWH``.",
            default=UNSET,
            deprecated="bbox_layout",
        ),
        Arg(
            "num_attempts",
            int,
            "How many windows are drawn for a threshold before another one is drawn.",
            default=1,
            range=Range(1),
        ),
        Arg(
            "total_num_attempts",
            int,
            "How many windows are drawn at most, up to 100,000, before the best one is taken. By "
            "default (-1), no such window is taken.",
            default=-1,
            range=Range(-1),
        ),
        Arg(
            "output_bbox_indices",
            bool,
            "Give the numbers of the boxes that are left, int32, as a last output.",
            default=False,
        ),
        Arg(
            "quiet",
            bool,
            "Accepted without effect: taking the best window never warns.",
            default=False,
        ),
    ),
    random=True,
)
