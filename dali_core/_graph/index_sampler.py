"""What a data set must offer to a reader, and the order in which a pipeline reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from dali_core._runtime.epoch_plan import EpochPlan, Run
from dali_core._runtime.executor_config import Permutation, ReaderRun
from dali_core._runtime.random import mix_seed
from dali_core._spec import Arg, Range
from dali_core.errors import ArgumentValueError

READER_ARGS = (
    Arg(
        "num_shards",
        int,
        "Number of parts that the data set is divided into.",
        default=1,
        range=Range(1),
    ),
    Arg("shard_id", int, "Which part to read, counted from 0.", default=0, range=Range(0)),
    Arg(
        "stick_to_shard",
        bool,
        "Read the same part in every epoch, instead of moving on to the next one.",
        default=False,
    ),
    Arg(
        "interleaved_shards",
        bool,
        "Deal the epoch's order out to the parts sample by sample, instead of cutting it into "
        "ranges. The batches of all parts at one step are then the same samples together for any "
        "number of parts, as long as all batches together are equally large. Not possible with "
        "`stick_to_shard`.",
        default=False,
    ),
    Arg(
        "pad_last_batch",
        bool,
        "Fill the last batch of an epoch by repeating the last sample, and give all parts the same "
        "number of batches. Otherwise batches run on into the next epoch.",
        default=False,
    ),
    Arg(
        "random_shuffle",
        bool,
        "Read each epoch in another random order. The order is a permutation of the whole data set "
        "(with `stick_to_shard`: of the part), computed from `seed` and the epoch.",
        default=False,
    ),
    Arg(
        "seed",
        int,
        "Seed of the order. It must be the same for all parts of one data set, so it does not "
        "follow the pipeline's seed, which often differs between processes.",
        default=-1,
    ),
    Arg(
        "shuffle_after_epoch",
        bool,
        "The same as `random_shuffle`, with a seed of its own; it excludes `random_shuffle` and "
        "`stick_to_shard`.",
        default=False,
    ),
    Arg(
        "shuffle_after_epoch_seed",
        int,
        "Seed of the order with `shuffle_after_epoch`; takes precedence over `seed`.",
        default=None,
    ),
    Arg(
        "initial_fill",
        int,
        "Accepted without effect: shuffling is always complete and needs no buffer, so there is "
        "none to fill.",
        default=1024,
        range=Range(0),
    ),
    Arg(
        "lazy_init",
        bool,
        "List the data set when the first batch or the size of an epoch is asked for, instead of "
        "when the pipeline is built.",
        default=False,
    ),
    Arg(
        "read_ahead",
        bool,
        "Read files in threads of their own before they are needed, so that a slow disk or network "
        "does not keep the pipeline's threads waiting. By default (None) this is done; False turns "
        "it off. The data is the same.",
        default=None,
    ),
    Arg(
        "prefetch_queue_depth",
        int,
        "How many batches of files may wait in memory after having been read ahead; at most those "
        "that the pipeline has started, and 128 MiB.",
        default=1,
        range=Range(1),
    ),
    Arg(
        "skip_cached_images",
        bool,
        "Accepted without effect: decoders on the host keep no images.",
        default=False,
    ),
    Arg(
        "tensor_init_bytes",
        int,
        "Accepted without effect: the sizes of files are known before memory is allocated.",
        default=1048576,
        range=Range(0),
    ),
    Arg(
        "dont_use_mmap",
        bool,
        "Accepted without effect: files are always read, never mapped, so one that shrinks "
        "meanwhile is an error and no crash.",
        default=False,
    ),
)
"""Arguments that every reader takes."""


class DataSource(Protocol):
    """A data set that native code reads by index."""

    def __len__(self) -> int:
        """Count the samples."""
        ...

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to fetch a sample by its index."""
        ...


@dataclass(frozen=True)
class IndexSampler:
    """A data set together with the order in which one pipeline reads it.

    Parameters
    ----------
    source : DataSource
        The data set.
    plan : EpochPlan
        Sharding and padding.
    seed : int
        Seed of the order.
    is_shuffled : bool
        Whether the order is random; otherwise it is the natural one.
    """

    source: DataSource
    plan: EpochPlan
    seed: int
    is_shuffled: bool

    @classmethod
    def from_arguments(cls, source: DataSource, arguments: dict[str, Any]) -> IndexSampler:
        """Make a sampler from an operator's checked arguments."""
        shuffle = arguments["random_shuffle"]
        after_epoch = arguments["shuffle_after_epoch"]
        for other in ("random_shuffle", "stick_to_shard"):
            if after_epoch and arguments[other]:
                raise ArgumentValueError(
                    f"shuffle_after_epoch and {other} must not both be True. Leave out one."
                )
        plan = EpochPlan(
            num_samples=len(source),
            num_shards=arguments["num_shards"],
            shard_id=arguments["shard_id"],
            stick_to_shard=arguments["stick_to_shard"],
            pad_last_batch=arguments["pad_last_batch"],
            random_shuffle=shuffle or after_epoch,
            interleaved=arguments["interleaved_shards"],
        )
        seed = arguments["seed"]
        if after_epoch:
            seed = arguments.get("shuffle_after_epoch_seed", seed)
        return cls(
            source=source,
            plan=plan,
            seed=mix_seed(max(seed, 0), _ORDER_SALT),
            is_shuffled=shuffle or after_epoch,
        )

    def runs(
        self, start: int, count: int, batch_size: int, *, with_shards: bool
    ) -> list[ReaderRun]:
        """List the samples at some positions of the reader's stream, as executors need them.

        Parameters
        ----------
        start, count, batch_size : int
            As for `EpochPlan.runs`.
        with_shards : bool
            Whether to tell where samples that take the place of bad ones come from.
        """
        return [
            ReaderRun(run, self._order(run.epoch), self._shard(run) if with_shards else None)
            for run in self.plan.runs(start, count, batch_size)
        ]

    def _shard(self, run: Run) -> range:
        positions = self.plan.shard_range(run.epoch)
        if run.first not in positions:
            # Interleaved shards all repeat the same sample for padding: that of another shard.
            positions = range(run.first % positions.step, self.plan.num_samples, positions.step)
        return positions

    def _order(self, epoch: int) -> Permutation | None:
        if not self.is_shuffled:
            return None
        if self.plan.stick_to_shard:
            # The part's files may be the only ones on this machine.
            positions = self.plan.shard_range(epoch)
            return Permutation(positions.start, len(positions), self.seed)
        return Permutation(0, self.plan.num_samples, self.seed)


_ORDER_SALT = 0x6F72646572
