"""Random windows of images, with their boxes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import SampleError
from tests.operators.boxes import BOXES, LABELS, run_on_inputs
from tests.operators.suite import Example, images, pipeline

EXAMPLES = [
    Example("plain", [images(smallest=4), BOXES, LABELS]),
    Example("attempts", [images(dtype="float32", smallest=4), BOXES, LABELS], {"num_attempts": 9}),
]
IMAGE = np.stack(np.meshgrid(np.arange(50), np.arange(40)), -1).astype(np.uint8)


def test_pixels_of_windows_and_boxes() -> None:
    box = np.array([[0.3, 0.3, 0.7, 0.7]], np.float32)
    label = np.array([7], np.int32)
    with pipeline(batch_size=200) as made:
        with made:
            inputs = [
                fn.external_source(source=partial(np.stack, [data] * 200))
                for data in (IMAGE, box, label)
            ]
            made.set_outputs(*fn.ssd_random_crop(*inputs, num_attempts=20))
        results = [[np.array(batch.at(i)) for i in range(200)] for batch in made.run()]
    shapes = set()
    for pixels, boxes, labels in zip(*results, strict=True):
        height, width = pixels.shape[:2]
        shapes.add((height, width))
        left, top = pixels[0, 0]
        np.testing.assert_array_equal(pixels, IMAGE[top : top + height, left : left + width])
        assert labels.tolist() == [7]
        expected = (np.array([15, 12, 35, 28]) - [left, top, left, top]) / [
            *(width, height, width, height)
        ]
        slack = 2.5 / min(height, width)  # windows are cut to whole pixels
        np.testing.assert_allclose(boxes[0], np.clip(expected, 0, 1), atol=slack)
    assert (40, 50) in shapes
    assert len(shapes) > 50


@pytest.mark.parametrize(
    ("image", "boxes", "labels", "message"),
    [
        (IMAGE[..., 0], np.zeros((1, 4)), np.zeros(1), "images must have the layout HWC"),
        (IMAGE, np.zeros((1, 3)), np.zeros(1), "boxes must be float32 of shape"),
        (IMAGE, np.full((1, 4), np.nan), np.zeros(1), "boxes must be finite"),
        (IMAGE, np.zeros((1, 4)), np.zeros(2), "labels must be one for each"),
    ],
)
def test_inputs_that_do_not_fit(
    image: np.ndarray, boxes: np.ndarray, labels: np.ndarray, message: str
) -> None:
    with pytest.raises(SampleError, match=message):
        run_on_inputs(
            *("ssd_random_crop", np.ascontiguousarray(image), boxes.astype(np.float32), labels)
        )
