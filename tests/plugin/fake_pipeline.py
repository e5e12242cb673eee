"""A fake pipeline without an engine: it returns numbered samples, and checks its calls."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dali_core.adapters import Adapter
from dali_core.batching import Fixed
from dali_core.batching.epoch_plan import EpochPlan
from dali_core.checkpoint.position import Position
from dali_core.checkpoint.state import State
from dali_core.plugin.base_iterator import BaseIterator


class FakeBatch(list[int]):
    """One output: the numbers of its samples."""

    def is_dense_tensor(self) -> bool:
        return True

    def as_tensor(self) -> list[int]:
        return list(self)


class ListAdapter(Adapter):
    """Arrays are lists."""

    name = "list"

    def from_tensor(self, tensor: list[int]) -> list[int]:
        return tensor


class FakePipeline:
    """Return batches of a stream, with one prefetched, like a pipeline that is run step by step.

    Parameters
    ----------
    batches : callable
        Returns the batches from the start; called again by `reset` after the end.
    batch_size : int
        Samples in a full batch.
    meta : dict, optional
        The value of `reader_meta` for the reader "reader".
    pad : callable, optional
        Changes `batches` and `meta` to those of a reader that pads, if `build` has not been called.
    """

    def __init__(
        self,
        batches: Callable[[], Iterable[list[int]]],
        batch_size: int,
        meta: dict[str, int] | None = None,
        pad: Callable[[], FakePipeline] | None = None,
    ) -> None:
        self.max_batch_size = batch_size
        self.batching = Fixed(batch_size)
        self._batches = batches
        self._meta = {} if meta is None else {"reader": meta}
        self._pad = pad
        self._source: Iterator[list[int]] = iter(batches())
        self._ready: deque[list[int]] = deque()
        self._built = self._ended = self._shared = False
        self.num_taken = 0

    def build(self) -> None:
        self._built = True

    def schedule_run(self) -> None:
        assert self._built
        assert len(self._ready) <= 1, "run further ahead than one batch"
        if not self._ended:
            try:
                self._ready.append(next(self._source))
            except StopIteration:
                self._ended = True

    def output_stream(self) -> None:
        """Return that batches are on the host."""

    def share_outputs(self) -> tuple[FakeBatch, ...]:
        assert not self._shared, "the previous outputs were not released"
        if not self._ready:
            assert self._ended, "nothing was scheduled"
            raise StopIteration
        self._shared = True
        self.num_taken += 1
        return (FakeBatch(self._ready.popleft()),)

    def release_outputs(self) -> None:
        assert self._shared
        self._shared = False

    def empty(self) -> bool:
        return not self._ready

    def reset(self) -> None:
        if self._ended:
            self._ended = False
            self._source = iter(self._batches())

    @property
    def states(self) -> FakePipeline:
        return self

    iterator_state = None

    def current(self) -> State:
        return State(Position(batch=self.num_taken))

    def begin_loop(self) -> None:
        """Count the time before as a pause: of this pipeline nothing is counted."""

    def skip_to(self, batch: int | None, where: str) -> None:
        self._ready.clear()
        self._ended = self._shared = False
        self._source = iter(self._batches())
        if batch is not None and self._meta:
            self._source = itertools.islice(self._source, batch, None)
        self.num_taken = self.num_taken if batch is None else batch

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        return self._meta if name is None else self._meta[name]

    @property
    def epochs(self) -> FakePipeline:
        return self

    @property
    def has_readers(self) -> bool:
        return bool(self._meta)

    @property
    def has_sources(self) -> bool:
        return not self._meta

    def pad(self) -> bool:
        if self._pad is None or self._built:
            return False
        padded = self._pad()
        self._batches, self._meta = padded._batches, padded._meta
        self._source, self._pad = padded._source, None
        return True

    def plans(self) -> dict[str, EpochPlan]:
        return {name: EpochPlan.from_meta(meta) for name, meta in self._meta.items()}


def shard_of_epoch(
    num_samples: int, num_shards: int, shard_id: int, stick: bool, epoch: int
) -> list[int]:
    shard = shard_id if stick else (shard_id + epoch) % num_shards
    start, stop = (part * num_samples // num_shards for part in (shard, shard + 1))
    return list(range(num_samples))[start:stop]


def reader_pipeline(
    num_samples: int,
    batch_size: int,
    num_shards: int = 1,
    shard_id: int = 0,
    *,
    stick: bool = False,
    pad: bool | None = False,
    marked: bool = False,
) -> FakePipeline:
    """Yield the numbers from 0 forever, like a reader in a pipeline.

    If `marked`, those of each epoch are 1000 larger than those of the one before. With None for
    `pad`, an iterator may have it pad.
    """

    def samples() -> Iterator[int]:
        largest = -(-num_samples // num_shards)
        for epoch in itertools.count():
            mine = shard_of_epoch(num_samples, num_shards, shard_id, stick, epoch)
            while pad and (len(mine) < largest or len(mine) % batch_size):
                mine.append(mine[-1])
            yield from (number + 1000 * epoch * marked for number in mine)

    def batches() -> Iterator[list[int]]:
        stream = samples()
        while True:
            yield list(itertools.islice(stream, batch_size))

    meta = {
        "epoch_size": num_samples,
        "epoch_size_padded": num_samples,
        "number_of_shards": num_shards,
        "shard_id": shard_id,
        "pad_last_batch": int(bool(pad)),
        "stick_to_shard": int(stick),
    }
    padded = functools.partial(
        reader_pipeline,
        num_samples,
        batch_size,
        num_shards,
        shard_id,
        stick=stick,
        pad=True,
        marked=marked,
    )
    return FakePipeline(batches, batch_size, meta, padded if pad is None else None)


def source_pipeline(num_batches: int, batch_size: int) -> FakePipeline:
    """Yield some batches, then end; start again after `reset`."""

    def batches() -> Iterator[list[int]]:
        for batch in range(num_batches):
            yield list(range(batch * batch_size, (batch + 1) * batch_size))

    return FakePipeline(batches, batch_size)


def iterate(pipelines: Any, **options: Any) -> BaseIterator:
    return BaseIterator(pipelines, ["number"], ListAdapter(), **options)


def numbers(batches: Any) -> list[list[int]]:
    """Return the output of a single pipeline."""
    return [batch[0]["number"] for batch in batches]
