"""Equalized histograms on a device are those of the host."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.image_operators import check
from tests.operators.suite import numbers


def check_equalize() -> None:
    """Channels in groups, images in parts, and images that begin anywhere."""
    for layout, shapes in {
        "HW": [(1, 1), (7, 9), (3, 5)],
        "HWC": [(6, 5, 3), (11, 3, 3)],
        "FHWC": [(2, 5, 7, 5), (3, 4, 3, 5)],
        "FCHW": [(2, 3, 5, 7)],
        "CHW": [(3, 4, 0), (3, 4, 5)],
    }.items():
        data = [numbers("uint8", shape, i) // 3 + 20 for i, shape in enumerate(shapes)]
        check([fn.equalize], data, layout)
    large = numbers("uint8", (331, 301), 1)
    single = np.full((5, 6), 9, np.uint8)
    check([fn.equalize], [large, single], "HW")
    check([fn.equalize], [np.stack([large, large // 2], axis=-1)], "HWC")
