"""Pipelines for the tests of loaders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dali_core import DataNode, Loader, Pipeline, fn, pipeline_def, types


def numbers(root: Path, size: int, batch_size: int, **reader: Any) -> Pipeline:
    """Return a pipeline whose only output is the number of each of `size` samples."""
    files = sorted(root.glob("class_*/*.jpg"))[:size]
    assert len(files) == size

    @pipeline_def(batch_size=batch_size, num_threads=1)
    def define() -> DataNode:
        _, number = fn.readers.file(files=list(map(str, files)), **reader)
        return number

    return define()


@pipeline_def(batch_size=4, num_threads=1, seed=1)
def images(root: Path, **reader: Any) -> tuple[DataNode, ...]:
    """Return an image of the layout HWC, all of whose pixels have its label, and the label."""
    _, label = fn.readers.file(file_root=str(root), **reader)
    pixels = fn.zeros(shape=[6, 8, 3], dtype=types.INT32) + label
    return fn.reshape(fn.cast(pixels, dtype=types.FLOAT), layout="HWC"), label


class Counting:
    """A source of samples that ends after some epochs' samples, and starts over."""

    def __init__(self, batches: list[int]) -> None:
        self._batches = batches

    def __iter__(self) -> Any:
        start = 0
        for size in self._batches:
            yield [np.array([start + index]) for index in range(size)]
            start += size


def from_source(batch_size: int, batches: list[int]) -> Pipeline:
    """Return a pipeline over a source in Python that gives batches of these sizes."""
    pipeline = Pipeline(batch_size, 1, None)
    with pipeline:
        pipeline.set_outputs(fn.external_source(Counting(batches), cycle="raise"))
    return pipeline


def loader(root: Path, size: int = 10, batch_size: int = 4, **options: Any) -> Loader:
    """Return a loader of the numbers of samples, which it shuffles by default."""
    reader = options.pop("reader_arguments", {"random_shuffle": True})
    return Loader(numbers(root, size, batch_size, **reader), **options)


def read(batches: Any) -> list[list[int]]:
    """Return the numbers in each batch."""
    return [number.tolist() for (number,) in batches]


def flat(batches: list[list[int]]) -> list[int]:
    """Return the numbers in all batches."""
    return [number for batch in batches for number in batch]
