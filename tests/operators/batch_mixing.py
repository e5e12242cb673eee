"""Shared parts of the tests of fn.mixup and fn.cutmix."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core import fn
from tests.operators.suite import Input, function_of, numbers, pipeline

NUM_CLASSES = 5


def same_size(
    dtype: str = "uint8", shape: tuple[int, ...] = (6, 9, 3), layout: str = "HWC"
) -> Input:
    """Return images of one size."""
    return Input(lambda number: numbers(dtype, shape, number), layout)


def class_numbers() -> Input:
    """Return class numbers."""
    return Input(lambda number: np.int32([number % NUM_CLASSES]))


def score_rows() -> Input:
    """Return rows with a number for each class."""
    return Input(lambda number: np.abs(numbers("float32", (4,), number)))


def mixed(
    operator: str,
    images: np.ndarray,
    labels: np.ndarray,
    num_batches: int = 1,
    layout: str = "HWC",
    num_threads: int = 1,
    **arguments: Any,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return images and labels of batches that an operator makes of the same input."""
    with pipeline(batch_size=len(images), num_threads=num_threads) as made:
        with made:
            data = fn.external_source(source=lambda: list(images), layout=layout)
            numbers = fn.external_source(source=lambda: list(labels))
            made.set_outputs(*function_of(operator)(data, numbers, **arguments))
        batches = [made.run() for _ in range(num_batches)]
        return [(images.as_array(), labels.as_array()) for images, labels in batches]


def pairs(labels: np.ndarray) -> list[tuple[int, float]]:
    """Return for each row the sample that was mixed in, and the weight of the own one.

    The class of each sample must be its number.
    """
    found = []
    for own, row in enumerate(labels):
        assert row.sum() == np.float32(1) or abs(row.sum() - 1) < 1e-6
        others = [int(other) for other in np.flatnonzero(row) if other != own]
        assert len(others) <= 1
        found.append((others[0] if others else own, float(row[own])))
    return found
