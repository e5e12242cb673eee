"""States of iterators that counted epochs in another way, for the same arguments."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from dali_core._runtime.step import is_count
from dali_core.plugin.batch_schedule import BatchSchedule


def with_padded_readers(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of an iterator as if its readers had padded their epochs.

    With PARTIAL and DROP the batches of an epoch have the same numbers with and without padding. So
    the first epoch is the same, and a later one, which had begun too late, continues with the batch
    that is due in a complete epoch.
    """
    return {
        **state,
        "last_batch_padded": True,
        "pipelines": _padded(state.get("pipelines")),
        "epoch_start": _padded(state.get("epoch_start")),
    }


def with_reader(
    state: Mapping[str, Any], counting: Mapping[str, Any], schedule: BatchSchedule
) -> Mapping[str, Any]:
    """Return the state of an iterator without an end as if it had followed a reader.

    Parameters
    ----------
    state : mapping
        The state.
    counting : mapping
        What the iterator that is to load it counts epochs by.
    schedule : BatchSchedule
        The batches of its epochs, in the size that the state is of.
    """
    pipelines = state.get("pipelines")
    if not isinstance(pipelines, list) or len(pipelines) != 1:
        return state
    place = pipelines[0].get("place") if isinstance(pipelines[0], Mapping) else None
    if not isinstance(place, list) or not place or not is_count(place[0]):
        return state
    batch = place[0]
    epoch = bisect_right(range(batch + 2), batch, key=schedule.first_batch) - 1
    return {
        **state,
        **counting,
        "num_pipelines": 1,
        "num_shards": schedule.plan.epochs.num_shards,
        "epoch": epoch,
        "taken": batch - schedule.first_batch(epoch),
        "epoch_start": [],
    }


def _padded(pipelines: Any) -> Any:
    """Return the states of pipelines with readers that pad."""
    if not isinstance(pipelines, list):
        return pipelines
    return [
        {**one, "readers": [_padded_reader(reader) for reader in one["readers"]]}
        if isinstance(one, Mapping) and isinstance(one.get("readers"), list)
        else one
        for one in pipelines
    ]


def _padded_reader(reader: Any) -> Any:
    is_unpadded = isinstance(reader, Mapping) and reader.get("pad_last_batch") is False
    return {**reader, "pad_last_batch": True} if is_unpadded else reader
