"""The reader whose epochs are those of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dali_core.errors import ArgumentConflictError

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline


def leading_reader(pipeline: Pipeline) -> str | None:
    """Return the name of the reader whose epochs are the pipeline's.

    Returns
    -------
    str or None
        None if there is none, or a source in Python, which may say when an epoch ends.

    Raises
    ------
    ArgumentConflictError
        If there are several with different epochs.
    """
    epochs = pipeline.states.epochs
    if epochs.has_sources:
        return None
    plans = epochs.plans()
    if len(set(plans.values())) < 2:
        return next(iter(plans), None)
    sizes = {name: plan.num_samples for name, plan in plans.items()}
    raise ArgumentConflictError(
        f"reader_name: must be given where readers have different epochs (got {sizes} samples). "
        "Name the one that an epoch is to follow, or give size, the samples of an epoch."
    )


def pad_epochs(pipelines: Sequence[Pipeline]) -> bool:
    """Have all readers pad their epochs, where that is possible; return whether any did not."""
    padded = [pipeline.states.epochs.pad() for pipeline in pipelines]
    return any(padded)
