"""Samplers, mixtures and parameters, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dali_core import DataNode, Pipeline, fn, mix_readers, parameter, pipeline_def, samplers


class Backwards(samplers.Sampler):
    """The data set in the opposite order."""

    def length(self, data: samplers.DataSet) -> int:
        """Return the number of samples of an epoch."""
        return data.num_samples

    def indices(self, data: samplers.DataSet, epoch: int) -> NDArray[np.int64]:
        """Return the samples of an epoch."""
        return np.arange(data.num_samples, dtype=np.int64)[::-1]


def easy_first(epoch: int) -> Sequence[int]:
    """Return two samples, then more."""
    return range(2 + epoch)


@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
def numbers(sampler: samplers.Sampler | Sequence[int]) -> DataNode:
    """Read numbers, and scale them."""
    number = fn.readers.python(range(8), sampler=sampler, name="numbers")
    return number * parameter("factor", 1)


@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
def mixture() -> DataNode:
    """Read two data sets."""
    mixed = mix_readers(
        [
            lambda: fn.readers.python(range(4)),
            lambda: fn.readers.python(range(100, 108)),
        ],
        weights=[0.25, 0.75],
        length=8,
        name="mixture",
    )
    assert isinstance(mixed, DataNode)
    return mixed


orders: list[samplers.Sampler | Sequence[int]] = [
    [3, 1, 2, 0],
    Backwards(),
    samplers.Subset([1, 2, 3]),
    samplers.Weighted(np.arange(8)),
    samplers.ClassBalanced([0, 0, 0, 0, 0, 0, 1, 1]),
    samplers.Repeated(2),
    samplers.Curriculum(easy_first, length=4),
]
for order in orders:
    pipeline: Pipeline = numbers(order)
    first: int = pipeline.set_parameter("factor", 2)
    (batch,) = pipeline.run()
    assert (first, len(batch)) == (0, 4)
    pipeline.close()

with mixture() as mixed_pipeline:
    (batch,) = mixed_pipeline.run()
    size: int | dict[str, int] = mixed_pipeline.epoch_size("mixture")
    assert size == 8
