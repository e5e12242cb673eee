"""The epochs of a loader: whose they are, and which batches of them are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dali_core.batching.planned import PlannedPlan
from dali_core.errors import ArgumentConflictError
from dali_core.loaders.options import LastBatch
from dali_core.plugin.base_iterator import LastBatchPolicy
from dali_core.plugin.batch_schedule import Epochs
from dali_core.plugin.iterator_arguments import warn

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline

_POLICIES: dict[LastBatch, LastBatchPolicy] = {
    "partial": LastBatchPolicy.PARTIAL,
    # The iterator's own DROP lets epochs of shards of unequal sizes drift, as NVIDIA DALI does.
    "drop": LastBatchPolicy.PARTIAL,
    "pad": LastBatchPolicy.FILL,
    "fill": LastBatchPolicy.FILL,
}


_PLANNED_POLICIES: dict[LastBatch, LastBatchPolicy] = {
    "partial": LastBatchPolicy.PARTIAL,
    "drop": LastBatchPolicy.DROP,
    "pad": LastBatchPolicy.FILL,
}


def pad_epochs(pipelines: Sequence[Pipeline], last_batch: LastBatch) -> None:
    """Have readers pad each epoch to whole batches, in pipelines that are not built yet."""
    if last_batch != "fill":
        for pipeline in pipelines:
            pipeline._definition.pad_epochs()


def leading_reader(pipeline: Pipeline, reader: str | None) -> str | None:
    """Return the name of the reader whose epochs are the loader's; None if there is none.

    Raises
    ------
    ArgumentConflictError
        If it is not clear which.
    """
    pipeline.build()
    if reader is not None:
        return reader
    plans = pipeline.states.epochs.plans()
    if len(set(plans.values())) > 1:
        sizes = {name: plan.num_samples for name, plan in plans.items()}
        raise ArgumentConflictError(
            f"reader: must be given where readers have different epochs (got {sizes} samples). "
            "Name the one that an epoch of the loader is to follow."
        )
    return next(iter(plans), None)


def iterator_arguments(
    pipelines: Sequence[Pipeline], reader: str | None, last_batch: LastBatch
) -> dict[str, Any]:
    """Return the arguments of the iterator that say what an epoch is.

    Raises
    ------
    ArgumentConflictError
        If the pipelines have no such epochs.
    """
    if reader is not None:
        if is_planned(pipelines[0]):
            return {"reader_name": reader, "last_batch_policy": _planned_policy(last_batch)}
        if last_batch != "fill":
            for pipeline in pipelines:
                _check_padded(pipeline, reader, last_batch)
        return {"reader_name": reader, "last_batch_policy": _POLICIES[last_batch]}
    if last_batch in ("pad", "fill"):
        raise ArgumentConflictError(
            "last_batch: must be 'partial' or 'drop' where no reader says how long an epoch is "
            f"(got {last_batch!r}). Or give steps_per_epoch."
        )
    return {}


def is_planned(pipeline: Pipeline) -> bool:
    """Return whether batches of a pipeline are divided by the lengths of samples."""
    return pipeline.batching.by_lengths


def _planned_policy(last_batch: LastBatch) -> LastBatchPolicy:
    if last_batch == "fill":
        raise ArgumentConflictError(
            "last_batch: must not be 'fill' with batching by lengths (got it), where no batch has "
            "samples of two epochs. Use 'partial', 'drop' or 'pad'."
        )
    return _PLANNED_POLICIES[last_batch]


def sized_epochs(pipelines: Sequence[Pipeline], num_steps: int) -> dict[str, Any]:
    """Return the arguments of the iterator for epochs of some number of steps.

    Raises
    ------
    ArgumentConflictError
        If batches are divided by lengths, so that they have no size.
    """
    if is_planned(pipelines[0]):
        raise ArgumentConflictError(
            f"steps_per_epoch: must be left out with batching by lengths (got {num_steps}), which "
            "divides the epochs of the reader. Leave a loop early, or pass batch_size instead."
        )
    return {"size": num_steps * pipelines[0].max_batch_size * len(pipelines)}


def num_kept(epochs: Epochs, last_batch: LastBatch, num_pipelines: int) -> int | None:
    """Return the number of batches that are left of an epoch by 'drop'; None if all are.

    Raises
    ------
    ArgumentConflictError
        If none is.
    """
    plan = epochs.schedule.plan
    if isinstance(plan, PlannedPlan):
        return None  # the iterator leaves out the last step
    least, most = plan.epochs.smallest_shard, plan.epochs.largest_shard
    runs_out = num_pipelines < plan.epochs.num_shards and plan.num_begun(least) < plan.num_begun(
        most
    )
    if last_batch == "partial" and runs_out:
        warn(
            f"Loader: with last_batch='partial', shards of {least} to {most} samples end some "
            "epochs with an empty batch, of which a mean is not a number. Train with "
            "last_batch='pad' or 'drop', or check the size of batches.",
            UserWarning,
        )
    if last_batch != "drop":
        return None
    if not plan.num_filled(least):
        raise ArgumentConflictError(
            f"last_batch: must not be 'drop' where a shard does not fill a batch (got {least} "
            f"samples for batches of {plan.batching.largest}). Use a smaller batch_size, or "
            "another last_batch."
        )
    return plan.num_filled(least)


def _check_padded(pipeline: Pipeline, reader: str, last_batch: str) -> None:
    """Refuse a pipeline that was built before, if batches would contain samples of two epochs."""
    pipeline.build()
    plan = pipeline._run.readers.find(reader).stream
    size = pipeline.max_batch_size
    if plan.pad_last_batch or plan.num_samples % (size * plan.num_shards) == 0:
        return
    raise ArgumentConflictError(
        f"last_batch: must be 'fill' for a pipeline that was built before, and whose reader "
        f"{reader!r} does not pad its epochs (got {last_batch!r}). Do not build the pipeline "
        "before, or pass pad_last_batch=True to the reader."
    )
