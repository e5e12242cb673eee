"""Zero the squares of a grid in images."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="grid_mask",
    keeps_type=True,
    doc="""Set squares of each image, which repeat in a regular grid, to zero.

A pixel (x, y) is zeroed if both of these are below `ratio`, where ``frac`` is the part of a number
above its floor::

    frac((x * cos(angle) - y * sin(angle) - shift_x) / tile)
    frac((x * sin(angle) + y * cos(angle) - shift_y) / tile)

Data whose layout has no H and W, or that has no layout, counts its first two dimensions as height
and width; without a layout, of four dimensions the first is taken for frames. Chen et al.,
"GridMask Data Augmentation", https://arxiv.org/abs/2001.04086.
""",
    input_docs=("Images, volumes or sequences of any type.",),
    args=(
        Arg("angle", float, "Angle of the grid, in radians.", default=0.0, tensor=True),
        Arg(
            "ratio",
            float,
            "Side of a square in units of `tile`: 0 leaves the image as it is, 1 leaves nothing.",
            default=0.5,
            tensor=True,
        ),
        Arg(
            "shift_x",
            float,
            "Horizontal shift of the grid in pixels, along the axes of the turned grid.",
            default=0.0,
            tensor=True,
        ),
        Arg(
            "shift_y",
            float,
            "Vertical shift of the grid in pixels, along the axes of the turned grid.",
            default=0.0,
            tensor=True,
        ),
        Arg(
            "tile",
            int,
            "Distance in pixels after which the grid repeats, at least 1.",
            default=100,
            tensor=True,
            range=Range(1),
        ),
    ),
)
