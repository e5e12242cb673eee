"""Checks of an iterator's arguments and of its batches."""

from __future__ import annotations

import logging
import operator
import sys
import warnings
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from dali_core.batching.epoch_plan import EpochPlan
from dali_core.batching.fixed import Fixed
from dali_core.batching.plan import Batching
from dali_core.errors import (
    AdapterError,
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
)
from dali_core.plugin.batch_schedule import (
    Epochs,
    IncompleteEpochWarning,
    LastBatchPolicy,
    ReaderEpochs,
    SizedEpochs,
)
from dali_core.plugin.reference_names import stands_in_for_reference

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline
    from dali_core.plugin.conversion import Converter


_logger = logging.getLogger("dali_core")
_logged: set[str] = set()


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's program."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("dali_core"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_of_losses(losses: list[str]) -> None:
    """Warn that an epoch lacks or repeats samples.

    Programs for NVIDIA DALI, which says nothing of it, find a line in the log, once.
    """
    message = f"iterator: an epoch must give each of its samples once. {' '.join(losses)}"
    if not stands_in_for_reference():
        warn(message, IncompleteEpochWarning)
    elif message not in _logged:
        _logged.add(message)
        _logger.warning(message)


def check_pipelines(pipelines: Pipeline | Sequence[Pipeline]) -> list[Pipeline]:
    """Return the pipelines as a list, which work together."""
    listed = list(pipelines) if isinstance(pipelines, Sequence) else [pipelines]
    if pipelines is None or not listed:
        raise ArgumentConflictError(
            f"pipelines: must hold at least one pipeline (got {pipelines!r}). Pass the pipelines "
            "to iterate over."
        )
    for pipeline in listed:
        if not hasattr(pipeline, "share_outputs"):
            raise ArgumentTypeError(
                f"pipelines: must be a pipeline or a list of them (got {pipeline!r}). Pass "
                "dali_core.Pipeline objects."
            )
    sizes = sorted({pipeline.max_batch_size for pipeline in listed})
    if len(sizes) > 1:
        raise ArgumentConflictError(
            f"pipelines: must have the same batch size (got {sizes}). Build them with one "
            "batch_size."
        )
    return listed


def check_output_map(output_map: Sequence[str]) -> list[str]:
    """Return the names of the outputs."""
    if isinstance(output_map, str) or not all(isinstance(name, str) for name in output_map):
        raise ArgumentTypeError(
            f"output_map: must be a list of names (got {output_map!r}). Name every output of the "
            'pipelines, such as ["data", "label"].'
        )
    if not output_map or len(set(output_map)) != len(output_map):
        raise ArgumentConflictError(
            f"output_map: must hold distinct names (got {list(output_map)}). Name every output of "
            "the pipelines once."
        )
    return list(output_map)


def check_output_types(
    output_types: Sequence[str] | None, output_map: list[str], adapter: Converter
) -> list[str]:
    """Return how the adapter is to represent each output."""
    if output_types is None:
        return ["dense"] * len(output_map)
    unknown = [kind for kind in output_types if kind not in adapter.representations]
    if unknown:
        raise ArgumentConflictError(
            f"output_types: must be among {list(adapter.representations)} (got {unknown}). Choose "
            f"what the {adapter.name} adapter offers."
        )
    if len(output_types) != len(output_map):
        raise ArgumentValueError(
            f"output_types: must have an entry for each output (got {len(output_types)} for "
            f"{output_map}). Say how to represent every one."
        )
    return list(output_types)


def check_auto_reset(auto_reset: str | bool | None) -> bool:
    """Return whether the next epoch is to begin by itself."""
    if auto_reset is True or auto_reset == "yes":
        return True
    if auto_reset is False or auto_reset is None or auto_reset == "no":
        return False
    raise ArgumentValueError(
        f'auto_reset: must be True, False, "yes" or "no" (got {auto_reset!r}). Choose one.'
    )


def check_policy(policy: LastBatchPolicy | str, fill_last_batch: bool | None) -> LastBatchPolicy:
    """Return the policy, perhaps given by its name, after what the deprecated argument says."""
    if isinstance(policy, str) and policy.upper() in LastBatchPolicy.__members__:
        policy = LastBatchPolicy[policy.upper()]
    if not isinstance(policy, LastBatchPolicy):
        raise ArgumentValueError(
            f"last_batch_policy: must be a LastBatchPolicy (got {policy!r}). Use "
            "LastBatchPolicy.FILL, DROP or PARTIAL, or its name."
        )
    if fill_last_batch is None:
        return policy
    warn(
        "fill_last_batch is deprecated. Use last_batch_policy=LastBatchPolicy.FILL or PARTIAL.",
        DeprecationWarning,
    )
    return LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL


def check_size(size: int) -> int:
    """Return the number of samples of an epoch; a negative one if it is not given."""
    try:
        return operator.index(size)
    except TypeError as error:
        raise ArgumentTypeError(
            f"size: must be an integer (got {size!r}). Give the number of samples of an epoch."
        ) from error


