"""Masks: random pixels, random objects, and masks chosen by their numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.comparing import check, check_refused, reference, run

DRAWS = 500
MASK = np.zeros((6, 8), np.int32)
MASK[0:2, 0:2] = MASK[4, 4:7] = MASK[2, 2] = 1
MASK[3:5, 0:2] = 2
MASK[0, 5:8] = 3
PIXEL, OBJECT = "segmentation.random_mask_pixel", "segmentation.random_object_bbox"
LEAST, MOST = -(2**31), 2**31 - 1
INTEGERS = ["uint8", "uint16", "uint32", "int8", "int16", "int32"]


def _as_sample(values: tuple[float, ...]) -> np.ndarray:
    dtype = np.float32 if type(values[0]) is float else np.int32
    return np.array(values if len(values) > 1 else values[0], dtype)


def counts(library: Any, operator: str, mask: np.ndarray, **arguments: Any) -> Counter[Any]:
    """Count what is drawn for a mask; tuples are passed per sample."""
    per_sample = {
        name: [_as_sample(value)] * DRAWS
        for name, value in arguments.items()
        if isinstance(value, tuple)
    }
    constants = {name: value for name, value in arguments.items() if name not in per_sample}
    outputs = run(library, operator, [([mask] * DRAWS, "")], per_sample, constants)
    rows = zip(*(out.samples for out in outputs), strict=True)
    kinds = [(out.layout, out.dtype) for out in outputs]
    return Counter((str(kinds), *(str(value.tolist()) for value in row)) for row in rows)


def check_counts(operator: str, mask: np.ndarray, **arguments: Any) -> None:
    """Both libraries draw the same things, equally often but for chance."""
    ours, theirs = (
        counts(library, operator, mask, **arguments) for library in (dali_core, reference)
    )
    assert set(ours) == set(theirs)
    for what, count in ours.items():
        spread = np.sqrt(count + theirs[what])
        assert abs(count - theirs[what]) <= 5 * spread, (what, count, theirs[what])


@pytest.mark.parametrize("dtype", [*INTEGERS, "int64", "uint64", "float32", "bool"])
def test_pixels_of_types(dtype: str) -> None:
    check_counts(PIXEL, MASK.astype(dtype), foreground=1)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"foreground": 1, "threshold": 1.0},
        {"foreground": 1, "threshold": 99.0},
        {"foreground": 1, "threshold": -1.0},
        {"foreground": 1, "value": 2},
        {"foreground": 1, "value": 7},
        {"foreground": (1,), "value": (3,)},
        {"foreground": (1,), "threshold": (1.5,)},
    ],
)
def test_pixels(arguments: dict[str, Any]) -> None:
    scalars = {
        name: value[0] if isinstance(value, tuple) else value for name, value in arguments.items()
    }
    check_counts(PIXEL, MASK, **scalars)
    check_counts(PIXEL, MASK, **arguments)
    check_counts(PIXEL, np.stack([MASK[:3, :4], MASK[3:, :4]]), **scalars)


def test_pixel_arguments_raise_in_both() -> None:
    data = ([MASK] * 2, "")
    check_refused(PIXEL, data, value=3, threshold=1.0)


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_objects_of_types(dtype: str) -> None:
    check_counts(OBJECT, MASK.astype(dtype), format="box")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"format": "anchor_shape"},
        {"format": "start_end"},
        {"output_class": True},
        {"ignore_class": True},
        {"k_largest": 1},
        {"k_largest": 2, "ignore_class": True},
        {"threshold": [2, 2]},
        {"threshold": 2},
        {"threshold": (1, 3), "k_largest": 1},
        {"threshold": [5, 5], "output_class": True},
        {"foreground_prob": 0.5, "output_class": True},
        {"foreground_prob": (0.25,)},
        {"foreground_prob": 0.0},
        {"classes": [1, 3], "output_class": True},
        {"classes": (1, 9), "output_class": True},
        {"classes": [9], "output_class": True},
        {"classes": [1, 1, 2], "output_class": True},
        {"classes": [0, 1], "output_class": True, "foreground_prob": 0.5},
        {"classes": [0, -1, 1], "output_class": True, "foreground_prob": 0.5},
        {"classes": [1, 3], "class_weights": [1.0, 3.0], "output_class": True},
        {"classes": [1, 3], "class_weights": (1.0, 3.0)},
        {"class_weights": [1.0, 0.0, 3.0], "output_class": True},
        {"class_weights": [1.0, 2.0, 4.0], "background": 1, "output_class": True},
        {"class_weights": [0.0, 0.0, 0.0], "output_class": True},
        {"background": 1, "output_class": True},
        {"background": (9,), "output_class": True},
        {"cache_objects": True},
    ],
)
def test_objects(arguments: dict[str, Any]) -> None:
    check_counts(OBJECT, MASK, **arguments)
    check_counts(OBJECT, np.eye(4, dtype=np.int32), **{**arguments, "format": "box"})
    check_counts(OBJECT, MASK * 0, **arguments)


@pytest.mark.parametrize(
    "classes",
    [
        [0, 1],
        [0, LEAST + 1],
        [0, LEAST],
        [LEAST, 0, MOST],
        [0, MOST - 1, LEAST, MOST],
        [LEAST, LEAST + 1, 0],
        [MOST, LEAST],
    ],
)
def test_background_beside_extreme_classes(classes: list[int]) -> None:
    mask = np.array([[0, LEAST, MOST], [MOST - 1, 2, 1]], np.int32)
    check_counts(OBJECT, mask, classes=classes, output_class=True)
    check_counts(OBJECT, mask, classes=classes, output_class=True, foreground_prob=0.0)


def test_objects_of_other_dimensions() -> None:
    check_counts(OBJECT, MASK[0].copy(), format="box")
    volume = np.random.default_rng(1).integers(0, 3, (3, 4, 3, 2)).astype(np.uint8)
    check_counts(OBJECT, volume, format="box")
    check_counts(OBJECT, volume, k_largest=1, output_class=True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"format": "other"},
        {"k_largest": 0},
        {"threshold": [1, 1, 1]},
        {"classes": [0, 1], "background": 0},
        {"classes": [1, 2], "class_weights": [1.0]},
        {"ignore_class": True, "classes": [1]},
        {"ignore_class": True, "output_class": True},
        {"ignore_class": True, "class_weights": [1.0]},
    ],
)
def test_object_arguments_raise_in_both(arguments: dict[str, Any]) -> None:
    check_refused(OBJECT, ([MASK] * 2, ""), **arguments)
    check_refused(OBJECT, ([MASK.astype(np.float32)] * 2, ""))


POLYGONS = np.array([[0, 0, 3], [1, 3, 7], [2, 7, 10]], np.int32)
VERTICES = np.arange(20, dtype=np.float32).reshape(10, 2)


def select(chosen: list[int], polygons: np.ndarray = POLYGONS) -> list[tuple[Any, str]]:
    return [([data] * 2, "") for data in (np.array(chosen, np.int32), polygons)]


@pytest.mark.parametrize("chosen", [[1], [2, 0], [0, 1, 2], []])
@pytest.mark.parametrize("reindex_masks", [False, True])
def test_select_masks(chosen: list[int], reindex_masks: bool) -> None:
    for vertices in (VERTICES, VERTICES.astype(np.uint8), np.ones((10, 3)), VERTICES[:, :1].copy()):
        data = ([vertices] * 2, "")
        check("segmentation.select_masks", *select(chosen), data, reindex_masks=reindex_masks)


def test_polygons_that_share_vertices() -> None:
    polygons = np.array([[1, 3, 6], [0, 4, 8]], np.int32)
    check("segmentation.select_masks", *select([0, 1], polygons), ([VERTICES] * 2, ""))


@pytest.mark.parametrize(
    ("chosen", "polygons"),
    [
        ([7], POLYGONS),
        ([1, 1], POLYGONS),
        ([1], POLYGONS[:, :2]),
        ([1], np.array([[1, 3, 70]], np.int32)),
        ([1], np.array([[1, -3, 3]], np.int32)),
        ([1], np.array([[1, 6, 3]], np.int32)),
        ([1], POLYGONS.astype(np.int64)),
    ],
)
def test_select_masks_errors(chosen: list[int], polygons: np.ndarray) -> None:
    check_refused(
        "segmentation.select_masks", *select(chosen, np.array(polygons)), ([VERTICES] * 2, "")
    )
