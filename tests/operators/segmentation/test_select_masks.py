"""Masks chosen by their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core.errors import SampleError
from tests.operators.boxes import run_on_inputs
from tests.operators.suite import Example, Input, numbers

POLYGONS = np.array([[0, 0, 3], [1, 3, 7], [0, 7, 10]], np.int32)
INPUTS = [
    Input(lambda number: np.array([[1], [0], [1, 0], []][number % 4], np.int32)),
    Input(lambda number: POLYGONS),
    Input(lambda number: numbers("float32", (10, 2), number)),
]
EXAMPLES = [
    Example("masks", INPUTS),
    Example("renumbered", INPUTS, {"reindex_masks": True}),
]
VERTICES = np.arange(20, dtype=np.int16).reshape(10, 2)


def test_masks_of_several_polygons() -> None:
    chosen = np.array([1, 0], np.int32)
    polygons, vertices = run_on_inputs("segmentation.select_masks", chosen, POLYGONS, VERTICES)
    np.testing.assert_array_equal(polygons, [[1, 0, 4], [0, 4, 7], [0, 7, 10]])
    np.testing.assert_array_equal(vertices, VERTICES[[3, 4, 5, 6, 0, 1, 2, 7, 8, 9]], strict=True)
    polygons, _ = run_on_inputs(
        "segmentation.select_masks", chosen, POLYGONS, VERTICES, reindex_masks=True
    )
    np.testing.assert_array_equal(polygons, [[0, 0, 4], [1, 4, 7], [1, 7, 10]])


@pytest.mark.parametrize(
    ("chosen", "polygons", "vertices", "message"),
    [
        ([7], POLYGONS, VERTICES, "masks must have polygons"),
        ([1, 1], POLYGONS, VERTICES, "mask numbers must be different"),
        ([[1]], POLYGONS, VERTICES, "mask numbers must be int32 of shape"),
        ([1], POLYGONS[:, :2], VERTICES, "polygons must be int32 of shape"),
        ([1], POLYGONS.astype(np.int64), VERTICES, "polygons must be int32 of shape"),
        ([1], POLYGONS, VERTICES[:, 0], "vertices must have the shape"),
        ([1], POLYGONS, VERTICES[:5], "polygon 1 must have vertices from 0 to 5"),
        ([1], [[1, -1, 2]], VERTICES, "polygon 0 must have vertices"),
        ([1], [[1, 4, 2]], VERTICES, "polygon 0 must have vertices"),
    ],
)
def test_inputs_that_do_not_fit(
    chosen: list[int], polygons: np.ndarray, vertices: np.ndarray, message: str
) -> None:
    polygons = polygons if isinstance(polygons, np.ndarray) else np.array(polygons, np.int32)
    with pytest.raises(SampleError, match=message):
        run_on_inputs(
            "segmentation.select_masks",
            np.array(chosen, np.int32),
            np.ascontiguousarray(polygons),
            np.ascontiguousarray(vertices),
        )
