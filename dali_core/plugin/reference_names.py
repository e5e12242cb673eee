"""Names of NVIDIA DALI's iterators that are private there, and that many programs use.

The properties are read from the plan of the epochs; only what subclasses have to set can be set.
The methods are the steps of which programs make a ``__next__`` of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dali_core.errors import ArgumentValueError
from dali_core.plugin.batch_schedule import Epochs, LastBatchPolicy, ReaderEpochs

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from dali_core.batching.epoch_plan import EpochPlan
    from dali_core.batching.plan import Batching
    from dali_core.pipeline import Pipeline


def stands_in_for_reference() -> bool:
    """Return whether `nvidia.dali` is another name of this library."""
    return any(type(finder).__module__.startswith("dali_core.compat") for finder in sys.meta_path)


class ReferenceNames:
    """The part of an iterator that programs for NVIDIA DALI know by private names."""

    _pipelines: list[Pipeline]
    _epochs: Epochs | None
    _epoch: int
    _taken: int
    _prepared: Any
    _shared: list[Any]
    _batching: Batching

    if TYPE_CHECKING:

        def _begin_batch(self) -> None: ...
        def _share_batches(self) -> list[Sequence[Any]]: ...
        def _start_next(self, release_outputs: bool = True) -> None: ...

    @property
    def _pipes(self) -> list[Pipeline]:
        """The pipelines."""
        return self._pipelines

    @property
    def _num_gpus(self) -> int:
        """Number of pipelines, on any device."""
        return len(self._pipelines)

    @property
    def _size(self) -> int:
        """What `size` is: samples that the epoch counts, or -1."""
        return -1 if self._epochs is None else self._epochs.size(self._epoch)

    @property
    def _size_no_pad(self) -> int:
        """Samples of the data set, or what `size` was given as."""
        return -1 if self._epochs is None else self._epochs.schedule.plan.epochs.num_samples

    @property
    def _shards_num(self) -> int:
        """Number of shards of the reader; 1 without one."""
        return 1 if self._epochs is None else self._epochs.schedule.plan.epochs.num_shards

    @property
    def _shards_id(self) -> NDArray[numpy.int64]:
        """Shard that each pipeline reads in this epoch."""
        shards = self._epochs.shards(self._epoch) if isinstance(self._epochs, ReaderEpochs) else []
        return _array(shards)

    @property
    def _is_stick_to_shard(self) -> bool:
        """Whether pipelines read the same shard in all epochs."""
        return self._reader_plan("_is_stick_to_shard").stick_to_shard

    @property
    def _shard_sizes_per_gpu_initial(self) -> NDArray[numpy.int64]:
        """Samples of each shard of the reader."""
        plan = self._reader_plan("_shard_sizes_per_gpu_initial")
        return _array(
            replace(plan, shard_id=shard).shard_size(0) for shard in range(plan.num_shards)
        )

    @property
    def _shard_sizes_per_gpu(self) -> NDArray[numpy.int64]:
        """Samples of each shard, which move on by one each epoch where batches straddle epochs."""
        import numpy

        sizes = self._shard_sizes_per_gpu_initial
        moves = self._straddles and not self._is_stick_to_shard
        return numpy.roll(sizes, self._epoch) if moves else sizes

    @property
    def _counter_per_gpu(self) -> NDArray[numpy.int64]:
        """Samples of this epoch that came with the last batch of the one before, by shard."""
        import numpy

        sizes = self._shard_sizes_per_gpu_initial
        if not self._straddles:
            return numpy.zeros_like(sizes)
        assert self._epochs is not None
        schedule = self._epochs.schedule
        read = schedule.num_before(self._epoch)
        if self._is_stick_to_shard:
            return read - sizes * self._epoch
        rounds, rest = divmod(self._epoch, len(sizes))
        before = numpy.full_like(sizes, rounds * sizes.sum())
        return read - sum((numpy.roll(sizes, epoch) for epoch in range(rest)), before)

    @property
    def _straddles(self) -> bool:
        return self._last_batch_policy is LastBatchPolicy.FILL and not self._last_batch_padded

    def _reader_plan(self, name: str) -> EpochPlan:
        if not isinstance(self._epochs, ReaderEpochs):
            raise AttributeError(
                f"iterator.{name}: the size of epochs must come from a reader (got 'size', or "
                "none). Pass 'reader_name'."
            )
        return self._epochs.schedule.plan.epochs

    @property
    def _last_batch_policy(self) -> LastBatchPolicy:
        """The policy; FILL while the size is unknown."""
        return LastBatchPolicy.FILL if self._epochs is None else self._epochs.schedule.policy

    @property
    def _last_batch_padded(self) -> bool:
        """Whether the reader, or whatever gives the samples, pads the last batch."""
        return self._epochs is not None and self._epochs.schedule.plan.epochs.pad_last_batch

    @property
    def _counter(self) -> int:
        """Samples that were taken in this epoch, with those that came with the last one.

        Several pipelines are counted together with `size`, and once with `reader_name`. A program
        that counts by itself may set it to as many batches more or less.
        """
        if self._epochs is None:
            return self._batching.plan().position(self._taken)
        return self._epochs.schedule.counted(self._epoch, self._taken)

    @_counter.setter
    def _counter(self, value: int) -> None:
        epochs = self._epochs
        step = (self._batching if epochs is None else epochs.schedule.plan.batching).largest
        batches, rest = divmod(int(value) - self._counter, step)
        if rest or self._taken + batches < 0:
            raise ArgumentValueError(
                f"iterator._counter: must change by whole batches of {step} samples (got {value} "
                f"after {self._counter}). Add the size of a batch."
            )
        self._taken += batches

    @property
    def _first_batch(self) -> Any:
        """The batch that was prepared, until it is taken; None if there is none."""
        return None if isinstance(self._prepared, Exception) else self._prepared

    @_first_batch.setter
    def _first_batch(self, batch: Any) -> None:
        self._prepared = batch

    def _get_outputs(self) -> list[Sequence[Any]]:
        """Return the next outputs of every pipeline, or raise StopIteration.

        Afterwards there must be calls of `_schedule_runs` and `_advance_and_check_drop_last`.
        """
        self._begin_batch()
        outputs = self._share_batches()
        self._shared = []
        return outputs

    def _schedule_runs(self, release_outputs: bool = True) -> None:
        """Have every pipeline compute one batch more, after the last outputs were released."""
        self._start_next(release_outputs)

    def _advance_and_check_drop_last(
        self, dry_run: bool = False, end_iteration: bool = True
    ) -> bool:
        """Count a batch. One that is to be dropped is never returned, so none ends the epoch."""
        self._taken += not dry_run
        return False

    def _remove_padded(self) -> tuple[NDArray[numpy.bool_] | bool, NDArray[numpy.int64] | int]:
        """Return which parts of the batch taken last are partial, and how many samples remain."""
        if self._epochs is None or self._last_batch_policy is not LastBatchPolicy.PARTIAL:
            return False, -1
        left = _array(self._epochs.num_valid(self._epoch, self._taken - 1))
        full = [max(sizes) for sizes in self._epochs.num_samples(self._epoch, self._taken - 1)]
        return left < _array(full[: len(left)]), left


def _array(numbers: Iterable[int]) -> NDArray[numpy.int64]:
    import numpy  # not before it is needed: it starts threads

    return numpy.array([*numbers], dtype=numpy.int64)
