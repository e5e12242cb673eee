"""Cut a random window out of each image and resize it."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range
from dali_core.operators.resize import FILTER_ARGS

SPEC = OpSpec(
    name="random_resized_crop",
    keeps_type=True,
    doc="""Cut a random window out of each image and resize it.

The window's area is uniform in `random_area`, its aspect ratio log-uniform in
`random_aspect_ratio`, its position uniform. Where no attempt fits into the image, the largest
window with an aspect ratio in the range is taken. Filters reach beyond the window where the image
continues there.

Layouts are ``HWC``, ``CHW``, ``HW`` and any of them with F: all frames get the same window.
""",
    input_docs=("Images or sequences of any type.",),
    devices=("cpu", "gpu"),
    random=True,
    args=(
        Arg(
            "size",
            list[int],
            "Size of the output: ``(height, width)``, or one number for both.",
            range=Range(0, 10**9),
            length=Range(1, 2),
        ),
        Arg(
            "random_area",
            list[float],
            "Range of the window's area, as a share of the image's area.",
            default=[0.08, 1.0],
            range=Range(0),
            length=Range(1, 2),
        ),
        Arg(
            "random_aspect_ratio",
            list[float],
            "Range of the window's aspect ratio, width divided by height.",
            default=[0.75, 1.333333],
            range=Range(0, above=True),
            length=Range(1, 2),
        ),
        Arg(
            "num_attempts",
            int,
            "How many windows are drawn at most until one fits into the image.",
            default=10,
            range=Range(0),
        ),
        *FILTER_ARGS,
    ),
)
