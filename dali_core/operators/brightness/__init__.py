"""Change the brightness."""

from __future__ import annotations

from dali_core.operators.brightness_contrast import SPEC as BRIGHTNESS_CONTRAST

SPEC = BRIGHTNESS_CONTRAST.variant(
    "brightness",
    doc="""Change the brightness of each image.

Every element becomes ``brightness_shift * range + brightness * x``.

Here ``range`` is the largest number of the output's integer type, or 1.0 if it is floating point.
Integers round half away from zero and saturate. Nothing is copied if nothing changes.
""",
    contrast=1.0,
    contrast_center=None,
)
