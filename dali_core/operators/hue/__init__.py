"""Turn the hue."""

from __future__ import annotations

from dali_core.operators.color_twist import SPEC as COLOR_TWIST

SPEC = COLOR_TWIST.variant(
    "hue",
    doc="""Turn the hue of each image.

The change is linear: colours are taken to the YIQ colour space, where hue and saturation are the
angle and the length of (I, Q).

Integers round half away from zero and saturate. Nothing is copied if nothing changes.
""",
    saturation=1.0,
    brightness=1.0,
    contrast=1.0,
)
