"""Batches by lengths, of the samples that the readers of a pipeline have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dali_core._execution.readers import Readers
from dali_core._graph.node import OperatorNode
from dali_core._readers.mixtures import MixtureOrder
from dali_core._readers.order import IndexSampler
from dali_core._runtime.random import permutation
from dali_core.batching.epoch_batches import EpochOrder
from dali_core.batching.lengths import Lengths
from dali_core.batching.plan import Batching
from dali_core.batching.planned import Planned
from dali_core.batching.windows import Integers
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
)


def bind_batching(batching: Batching, readers: Readers) -> Batching:
    """Return the batches of the samples of readers.

    Raises
    ------
    GraphError, ArgumentConflictError, ArgumentTypeError, ArgumentValueError
        If no reader has samples with lengths, or readers do not have the same order, or samples do
        not fit.
    """
    if not isinstance(batching, Planned):
        return batching
    by_node = readers.by_node
    if not by_node:
        raise GraphError(
            "Pipeline: a reader must give the samples that batching divides by their lengths (got "
            "none). Read with an operator of fn.readers, or pass batch_size instead."
        )
    for node, reader in by_node.items():
        _check(node, reader, batching)
    node, leading = _leading(by_node, batching)
    _check_same_order(node, leading, by_node)
    lengths, lists = batching.lengths, batching.lists
    if lists is not None and lists.num_samples != len(leading.source):
        raise ArgumentValueError(
            f"{node.where}: list_sizes must have the sum {len(leading.source)}, the number of "
            f"samples (got {lists.num_samples}). Pass those of this data set."
        )
    if lengths is None:
        declared = leading.source.lengths
        if declared is None:
            raise ArgumentConflictError(
                f"{node.where}: the reader must know the lengths of its samples, by which "
                f"{batching.rule!r} divides them (it declares none). Pass lengths=... to the "
                "Pipeline."
            )
        lengths = Lengths(declared if lists is None else lists.sums(declared))
    count = len(leading.source) if lists is None else lists.num_lists
    if lengths.num_samples != count:
        raise ArgumentValueError(
            f"{node.where}: lengths must have an entry for each of {count} "
            f"{'samples' if lists is None else 'lists'} (got {lengths.num_samples}). Pass those of "
            "this data set."
        )
    is_random = leading.is_shuffled or leading.sampler is not None
    order = _order(leading, count)
    try:
        bound = batching.of_data(lengths, order, shuffle=is_random)
        bound.plan(leading.plan).place(0)  # names a sample that does not fit
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{node.where}: {error}") from error
    if batching.repack == "once" or lists is not None:
        for other, reader in by_node.items():
            by_node[other] = replace(reader, follows_data=True)
    return bound


def _leading(
    readers: Mapping[OperatorNode, IndexSampler], batching: Planned
) -> tuple[OperatorNode, IndexSampler]:
    """Return the reader whose samples have the lengths: the first that declares some."""
    if batching.lengths is None:
        for node, reader in readers.items():
            if reader.source.lengths is not None:
                return node, reader
    return next(iter(readers.items()))


def _check(node: OperatorNode, reader: IndexSampler, batching: Planned) -> None:
    if reader.part is not None or isinstance(reader.sampler, MixtureOrder):
        raise ArgumentConflictError(
            f"{node.where}: mixtures must have batches of one size (got {batching.rule!r}). Pass "
            "batch_size, or concatenate the data sets."
        )
    if node.arguments.get("stick_to_shard"):
        raise ArgumentConflictError(
            f"{node.where}: stick_to_shard must be False where batches are divided by lengths "
            f"(got True, and {batching.rule!r}): all shards share the batches of one order. Drop "
            "one of the two."
        )
    if batching.lists is not None and reader.sampler is not None:
        raise ArgumentConflictError(
            f"{node.where}: must have no sampler where batching divides lists of samples (got "
            "both). Leave out one."
        )
    if batching.repack == "once" and reader.sampler is not None:
        raise ArgumentConflictError(
            f'{node.where}: repack must be "each_epoch" with a sampler (got "once"), which gives '
            "each epoch other samples. Leave out one."
        )


def _check_same_order(
    node: OperatorNode, leading: IndexSampler, readers: Mapping[OperatorNode, IndexSampler]
) -> None:
    """Check that all readers have the same samples at the same places."""
    for other, reader in readers.items():
        for name, here, wanted in (
            ("number of samples", reader.plan.num_samples, leading.plan.num_samples),
            ("num_shards", reader.plan.num_shards, leading.plan.num_shards),
            ("shard_id", reader.plan.shard_id, leading.plan.shard_id),
            ("pad_last_batch", reader.plan.pad_last_batch, leading.plan.pad_last_batch),
            ("order", reader.order(0), leading.order(0)),
        ):
            if here != wanted and not (name == "order" and reader.sampler is not None):
                raise ArgumentConflictError(
                    f"{other.where}: the {name} must be that of {node.where}, whose samples the "
                    f"batching divides (got {here!r}, and {wanted!r} there). Pass the same "
                    "arguments to both."
                )


def _order(reader: IndexSampler, num_planned: int) -> EpochOrder:
    seed = reader.seed
    count = reader.plan.num_samples if reader.sampler is not None else num_planned

    def shuffled(epoch: int, start: int, number: int) -> Integers:
        return permutation(count, seed, epoch, start, number)

    def listed(epoch: int, start: int, number: int) -> Integers:
        return reader.indices(epoch)[start : start + number]

    return EpochOrder(count, seed, shuffled if reader.sampler is None else listed)
