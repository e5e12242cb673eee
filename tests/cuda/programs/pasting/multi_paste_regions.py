"""Multi paste regions."""

import numpy as np

from dali_core import fn, types
from tests.cuda.programs.host_and_device import compare, made

for layout, lead in (("HWC", ()), ("FHWC", (2,))):
    for dtype, to in (
        ("uint8", None),
        ("int16", None),
        ("float32", types.UINT8),
        ("uint8", types.FLOAT16),
        ("float64", types.INT64),
    ):
        images = made([(*lead, 20, 30, 3), (*lead, 40, 21, 3), (*lead, 20, 20, 3)], dtype)
        starts = np.int32([[0, 0], [3, 5], [2, 1]])
        shapes = np.int32([[20, 17], [9, 7], [0, 4]])
        places = np.int32([[0, 3], [11, 2], [0, 0]])
        ids = [np.int32(x) for x in ([0, 1, 2], [2, 1, 0], [1, 1, 1])]
        (canvases,) = compare(
            lambda image: fn.multi_paste(
                image,
                in_ids=fn.external_source(lambda: ids),
                output_size=[30, 23],
                in_anchors=starts.ravel().tolist(),
                shapes=shapes.ravel().tolist(),
                out_anchors=places.ravel().tolist(),
                **({} if to is None else {"dtype": to}),
            ),
            [images],
            layout,
        )
        assert (canvases[0][..., 11:20, 2:9, :] == images[1][..., 3:12, 5:12, :]).all()
        assert (canvases[0][..., 0:11, 3:20, :] == images[0][..., 0:11, 0:17, :]).all()
        assert not canvases[0][..., 20:, :, :].any()
