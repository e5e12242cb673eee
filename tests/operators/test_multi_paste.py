"""Pasting regions of several images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import (
    ALL_TYPES,
    Example,
    images,
    numbers,
    pipeline,
    run_on,
    type_of,
)

SIZE = {"output_size": [50, 100]}
EXAMPLES = [
    Example(
        "relative",
        [images(), images()],
        {
            **SIZE,
            "in_anchors_rel": [0.0, 0.25, 0.5, 0.0],
            "shapes_rel": [1.0, 0.5, 0.25, 1.0],
            "out_anchors_rel": [0.0, 0.0, 0.1, 0.02],
        },
    ),
    Example(
        "absolute",
        [images(smallest=3)],
        {**SIZE, "in_anchors": [1, 0], "shapes": [2, 3], "out_anchors": [4, 5]},
    ),
    Example(
        "chosen",
        [images("FHWC", "float32")],
        {**SIZE, "in_ids": [0, 0], "dtype": types.INT16},
        depends_on_batch=True,
    ),
]
IMAGES = [numbers("uint8", shape, 0) for shape in ((4, 6, 3), (5, 3, 3), (7, 2, 3))]
Pair = Sequence[int]


def pasted(size: Pair, regions: Sequence[tuple[np.ndarray, Pair, Pair, Pair]]) -> np.ndarray:
    """Paste with NumPy: image, where from, which extents, where to."""
    canvas = np.zeros((*size, 3), np.uint8)
    for image, (y, x), (height, width), (top, left) in regions:
        canvas[top : top + height, left : left + width] = image[y : y + height, x : x + width]
    return canvas


def paste_batch(
    inputs: Sequence[Sequence[np.ndarray]],
    per_sample: dict[str, Sequence[np.ndarray]] | None = None,
    **arguments: Any,
) -> list[np.ndarray]:
    with pipeline(batch_size=len(inputs[0]), num_threads=2) as made:
        with made:
            nodes = [fn.external_source(source=partial(list, data)) for data in inputs]
            more = {
                name: fn.external_source(source=partial(list, data))
                for name, data in (per_sample or {}).items()
            }
            made.set_outputs(fn.multi_paste(*nodes, **more, **arguments))
        (batch,) = made.run()
        assert batch.layout() == "HWC"
        return [np.array(batch.at(i)) for i in range(len(batch))]


def test_samples_of_the_batch() -> None:
    ids = [np.int32([1, 2, 0]), np.int32([]), np.int32([2])]
    anchors = [np.int32([[0, 0], [1, 1], [4, 2]]), np.zeros((0, 2), np.int32), np.int32([[1, 5]])]
    results = paste_batch([IMAGES], {"in_ids": ids, "out_anchors": anchors}, output_size=[8, 9])
    for result, chosen, starts in zip(results, ids, anchors, strict=True):
        regions = [
            (IMAGES[i], (0, 0), IMAGES[i].shape[:2], start)
            for i, start in zip(chosen, starts, strict=True)
        ]
        np.testing.assert_array_equal(result, pasted((8, 9), regions), strict=True)


def test_several_inputs() -> None:
    others = [image[::-1, ::-1].copy() for image in IMAGES]
    arguments = {"in_anchors": [0, 1, 2, 0], "shapes": [3, 1, 2, 2], "out_anchors": [1, 0, 0, 1]}
    results = paste_batch([IMAGES, others], output_size=(4, 4), **arguments)
    for result, image, other in zip(results, IMAGES, others, strict=True):
        regions = [(image, (0, 1), (3, 1), (1, 0)), (other, (2, 0), (2, 2), (0, 1))]
        np.testing.assert_array_equal(result, pasted((4, 4), regions))


def test_relative_coordinates_round_so_that_regions_grow() -> None:
    (result,) = paste_batch(
        [[IMAGES[0]]],
        output_size=[7, 9],
        in_anchors_rel=[0.49, 0.33],
        shapes_rel=[0.26, 0.34],
        out_anchors_rel=[0.57, 0.34],
    )
    np.testing.assert_array_equal(result, pasted((7, 9), [(IMAGES[0], (1, 1), (2, 3), (3, 3))]))


def test_canvas_of_equal_images() -> None:
    equal = [IMAGES[0], IMAGES[0] // 2]
    for result in paste_batch([equal], in_ids=[0, 1]):
        np.testing.assert_array_equal(result, equal[1])


def test_frames() -> None:
    frames = numbers("uint8", (4, 5, 6, 3), 0)
    (result,) = run_on("multi_paste", [frames], "FHWC", output_size=[9, 8], out_anchors=[2, 1])
    for changed, frame in zip(result, frames, strict=True):
        np.testing.assert_array_equal(changed, pasted((9, 8), [(frame, (0, 0), (5, 6), (2, 1))]))


@pytest.mark.parametrize("source", ALL_TYPES)
@pytest.mark.parametrize("target", ["", "uint8", "int16", "float32"])
def test_types(source: str, target: str) -> None:
    image = (numbers("uint8", (3, 4, 1), 0) // 2).astype(source)
    arguments = {"dtype": type_of(target)} if target else {}
    (result,) = run_on("multi_paste", [image], "HWC", **arguments)
    np.testing.assert_array_equal(result, image.astype(target or source), strict=True)


def test_integers_round_and_saturate() -> None:
    image = np.float32([[[0.5, -0.5, 300, -300, 2.4]]])
    (result,) = run_on("multi_paste", [image], "HWC", dtype=types.UINT8)
    assert result.tolist() == [[[1, 0, 255, 0, 2]]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "all images must have the same extents if output_size is not given"),
        ({"output_size": [3, 9]}, "region 0 must lie inside the canvas"),
        ({**SIZE, "in_ids": [3]}, "in_ids must be from 0 to 2"),
        ({**SIZE, "in_ids": [-1]}, "in_ids must be from 0 to 2"),
        ({**SIZE, "in_anchors": [0, 7]}, "region 0 must lie inside its image"),
        ({**SIZE, "in_anchors": [-1, 0]}, "region 0 must lie inside its image"),
        ({**SIZE, "shapes": [8, 1]}, "region 0 must lie inside its image"),
        ({**SIZE, "shapes": [-1, 1]}, "region 0 must lie inside its image"),
        ({**SIZE, "out_anchors": [-1, 0]}, "region 0 must lie inside the canvas"),
        ({**SIZE, "out_anchors": [0, 0, 1]}, "out_anchors must have a row of height and width"),
    ],
)
def test_invalid_regions(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        paste_batch([IMAGES], **arguments)


def test_invalid_images() -> None:
    grey = [image[..., :1].copy() for image in IMAGES]
    with pytest.raises(SampleError, match="all images must have the same type, frames and"):
        paste_batch([IMAGES, grey], **SIZE)
    with pytest.raises(SampleError, match='inputs must have the layout "HWC" or "FHWC"'):
        run_on("multi_paste", IMAGES, "CHW", **SIZE)
    shapes = {"in_anchors": [np.zeros((2, 1), np.int32)] * 3}
    with pytest.raises(SampleError, match=r"row of height and width .* \(got shape \(2, 1\)\)"):
        paste_batch([IMAGES], shapes, **SIZE)


def test_invalid_calls() -> None:
    with pytest.raises(ArgumentValueError, match="there must be one input if in_ids is given"):
        paste_batch([IMAGES, IMAGES], in_ids=[0])
    with pytest.raises(ArgumentValueError, match="'in_anchors' must not be given together"):
        paste_batch([IMAGES], in_anchors=[0, 0], in_anchors_rel=[0, 0])
    with pytest.raises(ArgumentValueError, match="'output_size' must have at least 2 numbers"):
        paste_batch([IMAGES], output_size=[5])
    with pytest.raises(ArgumentValueError, match="'output_size', entry 0 must be at least 0"):
        paste_batch([IMAGES], output_size=[-1, 5])
