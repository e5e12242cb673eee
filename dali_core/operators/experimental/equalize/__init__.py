"""Equalize the histograms of images, under a former name."""

from __future__ import annotations

from dali_core._spec import OpSpec

SPEC = OpSpec(
    name="experimental.equalize",
    doc="""Spread the levels of each channel of each image evenly over the whole range.

Former name of `equalize`, which does the same. Use that.
""",
    input_docs=("Images or sequences of type uint8.",),
)
