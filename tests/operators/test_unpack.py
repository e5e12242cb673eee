"""Taking sequences out of packed rows."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import SampleError
from tests.operators.suite import Example, Input, pipeline

IDS = np.int32([1, 1, 2, 2, 2, 3, 0, 0])
EXAMPLES = [
    Example("features", [Input(lambda n: np.arange(16.0).reshape(8, 2) + n), Input(lambda _: IDS)]),
    Example("second", [Input(lambda n: np.arange(8) + n), Input(lambda _: IDS)], {"segment": 2}),
]


@pytest.mark.parametrize("segment", range(5))
def test_segments(segment: int) -> None:
    row = np.arange(8)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [row])
            ids = fn.external_source(source=lambda: [IDS])
            made.set_outputs(fn.unpack(data, ids, segment=segment))
        assert made.run()[0].at(0).tolist() == row[segment == IDS].tolist()


def test_other_lengths() -> None:
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [np.arange(7)])
            ids = fn.external_source(source=lambda: [IDS])
            made.set_outputs(fn.unpack(data, ids))
        with pytest.raises(SampleError, match="one for each element of the row"):
            made.run()
