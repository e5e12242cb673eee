"""The options of loaders."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from dali_core.errors import ArgumentTypeError, ArgumentValueError

LastBatch: TypeAlias = Literal["partial", "drop", "pad", "fill"]

LAST_BATCH_RULES: dict[LastBatch, str] = {
    "partial": "every sample is given once, and the last batch may be smaller",
    "drop": "what does not fill a batch in all shards is left out",
    "pad": "the last sample is repeated to fill the last batch",
    "fill": "the last batch continues with samples of the next epoch, which begins after them",
}
"""The treatment of samples that do not fill a batch, in words."""


ARGUMENTS_ELSEWHERE = {
    "drop_last": 'Pass last_batch="drop".',
    "pin_memory": "Leave it out: with device=, batches are moved by way of pinned memory.",
    "collate_fn": "Batches come from the outputs of the pipeline: pad them with fn.pad, or pass "
    "output_types.",
}
"""What arguments of PyTorch's DataLoader are in loaders, where iterators have others."""


class LoaderOptions(TypedDict, total=False):
    """Keyword arguments of every loader, but for `as_dict`; see `BaseLoader`."""

    last_batch: LastBatch
    device: Any
    channels_last: bool
    steps_per_epoch: int | None
    labels: Sequence[str] | Literal["auto"]
    reader: str | None
    output_types: Sequence[str] | None
    prepare_first_batch: bool


def check_is_made(pipeline: Any) -> None:
    """Refuse a function that makes pipelines, and the path of a data set.

    Raises
    ------
    ArgumentTypeError
        If it is one.
    """
    if inspect.isfunction(pipeline):
        name = pipeline.__name__
        raise ArgumentTypeError(
            f"pipeline: must be a Pipeline, or a list of them (got the function {name!r}). Call "
            f"it: {name}(...)."
        )
    if isinstance(pipeline, (str, os.PathLike)):
        raise ArgumentTypeError(
            f"pipeline: must be a Pipeline, or a list of them (got the path {pipeline!r:.100}). "
            "Call image_folder or another function for folders of the module of the loader."
        )


def check_last_batch(last_batch: str) -> LastBatch:
    """Return what to do with the last batch."""
    for known in get_args(LastBatch):
        if last_batch == known:
            checked: LastBatch = known
            return checked
    raise ArgumentValueError(
        f"last_batch: must be one of {list(get_args(LastBatch))} (got {last_batch!r}). 'partial' "
        "gives every sample of an epoch once."
    )


def check_steps(steps_per_epoch: int | None) -> int | None:
    """Return the number of batches of an epoch, if one is given."""
    if steps_per_epoch is None:
        return None
    if isinstance(steps_per_epoch, bool) or not isinstance(steps_per_epoch, int):
        raise ArgumentTypeError(
            f"steps_per_epoch: must be an integer or None (got {steps_per_epoch!r}). Give the "
            "number of batches of an epoch."
        )
    if steps_per_epoch < 1:
        raise ArgumentValueError(
            f"steps_per_epoch: must be at least 1 (got {steps_per_epoch}). Give the number of "
            "batches of an epoch, or leave it out to read the data set once."
        )
    return steps_per_epoch
