"""Boxes for tests of operators that take them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.operators.suite import Example, Input, function_of, list_of, pipeline, sources


def boxes_of(number: int, seed: int = 0, count: int | None = None) -> np.ndarray:
    """Return boxes (left, top, right, bottom) in the unit square; none for some numbers."""
    random = np.random.default_rng([seed, number])
    start = random.uniform(0, 0.6, ((number + 2) % 4 if count is None else count, 2))
    end = start + random.uniform(0.05, 0.4, start.shape)
    return np.concatenate([start, end], 1).astype(np.float32)


def labels_of(number: int) -> np.ndarray:
    return np.arange(1, len(boxes_of(number)) + 1, dtype=np.int32)


BOXES = Input(boxes_of)
LABELS = Input(labels_of)


def run_on_inputs(operator: str, *inputs: np.ndarray, **arguments: Any) -> list[np.ndarray]:
    """Run an operator on a batch of one sample, and return all outputs."""
    makers: list[Callable[[int], np.ndarray]] = [
        partial(lambda array, number: array, array) for array in inputs
    ]
    example = Example("", [Input(make) for make in makers])
    with pipeline(batch_size=1) as made:
        with made:
            outputs = function_of(operator)(*sources(example), **arguments)
            made.set_outputs(*list_of(outputs))
        return [np.array(batch.at(0)) for batch in made.run()]
