"""Random windows that leave enough of the boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.boxes import BOXES, LABELS, boxes_of, run_on_inputs
from tests.operators.suite import Example, pipeline
from tests.operators.test_box_encoder import overlaps

SHAPED = {"scaling": [0.4, 1.0], "aspect_ratio": [0.5, 2.0]}
EXAMPLES = [
    Example("boxes", [BOXES], {**SHAPED, "thresholds": [0.0, 0.1]}),
    Example("labels", [BOXES, LABELS], {**SHAPED, "output_bbox_indices": True}),
    Example(
        "pixels",
        [BOXES, LABELS],
        {
            "crop_shape": [40, 30],
            "input_shape": [60, 40],
            "shape_layout": "WH",
            "total_num_attempts": 5,
            "num_attempts": 2,
            "bbox_prune_threshold": 0.1,
        },
    ),
]
COUNT = 300
FIVE = boxes_of(0, count=5)


def draw(boxes: np.ndarray = FIVE, **arguments: Any) -> list[list[np.ndarray]]:
    """Draw windows for one set of boxes; return the samples of each output."""
    settings = {"allow_no_crop": False, "output_bbox_indices": True, **SHAPED, **arguments}
    settings = {name: value for name, value in settings.items() if value is not None}
    with pipeline(batch_size=COUNT) as made:
        with made:
            data = fn.external_source(source=lambda: [boxes] * COUNT)
            made.set_outputs(*fn.random_bbox_crop(data, **settings))
        return [[np.array(batch.at(i)) for i in range(COUNT)] for batch in made.run()]


def windows(results: list[list[np.ndarray]]) -> np.ndarray:
    """Return the windows as boxes (left, top, right, bottom)."""
    start, extent = np.array(results[0]), np.array(results[1])
    return np.concatenate([start, start + extent], 1)


def shares(found: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Return the share of each box that lies in each window."""
    low = np.maximum(found[:, None, :2], boxes[:, :2])
    high = np.minimum(found[:, None, 2:], boxes[:, 2:])
    return np.clip(high - low, 0, None).prod(-1) / (boxes[:, 2:] - boxes[:, :2]).prod(-1)


@pytest.mark.parametrize("threshold", [0.01, 0.02])
@pytest.mark.parametrize("needs_all", [False, True])
@pytest.mark.parametrize("kind", ["iou", "overlap"])
def test_windows_reach_the_threshold(threshold: float, needs_all: bool, kind: str) -> None:
    threshold = threshold if kind == "iou" else 20 * threshold
    results = draw(thresholds=[threshold], threshold_type=kind, all_boxes_above_threshold=needs_all)
    found = windows(results)
    score = (shares if kind == "overlap" else overlaps)(found, FIVE)
    assert (score.min(1) if needs_all else score.max(1)).min() >= threshold - 1e-6
    extents = np.array(results[1])
    assert extents.min() >= 0.4 - 1e-6
    assert extents.max() <= 1
    ratios = extents[:, 0] / extents[:, 1]
    assert ratios.min() >= 0.5 - 1e-6
    assert ratios.max() <= 2 + 1e-6
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-6


@pytest.mark.parametrize("prune", [None, 0.0, 0.3, 1.0])
def test_boxes_that_are_left(prune: float | None) -> None:
    results = draw(bbox_prune_threshold=prune)
    found = windows(results)
    part = shares(found, FIVE)
    center = (FIVE[:, :2] + FIVE[:, 2:]) / 2
    is_inside = ((center >= found[:, None, :2]) & (center <= found[:, None, 2:])).all(-1)
    for number, indices in enumerate(results[3]):
        expected = is_inside if prune is None else (part > 0) & (part >= prune)
        # A box may end where the window does, but for rounding.
        certain = np.abs(part[number] - (prune or 0)) > 1e-5
        left = np.isin(np.arange(len(FIVE)), indices)
        np.testing.assert_array_equal(left[certain], expected[number][certain])
        assert len(indices) > 0
        extent = found[number, 2:] - found[number, :2]
        corners = (FIVE[indices].reshape(-1, 2, 2) - found[number, :2]) / extent
        expected_boxes = np.clip(corners, 0, 1).reshape(-1, 4)
        np.testing.assert_allclose(results[2][number], expected_boxes, atol=1e-5)


