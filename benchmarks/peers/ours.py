"""This library."""

from __future__ import annotations

from collections.abc import Iterator

import dali_core

from . import graphs

PIPELINES = graphs.PIPELINES


def versions() -> dict[str, str]:
    """Give the version of the library."""
    return {"dali_core": dali_core.__version__}


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Run a pipeline without end."""
    return graphs.open_batches(dali_core, pipeline, files, threads, batch_size)
