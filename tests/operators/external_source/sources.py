"""Sources for tests, in a module that spawned workers can import."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from dali_core import Pipeline, fn
from dali_core.tensors import TensorCPU
from dali_core.testing.examples import list_of
from dali_core.types import BatchInfo, SampleInfo

NUM_SAMPLES = 11


def numbers(info: SampleInfo) -> np.ndarray:
    """All inputs of a source; the data ends in the middle of a batch."""
    if info.idx_in_epoch >= NUM_SAMPLES:
        raise StopIteration
    return np.int64([info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx])


def ragged(info: SampleInfo) -> tuple[Any, ...]:
    """Shapes from empty to a megabyte; non-contiguous memory; scalars; a layout."""
    if info.idx_in_epoch >= NUM_SAMPLES:
        raise StopIteration
    i = info.idx_in_epoch
    size = (0, 1, 700)[i % 3]
    image = np.arange(size * 3 * i, dtype=np.float32).reshape(size, i, 3)
    return image[:, ::-1], float(i), TensorCPU(np.full((i, 1), i > 4), "CW"), [i, i + 1]


def batches(iteration: int) -> list[np.ndarray]:
    if iteration == 3:
        raise StopIteration
    return [np.full(i, iteration, np.uint16) for i in range(3)]


def dense(info: BatchInfo) -> tuple[np.ndarray, np.ndarray]:
    if info.iteration == 3:
        raise StopIteration
    whole = np.arange(24, dtype=np.int8).reshape(3, 4, 2) + info.iteration + 10 * info.epoch_idx
    return whole, whole[:, 0].astype(bool)


def generate() -> Iterator[list[np.ndarray]]:
    for iteration in range(4):
        yield [np.int64([10 * iteration + i]) for i in range(3)]


def failing(info: SampleInfo) -> np.ndarray:
    """Samples 1 and 5 of the second batch of six are bad."""
    if info.iteration == 1 and info.idx_in_batch in (1, 5):
        raise ValueError(f"bad sample {info.idx_in_epoch}")
    return np.int64([info.idx_in_epoch])


def process(info: SampleInfo) -> np.ndarray:
    return np.int64([os.getpid()])


class ByIndex:
    """A map-style dataset."""

    def __len__(self) -> int:
        return NUM_SAMPLES

    def __getitem__(self, index: int) -> np.ndarray:
        return np.int64([index**2])


class DatasetSource:
    """A source of such a dataset."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __call__(self, info: SampleInfo) -> np.ndarray:
        if info.idx_in_epoch >= len(self.dataset):
            raise StopIteration
        return self.dataset[info.idx_in_epoch]


def make(
    source: Any,
    method: str = "fork",
    workers: int = 2,
    batch_size: int = 3,
    pipeline_arguments: dict[str, Any] | None = None,
    parallel: bool = True,
    **arguments: Any,
) -> Pipeline:
    with Pipeline(
        batch_size,
        1,
        None,
        py_num_workers=workers,
        py_start_method=method,
        **(pipeline_arguments or {}),
    ) as pipeline:
        results = fn.external_source(source, parallel=parallel, **arguments)
        pipeline.set_outputs(*list_of(results))
    return pipeline
