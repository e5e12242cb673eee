"""Sum the second derivatives of images along all axes."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="laplacian",
    doc="""Sum the second derivatives of images, volumes or sequences along all data axes.

The derivative along an axis is a convolution with a derivative window along that axis and with
smoothing windows along the others. Smoothing windows are rows of Pascal's triangle, so ``1 2 1`` or
``1 4 6 4 1``. The derivative window of 3 pixels is ``1 -2 1``; larger ones are that convolved with
a smoothing window. Beyond the border, the input is reflected around its outermost pixels. Sums are
computed in 32-bit floating point; integers round half away from zero and saturate.

Data axes are all dimensions but frames (F) and channels (C): one to three. Frames come first,
channels first or last. Data without a layout has data axes only.
""",
    input_docs=("Images, volumes or sequences of any type but bool.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "window_size",
            list[int],
            "Extent of the derivative windows in pixels, odd, from 3 to 31; one for all data axes "
            "or one for each, outermost first. As a node it may have values for each frame: its "
            "layout then begins with F.",
            default=[3],
            tensor=True,
        ),
        Arg(
            "smoothing_size",
            list[int],
            "Extent of the smoothing windows in pixels, odd, from 1 to 31, where 1 does not "
            "smooth; one for all data axes or one for each axis that is smoothed. If left out, a "
            "derivative is smoothed with windows as large as its derivative window. As a node it "
            "may have values for each frame, like `window_size`.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "scale",
            list[float],
            "Factor of the derivatives, one for all data axes or one for each; 1 if left out. As a "
            "node it may have values for each frame, like `window_size`.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "normalized_kernel",
            bool,
            "Whether to scale each derivative by ``2 ** (n + 2 - s)``, where n is the number of "
            "data axes and s the sum of the extents of the windows along them. `scale` must not "
            "be given then.",
            default=False,
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output: ``FLOAT`` or the input's type; the latter if left out.",
            default=UNSET,
        ),
    ),
)
