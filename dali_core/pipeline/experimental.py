"""`pipeline_def` with NVIDIA DALI's experimental argument `debug`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dali_core.pipeline._definition import pipeline_def as _pipeline_def
from dali_core.pipeline._definition import warn_of_debug


def pipeline_def(
    fn: Callable[..., Any] | None = None, *, debug: bool = False, **pipeline_arguments: Any
) -> Any:
    """Turn a function that calls operators into one that makes pipelines.

    Parameters
    ----------
    fn : callable, optional
        Returns the outputs.
    debug : bool
        Without effect but for a warning: what operators give is known when the pipeline runs.
    **pipeline_arguments
        See `dali_core.pipeline_def`.

    Returns
    -------
    callable
        Makes a `Pipeline`.
    """
    if debug:
        warn_of_debug()
    return _pipeline_def(fn, **pipeline_arguments)
