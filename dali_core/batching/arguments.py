"""The argument `batching` of `Pipeline`, together with those that belong to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dali_core.batching.fixed import Fixed
from dali_core.batching.plan import Batching
from dali_core.errors import ArgumentConflictError, ArgumentTypeError


def make_batching(where: str, batching: Any, batch_size: int | None, lengths: Any) -> Batching:
    """Return the batches of a pipeline.

    Parameters
    ----------
    where : str
        Start of messages.
    batching : Fixed, Budget, Bucket, Pack or Planned, optional
        What the user gave.
    batch_size : int, optional
        Samples in a batch; with `Budget` at most so many, with `Pack` rows of packed samples.
    lengths : array of int, tuple or dict of arrays, optional
        Lengths of samples.

    Raises
    ------
    ArgumentTypeError, ArgumentConflictError
        If these do not fit each other.
    """
    if batching is None or isinstance(batching, Fixed):
        if lengths is not None:
            raise ArgumentConflictError(
                f"{where}: lengths must be given with a batching that uses them (got "
                f"{'none' if batching is None else repr(batching)}). Pass batching=Budget(...)."
            )
        if batching is not None and batch_size is not None:
            raise _given_twice(where, batching, batch_size, "Leave out batch_size.")
        return batching or Fixed(batch_size or 0)
    # Most programs need none of these, and start sooner without.
    from dali_core.batching.bucket import Bucket
    from dali_core.batching.budget import Budget
    from dali_core.batching.pack import Pack
    from dali_core.batching.planned import Planned

    if isinstance(batching, (Budget, Bucket, Pack)):
        batching = batching.windows()
    if not isinstance(batching, Planned):
        raise ArgumentTypeError(
            f"{where}: batching must be Budget, Bucket, Pack or Fixed of dali_core.batching (got "
            f"{batching!r:.200}). Pass an int as batch_size."
        )
    rule, rows = batching.rule, batching.rows
    if batch_size is not None and isinstance(rule, Budget):
        rule = replace(rule, max_samples=min(batch_size, rule.max_samples or batch_size))
    elif batch_size is not None and isinstance(rule, Pack) and rows in (1, batch_size):
        rows = batch_size
    elif batch_size is not None:
        cure = "Pass batch_sizes to Bucket." if isinstance(rule, Bucket) else "Leave out one."
        raise _given_twice(where, batching, batch_size, cure)
    if lengths is not None and batching.lengths is not None:
        raise ArgumentConflictError(
            f"{where}: lengths must be given once (got them in batching, too). Leave out one."
        )
    given = batching.lengths if lengths is None else lengths
    return Planned(rule, given, batching.window, batching.repack, rows, batching.list_sizes)


def _given_twice(where: str, batching: Any, batch_size: int, cure: str) -> ArgumentConflictError:
    return ArgumentConflictError(
        f"{where}: batch_size must not be given with this batching, which says how large batches "
        f"are (got batch_size={batch_size} and {batching!r:.200}). {cure}"
    )
