"""Bounding boxes: flipped, pasted, rotated, matched with anchors, and cropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.comparing import check, check_refused, reference, run

BOXES = np.array(
    [[0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.75, 0.925], [0.35, 0.3, 0.6, 0.65]], np.float32
)
EXTENTS = np.concatenate([BOXES[:, :2], BOXES[:, 2:] - BOXES[:, :2]], 1)
LABELS = np.array([5, 6, 7], np.int32)
SIZE = 3
ANCHORS = [
    *(0.1, 0.2, 0.3, 0.4),
    *(0.1, 0.2, 0.35, 0.4),
    *(0.5, 0.5, 0.7, 0.9),
    *(0.0, 0.0, 1.0, 1.0),
    *(0.4, 0.3, 0.6, 0.6),
    *(0.8, 0.8, 0.9, 0.9),
]


def same(array: np.ndarray) -> tuple[list[np.ndarray], str]:
    """Return a batch of one array."""
    return [array] * SIZE, ""


def scalars(*values: float, dtype: type = np.float32) -> list[np.ndarray]:
    return [np.array(value, dtype) for value in values]


def random_boxes(count: int, seed: int) -> np.ndarray:
    """Return boxes of some size in the unit square."""
    random = np.random.default_rng(seed)
    start = random.uniform(0, 0.7, (count, 2))
    end = start + random.uniform(0.05, 0.3, (count, 2))
    return np.concatenate([start, end], 1).astype(np.float32)


# bb_flip and coord_flip


@pytest.mark.parametrize("ltrb", [False, True])
@pytest.mark.parametrize(("horizontal", "vertical"), [(1, 0), (0, 1), (1, 1), (0, 0), (2, -1)])
def test_bb_flip(ltrb: bool, horizontal: int, vertical: int) -> None:
    boxes = same(BOXES if ltrb else EXTENTS)
    check("bb_flip", boxes, ltrb=ltrb, horizontal=horizontal, vertical=vertical)
    per_sample = {
        "horizontal": scalars(horizontal, 0, 1, dtype=np.int32),
        "vertical": scalars(1, vertical, 0, dtype=np.int32),
    }
    check("bb_flip", boxes, ltrb=ltrb, per_sample=per_sample)


@pytest.mark.parametrize("shape", [(0, 4), (4,), (12,), (1, 3, 4)])
def test_bb_flip_shapes(shape: Sequence[int]) -> None:
    check("bb_flip", same(np.resize(BOXES, shape)))


def test_bb_flip_requires_floats() -> None:
    check_refused("bb_flip", same(BOXES.astype(np.float64)))


@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
def test_coord_flip(ndim: int) -> None:
    points = same(BOXES[:, :ndim].copy())
    check("coord_flip", points)
    for layout in ("xyz", "zyx", "xzy") if ndim == 3 else ("xyz", "xy", "yx")[: 2 * ndim]:
        check(
            "coord_flip",
            points,
            layout=layout,
            flip_x=0,
            flip_y=1,
            flip_z=2,
            center_x=0.1,
            center_y=0.3,
            center_z=-2.0,
        )
    names = ("x", "y", "z")
    flips = {f"flip_{name}": scalars(i, 1 - i, 1, dtype=np.int32) for i, name in enumerate(names)}
    centers = {f"center_{name}": scalars(0.1, i, 0.7) for i, name in enumerate(names)}
    check("coord_flip", points, per_sample={**flips, **centers}, tolerance=1e-6)


@pytest.mark.parametrize(
    "arguments", [{"layout": "x"}, {"layout": "xx"}, {"layout": "ab"}, {"layout": "XY"}]
)
def test_coord_flip_errors(arguments: dict[str, Any]) -> None:
    check_refused("coord_flip", same(BOXES[:, :2].copy()), **arguments)


# bbox_paste and bbox_rotate


@pytest.mark.parametrize("ltrb", [False, True])
def test_bbox_paste(ltrb: bool) -> None:
    check("bbox_paste", same(BOXES), ratio=2.0, ltrb=ltrb)
    check("bbox_paste", same(BOXES), ratio=1.0, ltrb=ltrb)
    check("bbox_paste", same(BOXES), ratio=3.3, paste_x=0.1, paste_y=0.9, ltrb=ltrb, tolerance=1e-6)
    per_sample = {
        "ratio": scalars(1.5, 2, 3),
        "paste_x": scalars(0, 0.3, 1),
        "paste_y": scalars(1, 0.8, 0),
    }
    check("bbox_paste", same(BOXES), per_sample=per_sample, ltrb=ltrb, tolerance=1e-6)
    check("bbox_paste", same(np.zeros((0, 4), np.float32)), ratio=2.0, ltrb=ltrb)


ROTATIONS = (0, 30, 44, 46, 90, -90, 135.5, 200, 271, -400)


@pytest.mark.parametrize("mode", ["expand", "fixed", "halfway"])
@pytest.mark.parametrize("keep_size", [False, True])
@pytest.mark.parametrize("layout", ["xyXY", "xyWH"])
def test_bbox_rotate(mode: str, keep_size: bool, layout: str) -> None:
    boxes = BOXES if layout == "xyXY" else EXTENTS
    settings: dict[str, Any] = {"mode": mode, "keep_size": keep_size, "bbox_layout": layout}
    for angle in ROTATIONS:
        check(
            "bbox_rotate",
            same(boxes),
            same(LABELS),
            angle=float(angle),
            input_shape=[61, 80],
            remove_threshold=0.5,
            tolerance=1e-5,
            **settings,
        )
    per_sample = {
        "angle": scalars(10, 100, -60),
        "input_shape": [np.array(shape, np.int32) for shape in ((40, 50), (51, 41), (60, 60))],
    }
    check("bbox_rotate", same(boxes), per_sample=per_sample, tolerance=1e-5, **settings)


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_bbox_rotate_removes(threshold: float) -> None:
    for angle in (20.0, 45.0, 75.0):
        check(
            "bbox_rotate",
            same(random_boxes(40, 1)),
            same(np.arange(40, dtype=np.int32)[:, None]),
            angle=angle,
            input_shape=[40, 100],
            keep_size=True,
            remove_threshold=threshold,
            tolerance=1e-5,
        )


def test_bbox_rotate_canvas() -> None:
    pixels = (BOXES * np.array([80, 60, 80, 60])).astype(np.float32)
    settings: dict[str, Any] = {"angle": 30.0, "tolerance": 1e-5}
    check("bbox_rotate", same(BOXES), input_shape=[60, 80], size=[50.0, 90.0], **settings)
    check("bbox_rotate", same(BOXES), input_shape=[60, 80], size=[50.6, 90.4], **settings)
    sizes = [np.array(size, np.float32) for size in ((50, 90), (100, 30), (60, 80))]
    check("bbox_rotate", same(BOXES), input_shape=[60, 80], per_sample={"size": sizes}, **settings)
    settings["tolerance"] = 1e-3
    check("bbox_rotate", same(pixels), input_shape=[60, 80], bbox_normalized=False, **settings)
    settings["tolerance"] = 1e-5
    check("bbox_rotate", same(BOXES), input_shape=[60, 80, 3], **settings)
    for layout, shape in (("WH", [80, 60]), ("HWC", [60, 80, 3]), ("CHW", [3, 60, 80])):
        check("bbox_rotate", same(BOXES), input_shape=shape, shape_layout=layout, **settings)


@pytest.mark.parametrize(
    "arguments",
    [
        {"mode": "other"},
        {"bbox_layout": "XYxy"},
        {"shape_layout": "AB"},
        {"remove_threshold": 2.0},
        {"size": [50.0, 90.0], "keep_size": True},
        {"input_shape": [60]},
    ],
)
def test_bbox_rotate_errors(arguments: dict[str, Any]) -> None:
    check_refused(
        "bbox_rotate", same(BOXES), **{"angle": 3.0, "input_shape": [60, 80], **arguments}
    )


# box_encoder


@pytest.mark.parametrize("criteria", [0.0, 0.1, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("offset", [False, True])
def test_box_encoder(criteria: float, offset: bool) -> None:
    settings: dict[str, Any] = {"criteria": criteria, "offset": offset, "tolerance": 1e-5}
    check("box_encoder", same(BOXES), same(LABELS), anchors=ANCHORS, **settings)
    more = {"scale": 300.0, "means": [0.1, 0.2, 0.3, 0.4], "stds": [0.1, 0.1, 0.2, 0.2]}
    settings["tolerance"] = 1e-4
    check("box_encoder", same(BOXES), same(LABELS[:, None]), anchors=ANCHORS, **more, **settings)
    anchors = random_boxes(200, 3).ravel().tolist()
    boxes, labels = random_boxes(30, 4), np.arange(1, 31, dtype=np.int32)
    check("box_encoder", same(boxes), same(labels), anchors=anchors, **more, **settings)


@pytest.mark.parametrize(
    "boxes",
    [
        np.zeros((0, 4)),
        [[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.42]],
        [[0.1, 0.2, 0.3, 0.42], [0.1, 0.2, 0.3, 0.4]],
        [[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]],
        [[0.95, 0.95, 0.99, 0.99]],
        [[0.3, 0.4, 0.1, 0.2]],
        [[0.2, 0.2, 0.2, 0.4]],
        [[0.3, 0.6, 2.0, 2.5]],
    ],
)
def test_box_encoder_ties(boxes: Any) -> None:
    boxes = np.array(boxes, np.float32)
    labels = np.arange(1, len(boxes) + 1, dtype=np.int32)
    for anchors in (ANCHORS, ANCHORS[:12]):
        check("box_encoder", same(boxes), same(labels), anchors=anchors, tolerance=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        {"anchors": ANCHORS[:5]},
        {"stds": [0.0, 1.0, 1.0, 1.0]},
        {"stds": [1.0, 1.0]},
        {"means": [1.0, 1.0]},
        {"criteria": 1.5},
    ],
)
def test_box_encoder_errors(arguments: dict[str, Any]) -> None:
    check_refused("box_encoder", same(BOXES), same(LABELS), **{"anchors": ANCHORS, **arguments})
    check_refused("box_encoder", same(BOXES), same(LABELS.astype(np.int64)), anchors=ANCHORS)


# random_bbox_crop

DRAWS = 1000
WHOLE = np.array([[0, 0, 1, 1]], np.float32)


def draw(
    library: Any, boxes: np.ndarray, labels: bool = True, count: int = DRAWS, **arguments: Any
) -> list[list[np.ndarray]]:
    """Draw windows for one set of boxes; numbers in tuples are passed per sample."""
    inputs = [([boxes] * count, "")]
    if labels:
        inputs.append(([np.arange(len(boxes), dtype=np.int32)] * count, ""))
    per_sample = {
        name: [np.array(value, np.int32)] * count
        for name, value in arguments.items()
        if isinstance(value, tuple)
    }
    constants = {name: value for name, value in arguments.items() if name not in per_sample}
    constants = {"total_num_attempts": 1000, "quiet": True, **constants}
    return [out.samples for out in run(library, "random_bbox_crop", inputs, per_sample, constants)]


def check_same_distribution(ours: np.ndarray, theirs: np.ndarray, most: float = 0.1) -> None:
    """Compare two samples by the Kolmogorov-Smirnov statistic, column by column."""
    assert ours.shape == theirs.shape
    for mine, others in zip(ours.T, theirs.T, strict=True):
        places = np.sort(np.concatenate([mine, others]))
        below = [
            np.searchsorted(np.sort(one), places, side="right") / len(one) for one in (mine, others)
        ]
        assert np.abs(below[0] - below[1]).max() < most


@pytest.mark.parametrize(
    "arguments",
    [
        {"thresholds": [1.0], "threshold_type": "overlap"},
        {"output_bbox_indices": True},
        {"bbox_layout": "xyWH"},
        {"bbox_layout": "yxHW"},
        {"bbox_layout": "xXyY"},
        {"crop_shape": [80, 60], "input_shape": [80, 60], "allow_no_crop": False},
        {"crop_shape": (60, 80), "input_shape": (60, 80), "shape_layout": "HW"},
        {"crop_shape": [80, 60], "input_shape": (80, 60), "bbox_prune_threshold": 0.5},
        {"scaling": [1.0, 1.0], "aspect_ratio": [1.0, 1.0], "all_boxes_above_threshold": False},
        {"num_attempts": 3, "total_num_attempts": 5, "quiet": True},
    ],
)
def test_windows_that_hold_everything(arguments: dict[str, Any]) -> None:
    """What is not random is bitwise the same."""
    layout = arguments.get("bbox_layout", "xyXY")
    boxes = BOXES * np.float32(0.5)
    if layout == "xXyY":
        boxes = boxes[:, [0, 2, 1, 3]].copy()
    for count in (3, 0):
        for labels in (False, True):
            results = [
                draw(library, boxes[:count], labels, 4, **arguments)
                for library in (dali_core, reference)
            ]
            assert len(results[0]) == len(results[1])
            for mine, theirs in zip(*results, strict=True):
                for one, other in zip(mine, theirs, strict=True):
                    np.testing.assert_array_equal(one, other, strict=True)


def test_boxes_in_volumes() -> None:
    boxes = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]], np.float32)
    for arguments in ({}, {"crop_shape": [8, 6, 4], "input_shape": [8, 6, 4]}):
        for ours, theirs in zip(
            *(draw(library, boxes, True, 2, **arguments) for library in (dali_core, reference)),
            strict=True,
        ):
            np.testing.assert_array_equal(np.array(ours), np.array(theirs), strict=True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0]},
        {"scaling": [0.3, 1.0], "aspect_ratio": [2.0, 2.0]},
        {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 0.5], "allow_no_crop": True},
        {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0], "input_shape": [40, 80]},
        {"scaling": [0.3, 1.0], "aspect_ratio": [1.0, 1.0], "input_shape": [80, 40]},
        {"scaling": [1.0, 2.0], "aspect_ratio": [0.5, 2.0]},
        {"crop_shape": [6, 4], "input_shape": [12, 8]},
        {"crop_shape": [6, 10], "input_shape": [8, 8], "shape_layout": "HW"},
    ],
)
def test_windows_have_the_same_distribution(arguments: dict[str, Any]) -> None:
    arguments = {"allow_no_crop": False, "bbox_prune_threshold": 0.0, **arguments}
    results = [draw(library, WHOLE, **arguments) for library in (dali_core, reference)]
    ours, theirs = (np.concatenate([np.array(out) for out in one[:2]], 1) for one in results)
    check_same_distribution(ours, theirs)


@pytest.mark.parametrize(
    "arguments",
    [
        {"thresholds": [0.0]},
        {"thresholds": [0.05, 0.1], "num_attempts": 5},
        {"thresholds": [0.1], "all_boxes_above_threshold": False},
        {"thresholds": [0.5], "threshold_type": "overlap", "allow_no_crop": False},
        {"bbox_prune_threshold": 0.0, "allow_no_crop": False},
        {"bbox_prune_threshold": 0.5, "allow_no_crop": False},
        {"thresholds": [0.9], "total_num_attempts": 20, "allow_no_crop": False},
        {
            "thresholds": [0.9],
            "total_num_attempts": 20,
            "allow_no_crop": False,
            "all_boxes_above_threshold": False,
        },
        {"thresholds": [0.9], "total_num_attempts": 3, "num_attempts": 3},
    ],
)
def test_boxes_have_the_same_distribution(arguments: dict[str, Any]) -> None:
    arguments = {"scaling": [0.2, 1.0], "aspect_ratio": [0.5, 2.0], **arguments}
    arguments["output_bbox_indices"] = True
    results = [draw(library, BOXES, **arguments) for library in (dali_core, reference)]
    features = []
    for start, extent, boxes, labels, indices in results:
        assert [label.tolist() for label in labels] == [index.tolist() for index in indices]
        left = [[number in index for number in range(len(BOXES))] for index in indices]
        edges = [box.sum() for box in boxes]
        features.append(np.column_stack([start, extent, np.array(left, np.float64), edges]))
    check_same_distribution(*features)


@pytest.mark.parametrize(
    "arguments",
    [
        {"thresholds": [1.5]},
        {"thresholds": []},
        {"scaling": [1.0, 0.5]},
        {"scaling": [-1.0, 0.5]},
        {"aspect_ratio": [2.0, 1.0]},
        {"num_attempts": 0},
        {"total_num_attempts": 0},
        {"threshold_type": "other"},
        {"bbox_prune_threshold": 2.0},
        {"bbox_layout": "xyXX"},
        {"bbox_layout": "xyXH"},
        {"bbox_layout": "xyzXYZ"},
        {"bbox_layout": "xyXY", "ltrb": True},
        {"crop_shape": [40, 30]},
        {"crop_shape": [40], "input_shape": [80, 60]},
        {"crop_shape": [40, 30], "input_shape": [80, 60], "scaling": [0.1, 0.2]},
        {"input_shape": [80, 60, 3], "shape_layout": "HWC"},
    ],
)
def test_random_bbox_crop_errors(arguments: dict[str, Any]) -> None:
    check_refused("random_bbox_crop", same(BOXES), **{"total_num_attempts": 9, **arguments})


@pytest.mark.parametrize("boxes", [BOXES * 2, BOXES - 1, BOXES * np.float32(np.nan), BOXES[:, :3]])
def test_boxes_beside_the_image(boxes: np.ndarray) -> None:
    check_refused("random_bbox_crop", same(boxes), total_num_attempts=9)


@pytest.mark.filterwarnings("ignore:.*'ltrb' is deprecated:DeprecationWarning")
def test_ltrb() -> None:
    for ltrb, boxes in ((True, BOXES), (False, EXTENTS)):
        check("random_bbox_crop", same(boxes), ltrb=ltrb, tolerance=1e-7, total_num_attempts=9)


# ssd_random_crop


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ssd_random_crop() -> None:
    image = (np.arange(40 * 60 * 3) % 251).astype(np.uint8).reshape(40, 60, 3)
    features, kinds = [], []
    for library in (dali_core, reference):
        inputs = [
            ([data] * DRAWS, layout) for data, layout in ((image, "HWC"), (BOXES, ""), (LABELS, ""))
        ]
        results = run(library, "ssd_random_crop", inputs, {}, {"num_attempts": 9})
        kinds.append([(out.layout, out.dtype) for out in results])
        rows = [
            [*data.shape[:2], len(labels), labels.sum(), boxes.sum()]
            for data, boxes, labels in zip(*(out.samples for out in results), strict=True)
        ]
        features.append(np.array(rows))
    assert kinds[0] == kinds[1]
    check_same_distribution(*features)
