"""Change the contrast."""

from __future__ import annotations

from dali_core.operators.brightness_contrast import SPEC as BRIGHTNESS_CONTRAST

SPEC = BRIGHTNESS_CONTRAST.variant(
    "contrast",
    doc="""Change the contrast of each image.

Every element becomes ``contrast_center + contrast * (x - contrast_center)``.

Integers round half away from zero and saturate. Nothing is copied if nothing changes.
""",
    brightness=1.0,
    brightness_shift=0.0,
)