def make_epochs(
    pipelines: list[Pipeline],
    batching: Batching,
    size: int,
    reader_names: Sequence[str | None],
    last_batch_padded: bool,
    policy: LastBatchPolicy,
    *,
    is_found: bool,
) -> Epochs | None:
    """Return how to count epochs, or None if only the source knows their end.

    Parameters
    ----------
    reader_names : sequence of str or None
        The reader of each pipeline that epochs follow.
    is_found : bool
        Whether these were not given, but found in the pipelines.
    """
    names = [name for name in reader_names if name is not None]
    if len(names) < len(pipelines):
        return _unread_epochs(pipelines, batching, size, last_batch_padded, policy)
    if not is_found and (size != -1 or last_batch_padded):
        extra = "size" if size != -1 else "last_batch_padded"
        raise ArgumentConflictError(
            f"{extra}: must not be given with reader_name (got reader_name={names[0]!r}), which "
            "knows it. Leave it out."
        )
    plans = [
        EpochPlan.from_meta(pipeline.reader_meta(name))
        for pipeline, name in zip(pipelines, names, strict=True)
    ]
    for what in ("num_samples", "num_shards", "pad_last_batch", "stick_to_shard", "interleaved"):
        values = [getattr(plan, what) for plan in plans]
        if len(set(values)) > 1:
            raise ArgumentConflictError(
                f"reader {names[0]!r}: must have the same {what} in all pipelines (got "
                f"{values}). Give all of them the same data and sharding."
            )
    if last_batch_padded and not plans[0].pad_last_batch:
        raise ArgumentConflictError(
            f"last_batch_padded: must be False where reader {names[0]!r} does not pad (got True). "
            "Pass pad_last_batch=True to the reader."
        )
    for number, pipeline in enumerate(pipelines):
        if pipeline.batching != batching:
            raise ArgumentConflictError(
                f"pipelines: must have the same batching (got {pipeline.batching!r:.200} in "
                f"pipeline {number}, and {batching!r:.200} before). Give all of them the same "
                "lengths and parameters."
            )
    return ReaderEpochs(plans, batching, policy)


def _unread_epochs(
    pipelines: list[Pipeline],
    batching: Batching,
    size: int,
    last_batch_padded: bool,
    policy: LastBatchPolicy,
) -> Epochs | None:
    """Return how to count epochs that follow no reader."""
    if not isinstance(batching, Fixed):
        raise ArgumentConflictError(
            "reader_name: must be given with batching by lengths (got none), which divides the "
            "epochs of a reader. Pass its name, and no size."
        )
    if size == 0 or (size < 0 and len(pipelines) > 1):
        raise ArgumentConflictError(
            f"size: must be positive, or -1 for a single pipeline that ends by itself (got "
            f"{size} for {len(pipelines)}). Give reader_name, or the samples of an epoch."
        )
    if size > 0:
        is_read = any(pipeline.states.epochs.has_readers for pipeline in pipelines)
        padded = bool(last_batch_padded)
        return SizedEpochs(size, padded, len(pipelines), batching, policy, is_read=is_read)
    if last_batch_padded or policy is not LastBatchPolicy.FILL:
        warn(
            "last_batch_policy and last_batch_padded have no effect while the size of an "
            "epoch is unknown. Give reader_name or size.",
            UserWarning,
        )
    return None


def check_full(shared: Sequence[Sequence[Any]], sizes: Sequence[Collection[int]]) -> None:
    """Refuse batches of other lengths, by which an epoch's samples cannot be counted."""
    for outputs, allowed in zip(shared, sizes, strict=True):
        for batch in outputs:
            if len(batch) not in allowed:
                raise ArgumentConflictError(
                    f"iterator: every batch must have {max(allowed)} samples where size or "
                    f"reader_name says how long an epoch is (got {len(batch)}). Leave size out, so "
                    "that the epoch ends with its source, or fill the batch."
                )


def check_outputs(outputs: Sequence[Any], output_map: list[str]) -> None:
    """Refuse outputs that are not as many as their names."""
    if len(outputs) != len(output_map):
        raise ArgumentValueError(
            f"output_map: must name every output of the pipelines (got {len(output_map)} names "
            f"for {len(outputs)} outputs). Give one name per output."
        )


def check_uniform(name: str, batch: Any, adapter: Converter) -> None:
    """Refuse samples of different shapes where they are to be one array."""
    if batch.is_dense_tensor():
        return
    shapes = list(dict.fromkeys(tuple(shape) for shape in batch.shape()))
    if len(shapes) > 1:
        others = [kind for kind in adapter.representations if kind != "dense"]
        instead = (
            f", or represent them as one of {others} with output_types (in PyTorch: "
            "DALIRaggedIterator)"
            if others
            else ""
        )
        raise AdapterError(
            f"output {name!r}: all samples of a batch must have the same shape (got {shapes[:4]}"
            f"{' and more' if len(shapes) > 4 else ''}). Resize or pad them in the pipeline"
            f"{instead}."
        )
