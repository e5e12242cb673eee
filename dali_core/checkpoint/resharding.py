"""Resuming with other batches or another number of shards."""

from __future__ import annotations

from collections.abc import Callable

from dali_core.batching.fixed import MAX_SAMPLES, Fixed
from dali_core.batching.plan import Batching, BatchPlan
from dali_core.checkpoint.saved_state import SavedState
from dali_core.errors import StateMismatchError

MAX_TRIED = 2**14
"""How many batch sizes are tried to name those that work."""
_MAX_LISTED = 8


def saved_batching(saved: SavedState, now: Batching) -> Batching:
    """Return the batching that a state was saved with.

    Parameters
    ----------
    saved : SavedState
        The state.
    now : Batching
        The batches here: those by the lengths of samples can resume from equal ones only.

    Raises
    ------
    StateMismatchError
        If they cannot.
    """
    if not now.by_lengths:
        if "batching" in saved:
            raise saved.mismatch(
                "the batching", f"batches of {now.largest}, as here", saved.get("batching", dict)
            )
        return Fixed(saved.number("batch_size", 1, MAX_SAMPLES))
    described = saved.get("batching", dict) if "batching" in saved else {}
    for name, here in now.state()["batching"].items():
        if described.get(name) != here:
            raise saved.mismatch(
                f"batching: {name}",
                repr(here),
                repr(described.get(name)),
                "Use the same lengths and parameters.",
            )
    return now


def sizes_that_work(works: Callable[[Batching], bool], most: int) -> list[int]:
    """List all batch sizes up to `most`, of those that are tried, with which something works."""
    return [size for size in range(1, min(most, MAX_TRIED) + 1) if works(Fixed(size))]


def resumed_position(
    where: str, reader: str, plan: BatchPlan, before: BatchPlan, position: int
) -> int:
    """Return the position of a reader that corresponds to one that was saved.

    Parameters
    ----------
    where, reader : str
        Start of messages, and the reader.
    plan, before : BatchPlan
        The batches of the reader now, and as they were.
    position : int
        Samples that each shard had given, or had been padded with.

    Raises
    ------
    StateMismatchError
        If no batch begins there.
    """
    found = plan.resumed(before, position)
    if found is not None:
        return found
    now, then = plan.epochs.num_shards, before.epochs.num_shards
    size, size_then = plan.batching.largest, before.batching.largest
    if plan.batching.by_lengths:
        raise StateMismatchError(
            f"{where}: {reader} must resume after a whole number of steps (got num_shards={now} "
            f"after {plan.locate(position)[1]} steps of {then}). Use a num_shards that divides "
            f"{then}, or as many as then."
        )

    def works(batching: Batching) -> bool:
        return batching.plan(plan.epochs).resumed(before, position) is not None

    working = sizes_that_work(works, 2 * max(size, then * size_then))
    nearest = sorted(sorted(working, key=lambda one: abs(one - size))[:_MAX_LISTED])
    sizes = f"a batch_size of {' or '.join(map(str, nearest))}, or " if nearest else ""
    raise StateMismatchError(
        f"{where}: {reader} must be able to return the rest of the epoch in whole batches on every "
        f"shard (got num_shards={now} with batch_size={size}, after {then} with {size_then}). Use "
        f"{sizes}a num_shards and batch_size with the same product as before."
    )
