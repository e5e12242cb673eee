"""Boxes in every layout and unit, in images of every shape, beyond the image, and without area."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.comparing import check, check_refused, reference, run

SHAPES = ((128, 128), (100, 60), (61, 80), (1, 500))
LAYOUTS = ("xyXY", "xyWH", "XYxy", "WHxy", "yxYX", "yxHW", "xXyY", "xWyH", "YxXy")
ANGLES = (0, 45, -45, 135, 225, 315, 405, -135, 90, 180, 270, 30, 60, 44.999999, 45.00001, 771.3)


def in_layout(corners: Any, layout: str) -> np.ndarray:
    """Order the numbers of boxes (left, top, right, bottom)."""
    left, top, right, bottom = np.array(corners, np.float32).T
    numbers = {"x": left, "y": top, "X": right, "Y": bottom, "W": right - left, "H": bottom - top}
    return np.stack([numbers[letter] for letter in layout], 1)


def results(boxes: np.ndarray, count: int = 2, **arguments: Any) -> list[list[list[np.ndarray]]]:
    """Return the outputs of `random_bbox_crop` in both libraries."""
    arguments = {"total_num_attempts": 200, "quiet": True, "output_bbox_indices": True, **arguments}
    return [
        [
            out.samples
            for out in run(lib, "random_bbox_crop", [([boxes] * count, "")], {}, arguments)
        ]
        for lib in (dali_core, reference)
    ]


@pytest.mark.parametrize("mode", ["expand", "fixed", "halfway"])
@pytest.mark.parametrize("layout", ["xyXY", "xyWH"])
@pytest.mark.parametrize("is_normalized", [True, False])
def test_bbox_rotate_at_every_angle(mode: str, layout: str, is_normalized: bool) -> None:
    random = np.random.default_rng(1)
    samples = []
    shapes_and_angles = list(itertools.product(SHAPES, ANGLES))
    for (height, width), _ in shapes_and_angles:
        start = random.uniform(0, 0.7, (12, 2))
        corners = np.concatenate([start, start + random.uniform(0.01, 0.3, (12, 2))], 1)
        if not is_normalized:
            corners = np.round(corners * [width, height, width, height])
            corners[:, 2:] = np.maximum(corners[:, 2:], corners[:, :2] + 1)
        samples.append(in_layout(corners, layout))
    per_sample = {
        "angle": [np.float32(angle) for _, angle in shapes_and_angles],
        "input_shape": [np.int32(shape) for shape, _ in shapes_and_angles],
    }
    canvases: tuple[dict[str, Any], ...] = ({}, {"keep_size": True}, {"size": [50.0, 90.0]})
    for canvas, threshold in itertools.product(canvases, (0.0, 0.1, 0.5)):
        check(
            "bbox_rotate",
            (samples, ""),
            per_sample=per_sample,
            mode=mode,
            bbox_layout=layout,
            bbox_normalized=is_normalized,
            remove_threshold=threshold,
            tolerance=1e-6 if is_normalized else 2e-4,
            **canvas,
        )


def test_longer_side_of_a_box_turned_by_half_a_right_angle() -> None:
    box = np.array([[32, 48, 96, 80]], np.float32)
    for angle in (45.0, -45.0, 135.0, 225.0):
        check(
            "bbox_rotate",
            ([box], ""),
            angle=angle,
            input_shape=[128, 128],
            keep_size=True,
            bbox_normalized=False,
            mode="fixed",
        )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_bbox_crop_of_every_layout(layout: str) -> None:
    """Limits hold for the start and the end, whatever their order."""
    random = np.random.default_rng(2)
    whole: dict[str, Any] = {"crop_shape": [80, 60], "input_shape": [80, 60]}
    for _ in range(12):
        start, end = random.uniform(-0.1, 1.3, 2), random.uniform(-0.4, 1.1, 2)
        boxes = in_layout([[*start, *end]], layout)
        for arguments in ({}, {"bbox_prune_threshold": 0.0}, {"bbox_prune_threshold": 0.4}):
            settings = {"bbox_layout": layout, "allow_no_crop": False, **whole, **arguments}
            if start.min() < 0 or end.max() > 1:
                check_refused("random_bbox_crop", ([boxes], ""), quiet=True, **settings)
                continue
            for ours, theirs in zip(*results(boxes, **settings), strict=True):
                for mine, expected in zip(ours, theirs, strict=True):
                    assert mine.shape == expected.shape
                    np.testing.assert_allclose(mine, expected, atol=1e-6)


@pytest.mark.parametrize(
    "boxes",
    [
        [[0.5, 0.5, 0.5, 0.8]],
        [[0.5, 0.5, 0.4, 0.8], [0.1, 0.1, 0.5, 0.5]],
        [[1.2, 0.1, 0.9, 0.5], [0.1, 0.1, 0.5, 0.5]],
        [[0.6, 0.8, 0.4, 0.5]],
    ],
)
def test_boxes_without_area_are_kept_as_often(boxes: Sequence[Sequence[float]]) -> None:
    rules: list[dict[str, Any]] = [
        {"thresholds": [0.3], "threshold_type": "overlap"},
        {"thresholds": [0.0], "bbox_prune_threshold": 0.0},
        {"thresholds": [0.0]},
        {"thresholds": [0.05], "all_boxes_above_threshold": False},
    ]
    for rule in rules:
        arguments = {**rule, "allow_no_crop": False, "scaling": [0.3, 1.0]}
        arguments["aspect_ratio"] = [0.5, 2.0]
        ours, theirs = (
            [
                np.mean(start),
                np.mean(extent),
                *(np.mean([number in index for index in indices]) for number in range(len(boxes))),
            ]
            for start, extent, _, indices in results(np.array(boxes, np.float32), 800, **arguments)
        )
        np.testing.assert_allclose(ours, theirs, atol=0.06)


@pytest.mark.parametrize("ltrb", [False, True])
def test_boxes_beyond_the_image_are_flipped_and_pasted(ltrb: bool) -> None:
    random = np.random.default_rng(3)
    boxes = [random.uniform(-2, 3, (number, 4)).astype(np.float32) for number in range(6)]
    for horizontal, vertical in itertools.product((-1, 0, 1, 2), repeat=2):
        arguments = {"horizontal": horizontal, "vertical": vertical, "ltrb": ltrb}
        check("bb_flip", (boxes, ""), **arguments)
    for ratio, x, y in itertools.product((1.0, 1.5, 100.0, 1e6), (0.0, 0.3, 1.0), (0.0, 0.7, 1.0)):
        arguments = {"ratio": ratio, "paste_x": x, "paste_y": y, "ltrb": ltrb}
        check("bbox_paste", (boxes, ""), **arguments, tolerance=1e-6)
