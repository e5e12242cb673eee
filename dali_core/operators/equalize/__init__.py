"""Equalize the histograms of images."""

from __future__ import annotations

from dali_core._spec import OpSpec

SPEC = OpSpec(
    name="equalize",
    keeps_type=True,
    doc="""Spread the levels of each channel of each image evenly over the whole range.

A level becomes 255 times the share of pixels above the lowest level that is in the image, and not
above the level itself, rounded half to even. A channel of one level stays as it is. Each channel of
each frame has a histogram of its own.

Layouts are ``HW``, ``HWC``, ``CHW``, ``FHW``, ``FHWC`` and ``FCHW``. Data without a layout is taken
as ``HW``, ``HWC`` or ``FHWC``.
""",
    input_docs=("Images or sequences of type uint8.",),
    devices=("cpu", "gpu"),
)
