"""Weighted means of pairs of images and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.batch_mixing import (
    NUM_CLASSES,
    class_numbers,
    mixed,
    pairs,
    same_size,
    score_rows,
)
from tests.operators.suite import Example, numbers, pipeline

EXAMPLES = [
    Example(
        "classes",
        [same_size(), class_numbers()],
        {"num_classes": NUM_CLASSES},
        depends_on_batch=True,
    ),
    Example(
        "rows of each sample",
        [same_size("float32", (3, 5, 4), "CHW"), score_rows()],
        {"alpha": 2.0, "per_sample": True},
        depends_on_batch=True,
    ),
]
SIZE = 8
IMAGE = numbers("uint8", (4, 4, 3), 0)
CLASSES = np.arange(SIZE)


def photos(dtype: str) -> np.ndarray:
    return np.stack([numbers(dtype, (5, 7, 3), number) for number in range(SIZE)])


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
@pytest.mark.parametrize("per_sample", [False, True])
def test_weighted_means(dtype: str, per_sample: bool) -> None:
    images = photos(dtype)
    batches = mixed(
        "mixup",
        images,
        CLASSES,
        num_batches=6,
        alpha=1.0,
        num_classes=SIZE,
        per_sample=per_sample,
    )
    for result, labels in batches:
        assert (result.dtype, result.shape) == (images.dtype, images.shape)
        assert (labels.dtype, labels.shape) == (np.float32, (SIZE, SIZE))
        for own, (other, weight) in enumerate(pairs(labels)):
            expected = weight * images[own].astype(float) + (1 - weight) * images[other]
            allowed = {"uint8": 0.501, "float16": 0.3, "float32": 1e-3}[dtype]
            assert np.abs(result[own].astype(float) - expected).max() <= allowed


def test_order_is_a_permutation_of_the_batch() -> None:
    batches = mixed("mixup", photos("uint8"), CLASSES, 20, num_classes=SIZE, alpha=1.0)
    orders = [tuple(other for other, _ in pairs(labels)) for _, labels in batches]
    assert all(sorted(order) == list(range(SIZE)) for order in orders)
    assert len(set(orders)) == 20


def test_weights_are_of_the_batch_or_of_each_sample() -> None:
    def weights(per_sample: bool) -> list[set[float]]:
        batches = mixed(
            "mixup", photos("uint8"), CLASSES, 10, num_classes=SIZE, per_sample=per_sample
        )
        return [
            {round(weight, 5) for own, (other, weight) in enumerate(pairs(labels)) if other != own}
            for _, labels in batches
        ]

    of_batches = weights(False)
    assert all(len(found) == 1 for found in of_batches)
    assert len(set.union(*of_batches)) == 10
    assert all(len(found) > 2 for found in weights(True))


@pytest.mark.parametrize("alpha", [0.2, 1.0, 4.0])
def test_weights_are_of_beta_distribution(alpha: float) -> None:
    batches = mixed(
        "mixup", photos("uint8"), CLASSES, 300, alpha=alpha, num_classes=SIZE, per_sample=True
    )
    weights = np.array(
        [
            weight
            for _, labels in batches
            for own, (other, weight) in enumerate(pairs(labels))
            if other != own
        ]
    )
    # Of a weight that rounds to 1, the label does not say the other sample: there are few.
    variance = 1 / (4 * (2 * alpha + 1))
    assert abs(weights.mean() - 0.5) < 0.06
    assert abs(weights.var() - variance) < 0.12 * variance + 0.02


def test_rows_of_labels() -> None:
    images, rows = photos("float32"), np.eye(SIZE, dtype=np.float64)[:, :6] + 0.25
    by_class = mixed("mixup", images, CLASSES, num_classes=SIZE)[0]
    by_row = mixed("mixup", images, rows)[0]
    np.testing.assert_array_equal(by_row[0], by_class[0])
    for own, (other, weight) in enumerate(pairs(by_class[1])):
        expected = weight * rows[own] + (1 - weight) * rows[other]
        np.testing.assert_allclose(by_row[1][own], expected, rtol=1e-6)
    several = np.array([[1, 0, 1]] * SIZE)  # several classes for each image
    np.testing.assert_allclose(mixed("mixup", images, several)[0][1], several)


def test_threads_do_not_matter() -> None:
    one, many = (
        mixed("mixup", photos("uint8"), CLASSES, 5, num_classes=SIZE, num_threads=threads)
        for threads in (1, 4)
    )
    for first, second in zip(one, many, strict=True):
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])


def test_weight_of_a_sample_does_not_depend_on_the_batch_size() -> None:
    def scores(size: int) -> np.ndarray:
        with pipeline(batch_size=size) as made:
            with made:
                number = fn.external_source(
                    source=lambda info: np.int32(info.idx_in_epoch), batch=False
                )
                image = fn.full_like(fn.cast(number, dtype=types.FLOAT), 0.0)
                made.set_outputs(
                    fn.mixup(image, number, alpha=1.0, num_classes=12, per_sample=True, seed=3)[1]
                )
            rows = np.concatenate([made.run()[0].as_array() for _ in range(12 // size)])
        return rows[np.arange(12), np.arange(12)]

    small, large = scores(4), scores(6)
    both = (small < 1) & (large < 1)
    assert both.sum() > 2
    np.testing.assert_array_equal(small[both], large[both])


@pytest.mark.parametrize(
    ("images", "labels", "arguments", "message"),
    [
        (
            [numbers("uint8", (4, 4, 3), 0), numbers("uint8", (4, 5, 3), 0)],
            [0, 1],
            {"num_classes": 2},
            r"images of a batch must have one shape and type \(got uint8 .* Resize, crop or cast",
        ),
        (
            [IMAGE] * 2,
            [0, 2],
            {"num_classes": 2},
            r"from 0 to 1 \(got 2\)",
        ),
        ([numbers("uint8", (4, 4, 3), 0)] * 2, [0, -1], {"num_classes": 2}, r"\(got -1\)"),
        ([numbers("uint8", (4, 4, 3), 0)] * 2, [0, 1], {}, "num_classes must be given"),
        (
            [IMAGE] * 2,
            [np.ones(3)] * 2,
            {"num_classes": 4},
            "rows of 4 numbers",
        ),
        (
            [numbers("int16", (4, 4, 3), 0)] * 2,
            [0, 1],
            {"num_classes": 2},
            "UINT8, FLOAT16 or FLOAT",
        ),
    ],
)
def test_wrong_batches(
    images: list[np.ndarray], labels: list[Any], arguments: dict[str, Any], message: str
) -> None:
    with pipeline(batch_size=2) as made:
        with made:
            data = fn.external_source(source=lambda: images, layout="HWC")
            classes = fn.external_source(source=lambda: [np.asarray(label) for label in labels])
            made.set_outputs(*fn.mixup(data, classes, **arguments))
        with pytest.raises(SampleError, match=message):
            # Of two samples, half of the orders mix none.
            [made.run() for _ in range(20)]


def test_wrong_alpha() -> None:
    with pipeline(batch_size=2) as made, made:
        data = fn.external_source(source=lambda: [np.zeros(3, np.float32)] * 2)
        with pytest.raises(ArgumentValueError, match="alpha.*above 0"):
            fn.mixup(data, data, alpha=0.0)
