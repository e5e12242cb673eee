"""Names of NVIDIA DALI's iterators that are private there, and that many programs use.

All of them are read from the plan of the epochs; only what subclasses have to set can be set.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from dali_core.errors import ArgumentValueError
from dali_core.plugin.batch_schedule import Epochs, LastBatchPolicy, ReaderEpochs

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

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
    batch_size: int

    @property
    def _pipes(self) -> list[Pipeline]:
        """The pipelines."""
        return self._pipelines

    @property
    def _num_gpus(self) -> int:
        """Number of pipelines, whatever they run on."""
        return len(self._pipelines)

    @property
    def _size(self) -> int:
        """What `size` is: samples that the epoch counts, or -1."""
        return -1 if self._epochs is None else self._epochs.size(self._epoch)

    @property
    def _size_no_pad(self) -> int:
        """Samples of the data set, or what `size` was given as."""
        return -1 if self._epochs is None else self._epochs.schedule.plan.num_samples

    @property
    def _shards_num(self) -> int:
        """Number of shards of the reader; 1 without one."""
        return 1 if self._epochs is None else self._epochs.schedule.plan.num_shards

    @property
    def _shards_id(self) -> NDArray[numpy.int64]:
        """Shard that each pipeline reads in this epoch."""
        import numpy  # not before somebody asks: it starts threads

        shards = self._epochs.shards(self._epoch) if isinstance(self._epochs, ReaderEpochs) else []
        return numpy.array(shards, dtype=numpy.int64)

    @property
    def _last_batch_policy(self) -> LastBatchPolicy:
        """The policy; FILL while the size is unknown."""
        return LastBatchPolicy.FILL if self._epochs is None else self._epochs.schedule.policy

    @property
    def _last_batch_padded(self) -> bool:
        """Whether the reader, or whatever gives the samples, pads the last batch."""
        return self._epochs is not None and self._epochs.schedule.plan.pad_last_batch

    @property
    def _counter(self) -> int:
        """Samples that were taken in this epoch, with those that came with the last one.

        Several pipelines are counted together with `size`, and once with `reader_name`. A program
        that counts by itself may set it to as many batches more or less.
        """
        if self._epochs is None:
            return self._taken * self.batch_size
        return self._epochs.schedule.counted(self._epoch, self._taken)

    @_counter.setter
    def _counter(self, value: int) -> None:
        step = self.batch_size if self._epochs is None else self._epochs.schedule.batch_size
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

    def _remove_padded(self) -> tuple[NDArray[numpy.bool_] | bool, NDArray[numpy.int64] | int]:
        """Return which parts of the batch taken last are partial, and how many samples remain."""
        if self._epochs is None or self._last_batch_policy is not LastBatchPolicy.PARTIAL:
            return False, -1
        import numpy

        valid = self._epochs.num_valid(self._epoch, self._taken - 1)
        left = numpy.array(valid, dtype=numpy.int64)
        return left < self.batch_size, left
