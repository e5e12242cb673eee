"""Pipelines whose samples are numbers, so that tests can check their order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy

from dali_core import DataNode, Pipeline, fn, pipeline_def


def read_numbers(
    folder: Path, num_samples: int, shard_id: int = 0, num_shards: int = 1, **reader: Any
) -> DataNode:
    """Read the numbers of samples, as int32 of shape (1,), in the order of the reader."""
    files = [str(folder / f"{index}.bin") for index in range(num_samples)]
    for file in files:
        Path(file).write_bytes(b"content")
    labels = list(range(num_samples))
    shard = {"shard_id": shard_id, "num_shards": num_shards}
    _, number = fn.readers.file(files=files, labels=labels, name="numbers", **shard, **reader)
    return number


@pipeline_def(num_threads=1, device_id=None)
def numbers(*args: Any, **keywords: Any) -> DataNode:
    """Return a pipeline of `read_numbers`."""
    return read_numbers(*args, **keywords)


def shards(
    folder: Path, num_samples: int, num_shards: int, batch_size: int, **reader: Any
) -> list[Pipeline]:
    """Return a pipeline for each shard."""
    return [
        numbers(folder, num_samples, shard, num_shards, batch_size=batch_size, **reader)
        for shard in range(num_shards)
    ]


def source_pipeline(*sources: Sequence[Any], batch_size: int = 2) -> Pipeline:
    """Return a pipeline of given batches, with a list for each output."""
    pipeline = Pipeline(batch_size=batch_size, num_threads=1)
    with pipeline:
        outputs = [fn.external_source(source=iter(source), batch=True) for source in sources]
        pipeline.set_outputs(*outputs)
    return pipeline


def flat(array: Any) -> list[Any]:
    """Return the elements of an array as a list."""
    values: list[Any] = numpy.asarray(array).ravel().tolist()
    return values
