"""Pipelines whose samples are numbers, and what datasets give of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy

from dali_core import DataNode, Pipeline, fn, pipeline_def


@pipeline_def(num_threads=1, device_id=None)
def numbers(folder: Path, num_samples: int = 7, **reader: Any) -> DataNode:
    """Read the numbers of samples, as int32 of shape (1,), with a reader called "numbers"."""
    files = [str(folder / f"{index}.bin") for index in range(num_samples)]
    for file in files:
        Path(file).write_bytes(b"content")
    labels = list(range(num_samples))
    return fn.readers.file(files=files, labels=labels, name="numbers", **reader)[1]


def source_pipeline(*sources: Any, batch_size: int = 2, **options: Any) -> Pipeline:
    """Return a pipeline with an output for each source of batches."""
    pipeline = Pipeline(batch_size=batch_size, num_threads=1, device_id=None)
    with pipeline:
        outputs = [fn.external_source(source=one, batch=True, **options) for one in sources]
        pipeline.set_outputs(*outputs)
    return pipeline


def lists(dataset: Iterable[Any]) -> list[list[Any]]:
    """Return the elements of every batch of the first output."""
    return [numpy.asarray(batch[0]).ravel().tolist() for batch in dataset]
