"""Padding under the name that collating functions have."""

from __future__ import annotations

import numpy as np

from dali_core import fn
from tests.operators.suite import pipeline
from tests.operators.test_pad_batch import EXAMPLES as EXAMPLES


def test_same_as_pad_batch() -> None:
    arrays = [np.arange(number) for number in (2, 0, 5)]
    with pipeline() as made:
        with made:
            data = fn.external_source(source=lambda: arrays)
            settings = {"pad_to": 4, "side": "left"}
            made.set_outputs(*fn.collate(data, **settings), *fn.pad_batch(data, **settings))
        outputs = [np.array(batch.as_array()) for batch in made.run()]
    assert outputs[0].shape == (3, 8)
    for mine, expected in zip(outputs[:3], outputs[3:], strict=True):
        np.testing.assert_array_equal(mine, expected, strict=True)
