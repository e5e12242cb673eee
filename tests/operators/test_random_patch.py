"""Random patches around foreground and background."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, numbers, pipeline


def _labels(dtype: str, dims: int, last: tuple[int, ...] = ()) -> Input:
    def sample(number: int) -> np.ndarray:
        shape = tuple(5 + (number + dim) % 3 for dim in range(dims))
        return numbers("uint8", (*shape, *last), number).astype(dtype) % 3

    return Input(sample)


EXAMPLES = [
    Example("volume", [_labels("uint8", 3)], {"shape": [3, 4, 5], "positive": 0.7}),
    Example("classes", [_labels("int32", 2)], {"shape": [2, 2], "classes": [2, 1]}),
    Example("channel", [_labels("float32", 2, (1,))], {"shape": [5, 1]}),
]


def draw(labels: np.ndarray, count: int = 1000, **arguments: Any) -> np.ndarray:
    """Draw patches, one per row."""
    with pipeline(batch_size=count) as made:
        with made:
            data = fn.external_source(source=lambda: [labels] * count)
            made.set_outputs(fn.random_patch(data, **arguments))
        return made.run()[0].as_array()


def shares(counts: np.ndarray, expected: float) -> None:
    assert abs(counts.mean() - expected) <= 5 * np.sqrt(expected * (1 - expected) / len(counts))


def test_probability_of_foreground() -> None:
    labels = np.zeros((40, 50), np.uint8)
    labels[10:20, 30] = 3
    for positive in (0.0, 0.25, 1.0):
        centres = draw(labels, shape=[1, 1], positive=positive)
        assert centres.dtype == np.int64
        shares(labels[tuple(centres.T)] > 0, positive)
    centres = draw(labels, shape=[1, 1], positive=1.0)
    assert {tuple(place) for place in centres.tolist()} == {(n, 30) for n in range(10, 20)}


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    labels = np.zeros((4, 5, 6), dtype)
    labels[1, 2, 3] = 1
    for shape in (labels.shape, (*labels.shape, 1)):
        found = draw(labels.reshape(shape), 9, shape=[1, 1, 1], positive=1.0)
        assert np.unique(found, axis=0).tolist() == [[1, 2, 3]]


def test_small_classes_come_as_often_as_large_ones() -> None:
    labels = np.ones((30, 30), np.int16)
    labels[0, 0], labels[:, 9], labels[20:, 20:] = 7, -2, 0
    centres = draw(labels, shape=[1, 1], positive=1.0, classes=[7, 1, -2, 5])
    for label in (7, 1, -2):
        shares(labels[tuple(centres.T)] == label, 1 / 3)
    # Background is what is in no class.
    centres = draw(labels, shape=[1, 1], positive=0.0, classes=[1, -2])
    assert set(labels[tuple(centres.T)].tolist()) == {7, 0}


def test_patches_lie_inside_and_have_their_element() -> None:
    labels = np.zeros((9, 20), np.uint8)
    labels[0, 19] = labels[8, 0] = labels[4, 10] = 1
    starts = draw(labels, shape=[4, 7], positive=1.0)
    assert np.unique(starts, axis=0).tolist() == [[0, 13], [2, 7], [5, 0]]
    assert draw(labels, 5, shape=[9, 20]).tolist() == [[0, 0]] * 5


def test_maps_with_one_of_the_two_only() -> None:
    for value in (0, 1):
        for positive in (0.0, 1.0):
            found = draw(np.full((3, 4), value, np.uint8), shape=[1, 1], positive=positive)
            assert len(np.unique(found, axis=0)) == 12


def test_image_and_labels_are_cut_at_one_place() -> None:
    labels = numbers("uint8", (7, 8, 9), 1) % 2
    with pipeline(batch_size=3) as made:
        with made:
            data = fn.external_source(source=lambda: [labels] * 3, layout="DHW")
            start = fn.random_patch(data, shape=[3, 3, 3])
            image = fn.expand_dims(data * 10, axes=[3], new_axis_names="C")
            made.set_outputs(
                *(
                    fn.slice(one, start=start, shape=[3, 3, 3], axis_names="DHW")
                    for one in (data, image)
                )
            )
        small, large = made.run()
        np.testing.assert_array_equal(large.as_array()[..., 0], 10 * small.as_array())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": [3, 3]}, "shape must have a number for each dimension of the map .got 2"),
        ({"shape": [3, 3, 5]}, "a patch must lie inside of the map .got an extent of 5"),
        ({"shape": [3, 3, 0]}, "shape"),
        ({"shape": [1, 1, 1], "positive": 1.5}, "positive"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        draw(np.zeros((4, 4, 4), np.uint8), 1, **arguments)
