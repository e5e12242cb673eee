"""Random windows for images of given shapes."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="random_crop_generator",
    doc="""Draw a random window for an image of each given shape.

The outputs are the window's first pixel ``(y, x)`` and its extent ``(height, width)``, both
``INT32``. Area is uniform in `random_area`, aspect ratio log-uniform in `random_aspect_ratio`,
position uniform. Where no attempt fits into the image, the largest window with an aspect ratio in
the range is taken. The window of an image without pixels is empty.
""",
    input_docs=("Shapes of images, ``(height, width)`` or ``(height, width, channels)``.",),
    outputs=2,
    random=True,
    args=(
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
    ),
)
