"""Boxes of images that are replaced by those of other images."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dali_core import fn, pipeline_def
from dali_core.auto_aug import rand_augment
from dali_core.errors import SampleError
from tests.operators.batch_mixing import (
    NUM_CLASSES,
    class_numbers,
    mixed,
    pairs,
    same_size,
    score_rows,
)
from tests.operators.suite import Example, pipeline

EXAMPLES = [
    Example(
        "classes",
        [same_size(), class_numbers()],
        {"num_classes": NUM_CLASSES},
        depends_on_batch=True,
    ),
    Example(
        "planes of each sample",
        [same_size("int16", (2, 7, 5), "CHW"), score_rows()],
        {"alpha": 0.5, "per_sample": True},
        depends_on_batch=True,
    ),
]
SIZE = 6
CLASSES = np.arange(SIZE)
SHAPES = {"HW": (9, 12), "HWC": (9, 12, 3), "CHW": (2, 9, 12), "FHWC": (2, 9, 12, 3)}


def constant_images(layout: str, dtype: str = "uint8") -> np.ndarray:
    """Return images of which every element is the number of the sample."""
    return np.stack([np.full(SHAPES[layout], number, dtype) for number in range(SIZE)])


@pytest.mark.parametrize("layout", SHAPES)
@pytest.mark.parametrize("per_sample", [False, True])
def test_boxes_and_labels(layout: str, per_sample: bool) -> None:
    batches = mixed(
        "cutmix",
        constant_images(layout, "float64" if layout == "HW" else "uint8"),
        CLASSES,
        num_batches=12,
        layout=layout,
        num_classes=SIZE,
        per_sample=per_sample,
    )
    boxes_of_batches = []
    for images, labels in batches:
        boxes = set()
        for own, (other, weight) in enumerate(pairs(labels)):
            is_other = images[own] == other
            assert (is_other | (images[own] == own)).all()
            plane = is_other[(0,) * layout.index("H")]
            plane = plane[..., 0] if layout.endswith("C") else plane
            # Channels and frames have the same box.
            axes = [axis for axis, letter in enumerate(layout) if letter not in "HW"]
            assert (is_other == np.expand_dims(plane, axes)).all()
            if other == own:
                continue
            rows, columns = plane.any(axis=1), plane.any(axis=0)
            np.testing.assert_array_equal(plane, rows[:, None] & columns[None, :])
            assert np.flatnonzero(np.diff(rows.astype(int))).size <= 2
            assert weight == pytest.approx(1 - plane.mean(), abs=1e-6)
            boxes.add((rows.tobytes(), columns.tobytes()))
        boxes_of_batches.append(boxes)
    if not per_sample:
        assert all(len(boxes) <= 1 for boxes in boxes_of_batches)
    else:
        assert max(map(len, boxes_of_batches)) > 2
    assert len(set.union(*boxes_of_batches)) > 5


def test_mean_area() -> None:
    """Compare with numbers drawn as in the program of the paper's authors."""
    generator, size = np.random.default_rng(1), 64
    expected = []
    for _ in range(4000):
        half = int(size * math.sqrt(1 - generator.beta(1, 1))) // 2
        sides = [
            np.clip([centre - half, centre + half], 0, size)
            for centre in generator.integers(size, size=2)
        ]
        expected.append(1 - math.prod(side[1] - side[0] for side in sides) / size**2)
    images = np.stack([np.full((size, size), number, np.uint8) for number in range(SIZE)])
    batches = mixed("cutmix", images, CLASSES, 150, layout="HW", num_classes=SIZE, per_sample=True)
    weights = [
        weight
        for _, labels in batches
        for own, (other, weight) in enumerate(pairs(labels))
        if other != own
    ]
    assert abs(np.mean(weights) - np.mean(expected)) < 0.05
    assert abs(np.std(weights) - np.std(expected)) < 0.05


def test_layouts_without_neighbours() -> None:
    images = np.zeros((2, 4, 3, 5), np.uint8)
    with pytest.raises(SampleError, match='H and W beside it .*"HCW".*Transpose'):
        mixed("cutmix", images, np.arange(2), layout="HCW", num_classes=2)


def test_empty_images() -> None:
    ((images, labels),) = mixed(
        "cutmix", np.zeros((2, 0, 5, 3), np.uint8), np.arange(2), num_classes=2
    )
    assert images.shape == (2, 0, 5, 3)
    np.testing.assert_array_equal(labels, np.eye(2))


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=1, enable_conditionals=True)
def augmented() -> Any:
    photos = constant_images("HWC") * 30
    image = fn.external_source(source=lambda: list(photos[:4]), layout="HWC")
    label = fn.external_source(source=lambda: [np.int32([number]) for number in range(4)])
    image = rand_augment.rand_augment(image, n=1, m=5)
    if fn.random.coin_flip():
        image, label = fn.mixup(image, label, num_classes=4)
    else:
        image, label = fn.cutmix(image, label, num_classes=4)
    return image, label


def test_after_automatic_augmentation_one_of_two_for_each_sample() -> None:
    with augmented() as made, augmented(num_threads=1) as other:
        for _ in range(4):
            (images, labels), expected = made.run(), other.run()
            assert images.shape() == [(9, 12, 3)] * 4
            np.testing.assert_array_equal(images.as_array(), expected[0].as_array())
            np.testing.assert_array_equal(labels.as_array(), expected[1].as_array())
            np.testing.assert_allclose(labels.as_array().sum(axis=1), 1, rtol=1e-6)


def test_last_batch_may_be_smaller() -> None:
    sizes = iter([4, 1])
    images = constant_images("HWC")
    with pipeline(batch_size=4) as made:
        with made:
            data = fn.external_source(source=lambda: list(images[: next(sizes)]), layout="HWC")
            made.set_outputs(*fn.cutmix(data, fn.constant(idata=[0]), num_classes=2))
        assert [len(made.run()[0]) for _ in range(2)] == [4, 1]
