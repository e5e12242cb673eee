"""The arguments of all readers, and the order in which a pipeline reads a data set."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.mixtures import MixtureOrder
from dali_core._readers.protocol import DataSource
from dali_core._runtime.executor_config import Permutation, ReaderRun
from dali_core._runtime.random import ListedOrder, mix_seed, permutation
from dali_core._spec import Arg, Range
from dali_core.batching.epoch_plan import EpochPlan, Run
from dali_core.errors import ArgumentTypeError, ArgumentValueError, PipelineStateError
from dali_core.samplers.sampling import DataSet, Sampler, as_sampler, length_of, order_of

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
        "Read each epoch in another random order of the whole data set, with a seed of its own, in "
        "which each part keeps its place: it reads as many samples in every epoch, others each "
        "time. `Pipeline.reader_meta` says that it sticks to its shard; `random_shuffle` and "
        "`stick_to_shard` are excluded.",
        default=False,
    ),
    Arg(
        "shuffle_after_epoch_seed",
        int,
        "Seed of the order with `shuffle_after_epoch`; takes precedence over `seed`.",
        default=None,
    ),
    Arg(
        "sampler",
        object,
        "Which samples each epoch has, and in which order: an array of indices, a sampler of "
        "`dali_core.samplers`, or one as PyTorch has them, with ``__iter__``, ``__len__`` and "
        "``set_epoch``. It gives the order of the whole data set, of which each part gets its "
        "share. With `random_shuffle` that order is shuffled. Not possible with `stick_to_shard`.",
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


@dataclass(frozen=True)
class Part:
    """A data set as a part of a mixture.

    Attributes
    ----------
    chooser : IndexSampler
        Chooses the data set of each sample.
    number : int
        Number of this one.
    """

    chooser: IndexSampler
    number: int

    def places(self, runs: Iterable[Run], num_samples: int) -> list[tuple[int, int] | None]:
        """Return epoch and position in the order of this data set, of the mixture's samples.

        Parameters
        ----------
        runs : iterable of Run
            Samples of the mixture.
        num_samples : int
            Samples in an epoch of this data set.

        Returns
        -------
        list of (int, int) or None
            None for samples of other data sets.
        """
        order, data = self._order
        places: list[tuple[int, int] | None] = []
        for run in runs:
            numbers, before = order.places(data, run.epoch)
            done = run.epoch * order.counts[self.number]
            for position in (run.first + i * run.step for i in range(run.length)):
                is_own = numbers[position] == self.number
                found = divmod(done + int(before[position]), num_samples) if is_own else None
                places.append(found)
        return places

    def own_epoch(self, epoch: int, num_samples: int) -> int:
        """Return the epoch of this data set in which an epoch of the mixture begins."""
        return epoch * self._order[0].counts[self.number] // num_samples

    @property
    def _order(self) -> tuple[MixtureOrder, DataSet]:
        order, data = self.chooser.sampler, self.chooser.data
        assert isinstance(order, MixtureOrder)
        assert data is not None
        return order, data


class _Listed(NamedTuple):
    """The order of an epoch: for native code, its checksum, and the indices."""

    order: ListedOrder
    checksum: int
    indices: NDArray[np.int64]


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
    is_order_of_part : bool
        Whether the random order is that of the part's samples alone, instead of all.
    where : str
        The reader, for messages.
    sampler : Sampler, optional
        Gives the order of each epoch; by default it has all samples.
    data : DataSet, optional
        The data set that is passed to the sampler.
    part : Part, optional
        The mixture that the data set is part of; its samples are read when that chooses it.
    follows_data : bool
        Whether positions are those of the data, since batches are in a random order instead.
    """

    source: DataSource
    plan: EpochPlan
    seed: int
    is_shuffled: bool
    is_order_of_part: bool = False
    where: str = ""
    sampler: Sampler | None = None
    data: DataSet | None = None
    part: Part | None = None
    follows_data: bool = False
    _listed: dict[int, _Listed] = field(default_factory=dict)

    @classmethod
    def from_arguments(
        cls, source: DataSource, arguments: dict[str, Any], where: str = ""
    ) -> IndexSampler:
        """Make a sampler from an operator's checked arguments; `where` is for later messages."""
        shuffle = arguments["random_shuffle"]
        after_epoch = arguments["shuffle_after_epoch"]
        for other in ("random_shuffle", "stick_to_shard"):
            if after_epoch and arguments[other]:
                raise ArgumentValueError(
                    f"shuffle_after_epoch and {other} must not both be True. Leave out one."
                )
        seed = arguments["seed"]
        if after_epoch:
            seed = arguments.get("shuffle_after_epoch_seed", seed)
        # Another order than with random_shuffle, so that states tell one from the other.
        seed = mix_seed(max(seed, 0), _ORDER_SALT + after_epoch)
        num_samples = len(source)
        sampler = data = None
        if "sampler" in arguments:
            if arguments["stick_to_shard"]:
                raise ArgumentValueError(
                    "stick_to_shard must be False with a sampler (got True), which gives the order "
                    "of the whole data set. Leave out one."
                )
            sampler = as_sampler(arguments["sampler"])
            data = DataSet(num_samples, seed, shuffle or after_epoch, source.labels, source.blocks)
            num_samples = length_of(sampler, data)
        plan = EpochPlan(
            num_samples=num_samples,
            num_shards=arguments["num_shards"],
            shard_id=arguments["shard_id"],
            # Interleaved shards differ by one sample at most, and have no place to stay at.
            stick_to_shard=(after_epoch and not arguments["interleaved_shards"])
            or arguments["stick_to_shard"],
            pad_last_batch=arguments["pad_last_batch"],
            random_shuffle=shuffle or after_epoch,
            interleaved=arguments["interleaved_shards"],
        )
        return cls(
            source=source,
            plan=plan,
            seed=seed,
            is_shuffled=shuffle or after_epoch,
            is_order_of_part=arguments["stick_to_shard"],
            where=where,
            sampler=sampler,
            data=data,
        )

    def meta(self) -> dict[str, Any]:
        """Describe the reader in the form of `Pipeline.reader_meta`."""
        names = self.source.class_names
        return self.plan.meta() | ({} if names is None else {"class_names": list(names)})

    @property
    def stream(self) -> EpochPlan:
        """The plan of the samples that this reader follows: its own, or that of its mixture."""
        return self.plan if self.part is None else self.part.chooser.plan

    def runs(self, planned: Sequence[Run], *, with_shards: bool) -> list[ReaderRun]:
        """Describe samples of the stream as executors need them.

        Parameters
        ----------
        planned : sequence of Run
            The samples.
        with_shards : bool
            Whether to return where samples that take the place of bad ones come from.
        """
        if self.part is not None:
            places = self.part.places(planned, self.plan.num_samples)
            own_range = range(self.plan.num_samples) if with_shards else None
            return [
                ReaderRun(Run(0, 0, 1, 1), is_absent=True)
                if place is None
                else ReaderRun(Run(*place, 1, 1), self.order(place[0]), own_range)
                for place in places
            ]
        # In the place of a bad sample comes another one of the data set that was chosen.
        with_shards = with_shards and not isinstance(self.sampler, MixtureOrder)
        return [
            ReaderRun(run, self.order(run.epoch), self._shard(run) if with_shards else None)
            for run in planned
        ]

    def own_epoch(self, epoch: int) -> int:
        """Return an epoch of the data set that is being read in an epoch of the stream."""
        if self.part is None:
            return epoch
        return self.part.own_epoch(epoch, self.plan.num_samples)

    def _shard(self, run: Run) -> range:
        positions = self.plan.shard_range(run.epoch)
        if run.first not in positions:
            # Interleaved shards all repeat the same sample for padding: that of another shard.
            positions = range(run.first % positions.step, self.plan.num_samples, positions.step)
        return positions

    def order(self, epoch: int) -> Permutation | ListedOrder | None:
        """Return how positions of an epoch become samples; None for the natural order."""
        if self.sampler is not None:
            return self._list(epoch).order
        if not self.is_shuffled or self.follows_data:
            return None
        if self.is_order_of_part:
            # The part's files may be the only ones on this machine.
            positions = self.plan.shard_range(epoch)
            return Permutation(positions.start, len(positions), self.seed)
        return Permutation(0, self.plan.num_samples, self.seed)

    def indices(self, epoch: int) -> NDArray[np.int64]:
        """Return the indices of an epoch's samples in its order, those of all shards."""
        order = self.order(epoch)
        if self.sampler is not None:
            return self._list(epoch).indices
        found = np.arange(self.plan.num_samples)
        if isinstance(order, Permutation):
            first, size = order.first, order.size
            found[first : first + size] = first + permutation(size, order.seed, epoch)
        return found

    def checksum(self, epoch: int) -> int:
        """Return a checksum of the order that the sampler gives for an epoch."""
        return self._list(epoch).checksum

    def upcoming(self, planned: Iterable[Run]) -> NDArray[np.int64]:
        """Return the indices of samples of the stream, as far as they are known already.

        Nothing is asked for: samplers are called in the thread that starts batches. Random orders
        without a sampler are not known, since what is read ahead is of no use to them.
        """
        found = [np.empty(0, np.int64)]
        for run in planned if self.part is None else ():
            positions = run.first + run.step * np.arange(run.length)
            listed = self._listed.get(run.epoch)
            if listed is not None:
                found.append(listed.indices[positions])
            elif self.sampler is None and not self.is_shuffled:
                found.append(positions)
            else:
                break
        return np.concatenate(found)

    def _list(self, epoch: int) -> _Listed:
        assert self.sampler is not None
        assert self.data is not None
        if epoch not in self._listed:
            try:
                order = order_of(self.sampler, self.data, epoch, self.plan.num_samples)
            except (ArgumentTypeError, ArgumentValueError, PipelineStateError) as error:
                raise type(error)(f"{self.where}: {error}") from error
            while len(self._listed) >= _MAX_LISTED:
                del self._listed[next(iter(self._listed))]
            self._listed[epoch] = _Listed(ListedOrder(order), zlib.crc32(order.data), order)
        return self._listed[epoch]


_ORDER_SALT = 0x6F72646572
_MAX_LISTED = 3
"""How many epochs keep their lists: prefetching reads the next one, too."""
