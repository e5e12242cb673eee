"""Batches of one size."""

from __future__ import annotations

from dataclasses import dataclass

from dali_core.batching.epoch_plan import EpochPlan, Run, ceil_div
from dali_core.batching.plan import OF_SOURCES, Batching, BatchPlan

MAX_SAMPLES = 2**30 - 1
"""In a batch."""


@dataclass(frozen=True)
class Fixed(Batching):
    """Batches of `size` samples."""

    size: int

    @property
    def largest(self) -> int:
        """Samples in every batch."""
        return self.size

    def plan(self, epochs: EpochPlan = OF_SOURCES) -> FixedPlan:
        """Return the plan of a shard's batches; by default of samples that sources give."""
        return FixedPlan(self, epochs)

    def state(self) -> dict[str, int]:
        """Return the entry of a saved state that has the size."""
        return {"batch_size": self.size}

    def joined(self, count: int) -> Fixed:
        """Return the batches that `count` batches make together."""
        return Fixed(count * self.size)


class FixedPlan(BatchPlan):
    """Batches of one size, which straddle epochs unless these are padded to whole batches.

    Every shard needs as many batches for a padded epoch as the largest one.

    Parameters
    ----------
    batching : Fixed
        The size.
    epochs : EpochPlan
        The samples of the shard.
    origin : int
        Position of the batch with number 0, which may be negative.
    """

    def __init__(self, batching: Fixed, epochs: EpochPlan, origin: int = 0) -> None:
        super().__init__(batching, epochs)
        self._size = batching.size
        self._origin = origin

    def starting(self, batch: int, position: int) -> FixedPlan:
        """Return the same plan with the batch that begins at `position` numbered `batch`."""
        return FixedPlan(Fixed(self._size), self.epochs, position - batch * self._size)

    def size(self, batch: int) -> int:
        """Return the number of samples in a batch, with padding."""
        return self._size

    def position(self, batch: int) -> int:
        """Return the position at which a batch begins."""
        return self._origin + batch * self._size

    def find(self, position: int) -> tuple[int, int]:
        """Return the batch of a position, and how many of its samples come before."""
        return divmod(position - self._origin, self._size)

    def num_begun(self, count: int) -> int:
        """Return the number of batches that the first `count` samples fill or begin."""
        return ceil_div(count, self._size)

    def num_filled(self, count: int) -> int:
        """Return the number of batches that the first `count` samples fill."""
        return count // self._size

    def epoch_start(self, epoch: int) -> int:
        """Return the position of the first sample of an epoch."""
        data = self.epochs
        if data.pad_last_batch:
            return epoch * self._padded_epoch
        if data.stick_to_shard:
            return epoch * data.shard_size(0)
        if data.interleaved:
            return ceil_div(epoch * data.num_samples - data.shard_id, data.num_shards)
        # Shard starts past the last shard continue into the next round over the shards.
        return data.shard_start(data.shard_id + epoch) - data.shard_start(data.shard_id)

    def locate(self, position: int) -> tuple[int, int]:
        """Return the epoch of a position, and how many samples of it come before."""
        data = self.epochs
        if data.pad_last_batch:
            return divmod(position, self._padded_epoch)
        if data.stick_to_shard:
            return divmod(position, data.shard_size(0))
        if data.interleaved:
            epoch = (position * data.num_shards + data.shard_id) // data.num_samples
        else:
            # The last epoch that starts at or before the position, from floor(k*N/S) <= x.
            last = position + data.shard_start(data.shard_id) + 1
            epoch = ceil_div(last * data.num_shards, data.num_samples) - 1 - data.shard_id
        return epoch, position - self.epoch_start(epoch)

    def samples(self, start: int, count: int) -> list[Run]:
        """List the samples at positions ``start .. start + count - 1``, in their order."""
        data = self.epochs
        runs: list[Run] = []
        while count > 0:
            epoch, offset = self.locate(start)
            positions = data.shard_range(epoch)
            if offset < len(positions):
                length = min(count, len(positions) - offset)
                runs.append(Run(epoch, positions[offset], length, positions.step))
            else:
                length = min(count, self.epoch_start(epoch + 1) - start)
                last = data.num_samples - 1 if data.interleaved else positions[-1]
                runs.append(Run(epoch, last, length, 0))
            start += length
            count -= length
        return runs

    def describe(self, num_epochs: int | None = None) -> str:
        """Return a table of the samples and batches of each epoch, below a line about all."""
        data, size = self.epochs, self._size
        if num_epochs is None:
            num_epochs = 1 if data.stick_to_shard else min(data.num_shards, 8)
        kind = "interleaved shards" if data.interleaved else "shards"
        lines = [
            f"{data.num_samples} samples in {data.num_shards} {kind} of {data.smallest_shard} to "
            f"{data.largest_shard}, batches of {size}"
        ]
        for epoch in range(num_epochs):
            positions = data.shard_range(epoch)
            every = f" step {positions.step}" if positions.step != 1 else ""
            start, stop = self.epoch_start(epoch), self.epoch_start(epoch + 1)
            lines.append(
                f"epoch {epoch}: shard {data.shard(epoch)}, positions {positions[0]} to "
                f"{positions[-1]}{every} ({len(positions)} samples), batches "
                f"{start // size} to {(stop - 1) // size}, "
                f"{stop - start - len(positions)} padding samples"
            )
        return "\n".join(lines)

    @property
    def _padded_epoch(self) -> int:
        """Samples of a padded epoch in every shard."""
        size = self._size
        return ceil_div(self.epochs.largest_shard, size) * size
