"""Checks of a pipeline's state against its readers and sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dali_core._execution.bad_samples import BadSampleLog
from dali_core._graph.node import OperatorNode
from dali_core._messages import shown
from dali_core._readers.order import IndexSampler
from dali_core._runtime.step import is_count
from dali_core.batching.plan import Batching
from dali_core.checkpoint.resharding import resumed_position
from dali_core.checkpoint.saved_state import SavedState
from dali_core.errors import StateMismatchError

_MUST_AGREE = ("name", "num_samples", "stick_to_shard", "pad_last_batch", "interleaved", "order")


def describe_readers(
    readers: Mapping[OperatorNode, IndexSampler], position: int, batching: Batching
) -> list[dict[str, Any]]:
    """Describe what the order of each reader's samples depends on, except for the shard.

    Parameters
    ----------
    readers : mapping
        The readers by their nodes.
    position : int
        Where in their streams they are. Of samplers the state has a checksum of the order of the
        last epoch that was read from: that says what an order is, however it is made.
    batching : Batching
        The batches that they are read in.
    """
    return [
        _describe(node, reader)
        | _describe_listing(reader)
        | _describe_sampler(reader, position, batching)
        for node, reader in readers.items()
    ]


def _describe_sampler(reader: IndexSampler, position: int, batching: Batching) -> dict[str, Any]:
    if reader.sampler is None:
        return {}
    epoch = reader.own_epoch(batching.plan(reader.stream).locate(max(position - 1, 0))[0])
    return {"sampler": [epoch, reader.checksum(epoch)]}


def _describe_listing(reader: IndexSampler) -> dict[str, Any]:
    fingerprint = reader.source.fingerprint
    return {"fingerprint": fingerprint} if fingerprint else {}


def _describe(node: OperatorNode, reader: IndexSampler) -> dict[str, Any]:
    plan = reader.plan
    return {
        "name": node.name,
        "num_samples": plan.num_samples,
        "num_shards": plan.num_shards,
        "stick_to_shard": plan.stick_to_shard,
        "pad_last_batch": plan.pad_last_batch,
        "interleaved": plan.interleaved,
        "order": reader.seed if reader.is_shuffled else None,
    }


def resumed_in_all(
    saved: SavedState,
    readers: Mapping[OperatorNode, IndexSampler],
    position: int,
    before: Batching,
    now: Batching,
) -> int:
    """Check all readers against a state, and return where in their streams they resume.

    Parameters
    ----------
    saved : SavedState
        The state.
    readers : mapping
        The readers by their nodes.
    position : int
        Where in their streams they were.
    before, now : Batching
        The batches that they were read in, and are read in now.

    Raises
    ------
    StateMismatchError
        If they read other data or in another order, or if they cannot resume with these batches
        and this number of shards.
    """
    described = saved.get("readers", list)
    if len(described) != len(readers):
        raise saved.mismatch("the number of readers", len(readers), len(described))
    positions = {}
    for then, (node, reader) in zip(described, readers.items(), strict=True):
        here = _describe(node, reader)
        if not isinstance(then, Mapping) or not set(here) <= set(then):
            raise saved.mismatch("each of the readers", f"described by {sorted(here)}", then)
        for name in _MUST_AGREE:
            if then.get(name) != here[name]:
                raise StateMismatchError(_describe_mismatch(saved.where, node, name, here, then))
        may_differ = reader.plan.interleaved or now.by_lengths
        if then.get("num_shards") != here["num_shards"] and not may_differ:
            raise StateMismatchError(
                _describe_mismatch(saved.where, node, "num_shards", here, then)
            )
        # States of data sets without a fingerprint have none; they are compared by their sizes.
        for name, found in _describe_listing(reader).items():
            if then.get(name, found) != found:
                raise StateMismatchError(
                    _describe_mismatch(saved.where, node, name, {name: found}, then)
                )
        _check_sampler(saved, node, reader, then.get("sampler"), position)
        if reader.part is not None:
            continue  # the mixture knows the place
        num_shards = then["num_shards"]
        if not is_count(num_shards) or not 1 <= num_shards <= max(reader.plan.num_samples, 1):
            raise saved.mismatch(
                f"num_shards of {node.where}", "a number of shards of its samples", num_shards
            )
        plan_then = before.plan(reader.plan.divided(num_shards))
        plan = now.plan(reader.plan)
        positions[node] = resumed_position(saved.where, node.where, plan, plan_then, position)
    if len(set(positions.values())) > 1:
        raise StateMismatchError(
            f"{saved.where}: all readers must resume at the same place (got "
            f"{sorted(positions.values())}). Use batch_size={before.largest}, as before."
        )
    return next(iter(positions.values()), position)


def _check_sampler(
    saved: SavedState, node: OperatorNode, reader: IndexSampler, before: Any, position: int
) -> None:
    """Check that a reader has no sampler, like the one in the state, or one with its order."""
    if before is None and reader.sampler is None:
        return
    if before is None or reader.sampler is None:
        was, here = ("none", "one") if before is None else ("one", "none")
        raise saved.mismatch(f"the sampler of {node.where}", here, was, "Pass the same as then.")
    is_pair = isinstance(before, list) and len(before) == 2 and all(map(is_count, before))
    # An epoch has at least one sample in each shard; a mixture may have several epochs of a part.
    if not is_pair or (reader.part is None and before[0] > position):
        raise saved.mismatch(
            f"the sampler of {node.where}", "the number of an epoch and a checksum", before
        )
    epoch, checksum = before
    if reader.checksum(epoch) != checksum:
        raise StateMismatchError(
            f"{saved.where}: the sampler of {node.where} must give the order that it gave then "
            f"(got another one for epoch {epoch}). Pass the same sampler with the same seed; one "
            "as PyTorch has them must depend on nothing but its arguments and set_epoch."
        )


def _describe_mismatch(
    where: str, node: OperatorNode, name: str, here: Mapping[str, Any], before: Mapping[str, Any]
) -> str:
    what, cure = {
        "order": ("seed and random_shuffle", "Pass the same as then."),
        "num_samples": ("the number of samples", "Read the same data set as then."),
        "fingerprint": ("the files", "Read the same data set as then."),
        "num_shards": (
            "num_shards",
            "Use as many as then; only interleaved shards can be more or fewer.",
        ),
    }.get(name, (name, "Pass the same as then."))
    return (
        f"{where}: {what} of {node.where} must be as in the state (got {here[name]!r}, and "
        f"{shown(before.get(name))} in the state). {cure}"
    )


def check_sources(saved: SavedState, name: str, nodes: Iterable[OperatorNode]) -> Mapping[str, Any]:
    """Return the states of sources, each of which must be that of one of these operators."""
    states: Mapping[str, Any] = saved.get(name, dict)
    names = {node.name for node in nodes}
    if not names.issuperset(states):
        raise saved.mismatch(
            name,
            f"those of {sorted(names)}",
            sorted(map(str, states)),
            "Give sources the names of then.",
        )
    return states


def check_bad_samples(saved: SavedState) -> Mapping[str, Any]:
    """Return the record of bad samples, which a record must be able to take up."""
    state: Mapping[str, Any] = saved.get("bad_samples", dict)
    try:
        BadSampleLog(None).restore(state)
    except (TypeError, ValueError) as error:
        raise saved.mismatch("bad_samples", "what was saved", error) from error
    return state


def plain_sources(states: Mapping[str, Any]) -> dict[str, Any]:
    """Return the states of sources as JSON gives them back.

    Raises
    ------
    StateMismatchError
        If JSON cannot hold them.
    """
    plain = {}
    for name, state in states.items():
        if state is None:
            continue
        if isinstance(state, Exception):
            raise StateMismatchError(
                f"Pipeline.state_dict: the source {name!r} must give its state (its state_dict "
                f"raised {state!r}). Fix it."
            ) from state
        try:
            plain[name] = json.loads(json.dumps(state))
        except (TypeError, ValueError) as error:
            raise StateMismatchError(
                f"Pipeline.state_dict: the state of the source {name!r} must be numbers, texts, "
                f"lists and dicts (got {error}). Convert arrays with tolist()."
            ) from error
    return plain
