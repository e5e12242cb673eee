"""Box encoder anchors."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.host_and_device import compare

random = np.random.default_rng(2)
corners = np.sort(random.random((300, 2, 2)).round(1), axis=1).astype(np.float32)
anchors = corners.reshape(-1, 4)
boxes = [anchors[:9], anchors[40:41], anchors[:0]]
labels = [np.arange(1, len(x) + 1, dtype=np.int32) for x in boxes]
for offset in (False, True):
    encoded, numbers = compare(
        lambda box, label: fn.box_encoder(
            box, label, anchors=anchors.ravel().tolist(), offset=offset, criteria=0.3
        ),
        [boxes, labels],
    )
    assert (numbers[0] > 0).sum() > 9
    assert not numbers[2].any()
