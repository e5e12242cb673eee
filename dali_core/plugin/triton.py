"""Pipelines for the Triton inference server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dali_core.errors import ArgumentTypeError
from dali_core.pipeline import is_definition


def autoserialize(dali_pipeline: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a pipeline as the one that a model repository serves.

    Parameters
    ----------
    dali_pipeline : callable
        What `pipeline_def` made of a function.

    Returns
    -------
    callable
        The same.

    Raises
    ------
    ArgumentTypeError
        If it is something else.

    Examples
    --------
    >>> @autoserialize
    ... @pipeline_def(batch_size=8, num_threads=2)
    ... def model():
    ...     return fn.decoders.image(fn.external_source(name="DALI_INPUT_0"))
    """
    if not is_definition(dali_pipeline):
        raise ArgumentTypeError(
            f"autoserialize: dali_pipeline must be made by pipeline_def (got {dali_pipeline!r}). "
            "Put @autoserialize above @pipeline_def."
        )
    dali_pipeline._is_autoserialize = True  # type: ignore[attr-defined]
    return dali_pipeline
