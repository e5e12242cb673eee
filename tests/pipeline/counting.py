"""Pipelines of batches 0, 10, 20, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core import Pipeline, fn


def numbers(iteration: int) -> list[np.int64]:
    return [np.int64(10 * iteration + i) for i in range(3)]


def counting(**arguments: Any) -> Pipeline:
    """Make a pipeline of batches 0, 10, 20, ..."""
    with Pipeline(3, 2, None, **arguments) as pipeline:
        pipeline.set_outputs(fn.external_source(numbers))
    return pipeline


def first(outputs: tuple[Any, ...]) -> int:
    return int(outputs[0].at(0))
