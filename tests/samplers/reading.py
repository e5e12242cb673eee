"""Pipelines that return the indices of their samples, and random numbers, as plain data."""

from __future__ import annotations

from typing import Any

from dali_core import Pipeline, fn


def make(count: int, batch_size: int = 3, **reader: Any) -> Pipeline:
    """Make a pipeline over the numbers below `count`."""
    options = {"num_threads": 1, "device_id": None, "seed": 8, "prefetch_queue_depth": 3}
    with Pipeline(batch_size=batch_size, **options) as pipeline:
        indices = fn.readers.python(range(count), name="reader", **reader)
        pipeline.set_outputs(indices, fn.random.uniform(range=[0.0, 1.0]))
    pipeline.build()
    return pipeline


def read(pipeline: Pipeline, num_batches: int) -> list[tuple[int, float]]:
    """Return the index and the random number of each sample of some batches."""
    samples: list[tuple[int, float]] = []
    for _ in range(num_batches):
        indices, numbers = pipeline.run()
        samples += zip(indices.as_array().tolist(), numbers.as_array().tolist(), strict=True)
    return samples


def indices(count: int, num_samples: int, **reader: Any) -> list[int]:
    """Return the first indices that a reader of one shard gives."""
    return [index for index, _ in read(make(count, num_samples, **reader), 1)]
