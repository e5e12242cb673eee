"""NVIDIA DALI, on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import nvidia.dali
import nvidia.dali.fn
import nvidia.dali.math

from . import graphs
from . import hand_over as handing_over

PIPELINES = graphs.PIPELINES


def versions() -> dict[str, str]:
    """Return the version of the library."""
    return {"nvidia-dali": nvidia.dali.__version__}


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Run a pipeline forever."""
    return graphs.open_batches(nvidia.dali, pipeline, files, threads, batch_size)


def hand_over(
    framework: str, batch_size: int
) -> tuple[str, dict[str, Callable[[], handing_over.Action]]]:
    """Return a framework's version, and the actions that are supported with it."""
    return handing_over.actions(nvidia.dali, framework, batch_size)
