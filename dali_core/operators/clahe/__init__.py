"""Equalize local histograms of images, with limited contrast."""

from __future__ import annotations

from dali_core._spec import REQUIRED, Arg, OpSpec, Range

SPEC = OpSpec(
    name="clahe",
    keeps_type=True,
    doc="""Equalize the histogram of each part of an image, with limited contrast (CLAHE).

The image is divided into `tiles_y` x `tiles_x` tiles; if they do not fit, it is continued by its
mirror image. Each tile has a histogram whose counts are limited to `clip_limit` times their mean;
what is cut off is spread evenly over all levels. The levels that equalize the histograms of the
four nearest tiles are interpolated at each pixel.

With `luma_only`, the lightness L of the CIE L*a*b* colour space is equalized, with all three of
L, a and b in 8 bits. Zuiderveld, "Contrast Limited Adaptive Histogram Equalization", Graphics
Gems IV, 1994.
""",
    input_docs=(
        "Images of type uint8 with layout ``HWC`` or ``FHWC``: grey, or RGB in this order.",
    ),
    args=(
        Arg(
            "tiles_x",
            int,
            "Number of tiles along the width, at least 1.",
            default=REQUIRED,
            range=Range(1, 65536),
        ),
        Arg(
            "tiles_y",
            int,
            "Number of tiles along the height, at least 1.",
            default=REQUIRED,
            range=Range(1, 65536),
        ),
        Arg(
            "clip_limit",
            float,
            "Largest count of a level in units of the mean count; a limit below one pixel counts "
            "as one. Without limit if it is not positive.",
            default=REQUIRED,
        ),
        Arg(
            "bins",
            int,
            "Accepted and without effect: histograms have one count for each of the 256 levels.",
            default=256,
        ),
        Arg(
            "luma_only",
            bool,
            "Whether to equalize the lightness of RGB images; otherwise each channel by itself.",
            default=True,
        ),
    ),
)
