"""Colours for each frame."""

import numpy as np

from dali_core import fn, types
from tests.cuda.programs.frames_on_device.clips import clips, compare

operators = [
    lambda clip, value: fn.brightness(clip, brightness=value),
    lambda clip, value: fn.brightness(clip, brightness=value, brightness_shift=0.1),
    lambda clip, value: fn.contrast(clip, contrast=value),
    lambda clip, value: fn.brightness_contrast(
        clip, brightness=value, contrast=value, dtype=types.FLOAT
    ),
]
for operator in operators:
    for dtype in ("uint8", "int16", "int32", "float32"):
        found = compare(operator, dtype)
changed = compare(operators[0], "int32")
np.testing.assert_array_equal(changed[0][0], clips[0][0].astype("int32"))
assert (changed[0][1] != clips[0][1]).any()
assert (changed[0][3] != changed[0][1]).any()
np.testing.assert_array_equal(changed[1], clips[1].astype("int32"))

mixes = [
    lambda clip, value: fn.saturation(clip, saturation=value),
    lambda clip, value: fn.hue(clip, hue=value),
    lambda clip, value: fn.hsv(clip, hue=30, saturation=value, value=value),
    lambda clip, value: fn.color_twist(clip, brightness=value, contrast=value, hue=value),
]
for operator in mixes:
    for dtype in ("uint8", "int16", "float32"):
        compare(operator, dtype)
twisted = compare(mixes[0], "uint8")
np.testing.assert_array_equal(twisted[0][2], clips[0][2])
assert (twisted[0][1] != clips[0][1]).any()
