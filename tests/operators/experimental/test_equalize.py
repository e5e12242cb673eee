"""Equalizing histograms, under a former name."""

from __future__ import annotations

import numpy as np

from tests.operators.suite import Example, images, numbers, run_on

EXAMPLES = [Example("pixels", [images()])]


def test_does_what_equalize_does() -> None:
    image = numbers("uint8", (9, 11, 3), 5) // 2
    np.testing.assert_array_equal(
        run_on("experimental.equalize", [image], "HWC")[0], run_on("equalize", [image], "HWC")[0]
    )
