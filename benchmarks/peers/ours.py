"""This library."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import dali_core

from . import graphs
from . import hand_over as handing_over

PIPELINES = graphs.PIPELINES


def versions() -> dict[str, str]:
    """Return the version of the library."""
    return {"dali_core": dali_core.__version__}


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Run a pipeline forever."""
    return graphs.open_batches(dali_core, pipeline, files, threads, batch_size)


def hand_over(
    framework: str, batch_size: int
) -> tuple[str, dict[str, Callable[[], handing_over.Action]]]:
    """Return a framework's version, and the actions that are supported with it."""
    return handing_over.actions(dali_core, framework, batch_size)
