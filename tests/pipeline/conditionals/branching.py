"""Pipelines whose samples take different branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dali_core import Pipeline, fn, pipeline_def


def data(values: Sequence[Any], dtype: Any = None) -> Any:
    """Return a source with the same samples in every batch; scalars by default."""
    samples = [np.asarray(value, dtype) for value in values]
    return fn.external_source(lambda: list(samples))


def numbers(count: int) -> Any:
    """Return a source of the samples 0, 1, 2, ..."""
    return data(range(count), np.int32)


def build(define: Callable[..., Any], *arguments: Any, **options: Any) -> Pipeline:
    """Make a pipeline with conditionals; the function that defines it gets the arguments."""
    settings = {"batch_size": 4, "num_threads": 2, "device_id": None, "seed": 3} | options
    return pipeline_def(define, **settings, enable_conditionals=True)(*arguments)


def run(define: Callable[..., Any], *arguments: Any, **options: Any) -> list[list[Any]]:
    """Run one batch; return the samples of each output as lists."""
    outputs = build(define, *arguments, **options).run()
    return [[np.asarray(sample).tolist() for sample in output] for output in outputs]


def run_one(define: Callable[..., Any], *arguments: Any, **options: Any) -> list[Any]:
    """Run one batch of a pipeline with one output."""
    (output,) = run(define, *arguments, **options)
    return output
