"""A pure model of iterators: which samples each batch of a random program has.

It walks along the endless streams of samples, and knows nothing of plans and schedules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st

from dali_core.plugin.base_iterator import LastBatchPolicy

FILL, DROP, PARTIAL = LastBatchPolicy
EPOCHS = 24


class Sample(NamedTuple):
    """A place in the order of an epoch; padding repeats the one before."""

    epoch: int
    place: int
    is_padding: bool = False


Batch = list[list[Sample]]
"""What a batch has of each pipeline."""


@dataclass(frozen=True)
class Case:
    """An iterator over shards of a data set."""

    num_samples: int
    num_shards: int
    shards: tuple[int, ...]
    batch_size: int
    stick: bool
    pad: bool
    policy: LastBatchPolicy
    size: int | None  # None: follow the reader
    auto_reset: bool
    prepare: bool

    @property
    def pads(self) -> bool:
        """Whether the reader pads, perhaps because the iterator has it do that."""
        return self.pad or (self.size is None and self.policy is not FILL)

    def counting(self) -> dict[str, Any]:
        """Return the arguments of the iterator that say what an epoch is."""
        counted = {} if self.size is None else {"size": self.size, "last_batch_padded": self.pad}
        return {
            "last_batch_policy": self.policy,
            "auto_reset": self.auto_reset,
            "prepare_first_batch": self.prepare,
            **counted,
        }

    def reader(self, shard: int) -> dict[str, Any]:
        """Return the arguments of a pipeline's reader."""
        return {
            "num_shards": self.num_shards,
            "shard_id": shard,
            "stick_to_shard": self.stick,
            "pad_last_batch": self.pad,
        }


@st.composite
def cases(draw: Any) -> Case:
    """Draw an iterator that has at least one batch in each epoch."""
    num_samples = draw(st.sampled_from([*range(12, 0, -1)]))
    num_shards = draw(st.integers(1, min(num_samples, 3)))
    shards = draw(st.permutations(range(num_shards)))[: draw(st.integers(1, num_shards))]
    batch_size = draw(st.sampled_from([3, 2, 5, 4, 1]))
    policy = draw(st.sampled_from([FILL, PARTIAL, DROP, FILL]))
    size = draw(st.sampled_from([None, None, *range(1, 20)]))
    smallest = num_samples // num_shards if size is None else size // len(shards)
    if policy is DROP:
        batch_size = max(1, min(batch_size, smallest))
    if size is not None and policy is DROP:
        size = max(size, batch_size * len(shards))
    flags = [draw(st.booleans()) for _ in range(4)]
    return Case(
        num_samples, num_shards, tuple(shards), batch_size, *flags[:2], policy, size, *flags[2:]
    )


PROGRAMS = st.lists(
    st.one_of(
        st.tuples(st.just("loop"), st.sampled_from([1, 100, 2, 3, 0])),
        st.tuples(st.just("loop"), st.sampled_from([2, 1, 100])),
        st.tuples(st.just("next"), st.integers(1, 2)),
        st.tuples(st.sampled_from(["state", "state", "reset", "restart"]), st.just(0)),
    ),
    min_size=3,
    max_size=12,
)
"""A loop that is left after so many batches, calls of `next`, or another step."""


class Model:
    """An iterator as its page describes it."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._streams = [_stream(case, shard) for shard in range(case.num_shards)]
        self._epochs = _count_by_size(case) if case.size else _count_by_reader(case, self._streams)
        self.epoch = self.returned = self._lead = 0
        self._resumes = False

    @property
    def length(self) -> int:
        """Number of batches of the epoch."""
        return self._epochs[self.epoch].given + self._lead

    def begin(self) -> None:
        """Begin a loop."""
        if self.returned and (self.returned >= self.length or not self._resumes):
            self.reset()

    def next(self) -> Batch | None:
        """Return the next batch; None at the end of the epoch."""
        self._resumes = False
        if self.returned >= self.length:
            if self._case.auto_reset:
                self.reset()
            return None
        self.returned += 1
        return self._batch(self.returned - 1 - self._lead)

    def resume(self) -> None:
        """Continue in another object."""
        self._resumes = True

    def reset(self) -> None:
        """Begin the next epoch."""
        if self.returned:
            is_complete = self.returned >= self.length
            self.epoch += 1
            self.returned = 0
            self._lead = 0 if is_complete else self._epochs[self.epoch].lead

    def restart(self) -> None:
        """Begin the epoch again."""
        self.returned, self._resumes = 0, True

    def _batch(self, index: int) -> Batch:
        case, size = self._case, self._case.batch_size
        start = (self._epochs[self.epoch].first + index) * size
        batch = [self._streams[shard][start : start + size] for shard in case.shards]
        if case.policy is not PARTIAL:
            return batch
        if case.size is None:
            lengths = [len(_places(case, shard, self.epoch)) for shard in case.shards]
            return [
                part[: max(0, length - index * size)]
                for part, length in zip(batch, lengths, strict=True)
            ]
        left = case.size - index * size * len(batch)
        return [part[: max(0, left - size * number)] for number, part in enumerate(batch)]


class _Epoch(NamedTuple):
    first: int  # number of its first batch
    given: int
    lead: int = 0  # batches before the first that have samples of it


def _places(case: Case, shard: int, epoch: int) -> range:
    number = shard if case.stick else (shard + epoch) % case.num_shards
    start, stop = (part * case.num_samples // case.num_shards for part in (number, number + 1))
    return range(start, stop)


def _stream(case: Case, shard: int) -> list[Sample]:
    largest = -(-case.num_samples // case.num_shards)
    samples = []
    for epoch in range(EPOCHS * 21):  # with a size an epoch may have many of the reader
        mine = [Sample(epoch, place) for place in _places(case, shard, epoch)]
        while case.pads and (len(mine) < largest or len(mine) % case.batch_size):
            mine.append(mine[-1]._replace(is_padding=True))
        samples += mine
    return samples


def _count_by_reader(case: Case, streams: Sequence[list[Sample]]) -> list[_Epoch]:
    """Every process of the job takes batches until each has seen the samples of its epoch."""
    size, epochs, first = case.batch_size, [], 0
    for epoch in range(EPOCHS):
        lengths = [len(_places(case, shard, epoch)) for shard in range(case.num_shards)]
        starts = [
            next(at for at, sample in enumerate(stream) if sample.epoch == epoch)
            for stream in streams
        ]
        if case.policy is FILL and not case.pads:
            ends = [start + length for start, length in zip(starts, lengths, strict=True)]
            stop = first + 1
            while any(stop * size < end for end in ends):
                stop += 1
            lead = first - min(first, min(starts) // size)
            epochs.append(_Epoch(first, stop - first, lead))
            first = stop
        else:
            least = case.num_samples // case.num_shards
            counted = least if case.policy is DROP else -(-case.num_samples // case.num_shards)
            given = least // size if case.policy is DROP else -(-counted // size)
            epochs.append(_Epoch(first, given))
            first += -(-counted // size)
    return epochs


def _count_by_size(case: Case) -> list[_Epoch]:
    """Count the samples of all pipelines together."""
    assert case.size is not None
    together = case.batch_size * len(case.shards)
    epochs, first = [], 0
    for epoch in range(EPOCHS):
        continues = case.policy is FILL and not case.pad
        start = epoch * case.size if continues else first * together
        stop = first + 1 if continues else first
        while stop * together < start + case.size:
            stop += 1
        given = stop - first
        if case.policy is DROP and case.size % together:
            given -= 1
        epochs.append(_Epoch(first, given, first - min(first, start // together)))
        first = stop
    return epochs
