"""Paste frames."""

import numpy as np

from dali_core import fn
from dali_core.errors import DaliCoreError
from tests.cuda.programs.host_and_device import compare, made, outputs

clips = made([(3, 5, 11, 3), (1, 8, 4, 3)])
places = [np.float32([0, 0.5, 1]), np.float32([0.25])]
(pasted,) = compare(
    lambda clip: fn.paste(
        clip,
        ratio=2.0,
        fill_value=9,
        paste_x=fn.per_frame(fn.external_source(lambda: places)),
    ),
    [clips],
    "FHWC",
)
assert (pasted[0][2, 2:7, -11:] == clips[0][2]).all()

(same,) = compare(lambda clip: fn.paste(clip, ratio=1.0, fill_value=9), [clips], "FHWC")
assert (same[0] == clips[0]).all()

# Frames become canvases of one shape, or an error.
ratios = [np.float32([1, 2, 3])]
for device in ("cpu", "gpu"):

    def different(clip):
        numbers = fn.per_frame(fn.external_source(lambda: ratios))
        return fn.paste(clip, ratio=numbers, fill_value=0)

    try:
        outputs(different, [clips[:1]], "FHWC", device)
    except DaliCoreError as error:
        assert "one type and shape" in str(error), error
    else:
        raise AssertionError(device)