def test_fixed_windows_lie_on_pixels() -> None:
    settings = {"scaling": None, "aspect_ratio": None}
    results = draw(crop_shape=[30, 20], input_shape=[40, 50], **settings)
    starts = np.array(results[0])
    np.testing.assert_array_equal(starts, np.round(starts))
    assert starts.min() >= 0
    assert (starts <= [10, 30]).all()
    np.testing.assert_array_equal(np.array(results[1]), [[30, 20]] * COUNT)


def test_whole_image_is_drawn_as_a_choice() -> None:
    results = draw(allow_no_crop=True, thresholds=[0.0], boxes=np.array([[0, 0, 1, 1]], np.float32))
    is_whole = (windows(results) == [0, 0, 1, 1]).all(1)
    assert 100 < is_whole.sum() < 200


def test_without_boxes_any_window_will_do() -> None:
    results = draw(np.zeros((0, 4), np.float32), thresholds=[0.9])
    assert np.array(results[1]).min() < 0.6
    assert all(boxes.shape == (0, 4) for boxes in results[2])


def test_window_in_a_volume() -> None:
    boxes = np.array([[0.2, 0.3, 0.4, 0.5, 0.6, 0.7]], np.float32)
    results = draw(boxes, scaling=[0.5, 1.0], aspect_ratio=[1.0, 1.0, 2.0, 2.0, 1.0, 4.0])
    extents = np.array(results[1])
    np.testing.assert_allclose(extents[:, 0], extents[:, 1], rtol=1e-5)
    np.testing.assert_allclose(extents[:, 0], 2 * extents[:, 2], rtol=1e-5)
    assert {found.shape for found in results[2]} == {(1, 6)}


def test_search_without_a_limit_ends() -> None:
    with pytest.raises(SampleError, match=r"found none in 100000 attempts.*total_num_attempts"):
        run_on_inputs("random_bbox_crop", FIVE, thresholds=[1.0], allow_no_crop=False, **SHAPED)
    with pytest.raises(SampleError, match="found none"):
        run_on_inputs(
            "random_bbox_crop", FIVE, allow_no_crop=False, scaling=[0.0, 0.0], total_num_attempts=5
        )


def test_best_window_after_the_limit() -> None:
    few, many = (
        overlaps(windows(draw(thresholds=[1.0], total_num_attempts=count)), FIVE).min(1).mean()
        for count in (1, 50)
    )
    assert many > few


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"thresholds": []}, "thresholds"),
        ({"thresholds": [float("nan")]}, "thresholds"),
        ({"scaling": [1.0, 0.5]}, "scaling must be a range"),
        ({"aspect_ratio": [2.0, 1.0]}, "aspect_ratio must be a range"),
        ({"aspect_ratio": [1.0, 1.0, 1.0]}, "aspect_ratio must be a range, or three"),
        ({"total_num_attempts": 0}, "total_num_attempts must be at least 1"),
        ({"bbox_layout": "xyXH"}, "bbox_layout must name"),
        ({"bbox_layout": "x"}, "bbox_layout must name"),
        ({"crop_shape": [3, 3]}, "input_shape must be given together with crop_shape"),
        ({"crop_shape": [3, 3], "input_shape": [9, 9], "scaling": [0.5, 1.0]}, "scaling"),
        ({"crop_shape": [0, 3], "input_shape": [9, 9]}, "crop_shape"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on_inputs("random_bbox_crop", FIVE, **arguments)


@pytest.mark.parametrize(
    ("boxes", "arguments", "message"),
    [
        (FIVE * np.float32(2), {}, "boxes must start at 0 or later, and end at 1 or before"),
        (FIVE - 1, {}, "boxes must start at 0 or later"),
        (FIVE * np.float32(np.nan), {}, "boxes must start at 0"),
        (FIVE + np.float32([np.inf, 0, 0, 0]), {}, "boxes must start at 0"),
        (FIVE - np.float32([0, 0, 0, np.inf]), {}, "boxes must start at 0"),
        (FIVE[:, :3], {}, r"boxes must be float32 of shape \(N, 4\)"),
        (FIVE.astype(np.float64), {}, "boxes must be float32"),
        (FIVE, {"bbox_layout": "xyzXYZ"}, r"boxes must be float32 of shape \(N, 6\)"),
        (FIVE, {"input_shape": [9, 9, 3]}, "input_shape must be one extent for each"),
        (FIVE, {"input_shape": [9, 9], "shape_layout": "AB"}, "input_shape must be one extent"),
    ],
)
def test_inputs_that_do_not_fit(boxes: np.ndarray, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on_inputs("random_bbox_crop", np.ascontiguousarray(boxes), **arguments)
