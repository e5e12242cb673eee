"""Random windows around regions of interest."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, images, pipeline

REGION: dict[str, Any] = {"roi_start": [10, 20], "roi_shape": [6, 4]}
EXAMPLES = [
    Example("shape", (), {"crop_shape": [10, 3], "in_shape": [30, 40], **REGION}),
    Example("end", (), {"crop_shape": [2, 9], "roi_start": [-5, 3], "roi_end": [8, 4]}),
    Example("data", [images(smallest=4)], {"crop_shape": [2], "roi_start": [1], "roi_shape": [3]}),
]


def draw(count: int = 1000, data: np.ndarray | None = None, **arguments: Any) -> np.ndarray:
    """Draw windows, one per row."""
    with pipeline(batch_size=count) as made:
        with made:
            inputs = [] if data is None else [fn.external_source(source=lambda: [data] * count)]
            made.set_outputs(fn.roi_random_crop(*inputs, **arguments))
        return made.run()[0].as_array()


@pytest.mark.parametrize(
    ("arguments", "first", "last"),
    [
        ({"crop_shape": [10, 10], **REGION}, (6, 14), (10, 20)),
        ({"crop_shape": [3, 2], **REGION}, (10, 20), (13, 22)),
        ({"crop_shape": [10, 2], **REGION}, (6, 20), (10, 22)),
        ({"crop_shape": [6, 4], **REGION}, (10, 20), (10, 20)),
        ({"crop_shape": [10, 9], "roi_start": [10, 20], "roi_end": [16, 24]}, (6, 15), (10, 20)),
        ({"crop_shape": [10, 10], "in_shape": [18, 30, 3], **REGION}, (6, 14), (8, 20)),
        ({"crop_shape": [10, 10], "in_shape": [16, 24], **REGION}, (6, 14), (6, 14)),
        ({"crop_shape": [10, 10], "roi_start": [-3, 2], "roi_shape": [6, 4]}, (-7, -4), (-3, 2)),
        (
            {"crop_shape": [9, 9], "roi_start": [2, 1], "roi_shape": [6, 4], "in_shape": [40, 40]},
            (0, 0),
            (2, 1),
        ),
        ({"crop_shape": 4, "roi_start": 5, "roi_shape": 0}, (1,), (5,)),
    ],
)
def test_places(arguments: dict[str, Any], first: tuple[int, ...], last: tuple[int, ...]) -> None:
    starts = draw(**arguments)
    assert starts.dtype == np.int64
    for column, low, high in zip(starts.T, first, last, strict=True):
        counts = Counter(column.tolist())
        assert sorted(counts) == list(range(low, high + 1))
        expected = 1000 / len(counts)
        assert max(abs(count - expected) for count in counts.values()) <= 5 * np.sqrt(expected)


def test_extents_of_an_input() -> None:
    starts = draw(data=np.zeros((18, 30, 3), np.uint8), crop_shape=[10, 10], **REGION)
    assert starts.min(axis=0).tolist() == [6, 14]
    assert starts.max(axis=0).tolist() == [8, 20]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"roi_end": [1, 1], **REGION}, "one of the arguments 'roi_end' and 'roi_shape'"),
        ({"roi_start": [1, 1]}, "one of the arguments 'roi_end' and 'roi_shape'"),
        ({"data": np.zeros((30, 30)), "in_shape": [30, 30], **REGION}, "in_shape must not be"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        draw(1, crop_shape=[4, 4], **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"crop_shape": [4]}, "roi_start must have as many numbers as crop_shape, 1"),
        ({"roi_shape": [4]}, "roi_shape must have as many numbers as crop_shape, 2"),
        ({"roi_shape": [-1, 4]}, "must not have negative extents"),
        ({"crop_shape": [-1, 4]}, "must not have negative extents"),
        ({"in_shape": [18]}, "crop_shape must have at most as many numbers as the data has"),
        ({"in_shape": [18, 3]}, "window and region must fit into the data"),
        ({"in_shape": [15, 30]}, "window and region must fit into the data"),
        ({"in_shape": [30, 30], "roi_start": [-1, 2]}, "window and region must fit into the data"),
    ],
)
def test_invalid_windows(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        draw(1, **{"crop_shape": [4, 4], **REGION, **arguments})
