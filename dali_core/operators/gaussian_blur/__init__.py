"""Blur with a Gaussian window."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="gaussian_blur",
    keeps_type=True,
    doc="""Blur images, volumes or sequences with a Gaussian window.

Each data axis is convolved with a window of weights ``exp(-x * x / (2 * sigma * sigma))`` that sum
to 1. Beyond the border, the input is reflected around its outermost pixels. Sums are computed in
32-bit floating point; integers round half away from zero and saturate.

Data axes are all dimensions but frames (F) and channels (C): one to three. Frames come first,
channels first or last. Data without a layout has data axes only.
""",
    input_docs=("Images, volumes or sequences of any type but bool.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "sigma",
            list[float],
            "Standard deviation in pixels, one for all data axes or one for each, outermost first. "
            "Where it is 0, it is ``0.3 * ((window_size - 1) / 2 - 1) + 0.8``. As a node it may "
            "have values for each frame: its layout then begins with F.",
            default=[0.0],
            tensor=True,
            range=Range(0),
        ),
        Arg(
            "window_size",
            list[int],
            "Extent of the window in pixels, odd; one for all data axes or one for each. Where it "
            "is 0, it is ``2 * ceil(3 * sigma) + 1``. `sigma` and `window_size` must not both be "
            "0. As a node it may have values for each frame, like `sigma`.",
            default=[0],
            tensor=True,
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the output: ``FLOAT`` or the input's type; the latter if left out.",
            default=UNSET,
        ),
    ),
)
