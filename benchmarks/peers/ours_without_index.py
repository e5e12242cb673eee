"""This library, without an index inside the scans of JPEG files, as in a first epoch."""

from __future__ import annotations

from collections.abc import Iterator

import dali_core

from . import graphs
from .ours import versions as versions
from .photo_settings import PHOTO_PIPELINES

PIPELINES = frozenset(PHOTO_PIPELINES)


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Run a pipeline forever."""
    library = graphs.with_decoders(dali_core, jpeg_index_size=0)
    return graphs.open_batches(library, pipeline, files, threads, batch_size)
