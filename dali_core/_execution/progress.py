"""Checkpointable position of a pipeline: the integers that its state consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A place between two batches of a pipeline's endless stream.

    Attributes
    ----------
    iteration : int
        Batches before it.
    position : int
        Samples before it if all batches are full, as those of readers are.
    sample : int
        Samples before it, as many as sources have given.
    """

    iteration: int = 0
    position: int = 0
    sample: int = 0


BEGINNING = Place()


@dataclass(frozen=True)
class Progress:
    """What a pipeline has returned.

    Attributes
    ----------
    place : Place
        Where the next batch comes from.
    epoch : int
        How often the pipeline was reset.
    epoch_start : Place
        Where it was reset last.
    sources : mapping of str to object
        What the sources handed over after the last batch that was returned, by the names of their
        operators. Those without a state of their own are left out.
    epoch_sources : mapping of str to object
        The same, from when the pipeline was reset last.
    bad_samples : mapping
        The record of bad samples.
    """

    place: Place = BEGINNING
    epoch: int = 0
    epoch_start: Place = BEGINNING
    sources: Mapping[str, Any] = field(default_factory=dict)
    epoch_sources: Mapping[str, Any] = field(default_factory=dict)
    bad_samples: Mapping[str, Any] = field(default_factory=dict)


class BatchNumbers:
    """Turns numbers of batches into numbers of samples.

    Parameters
    ----------
    batch_size : int
        Samples in a full batch.
    """

    def __init__(self, batch_size: int) -> None:
        self.batch_size = batch_size
        self.epoch = 0
        self.epoch_start = BEGINNING
        self._origin = BEGINNING

    def position(self, iteration: int) -> int:
        """Return how many samples come before a batch if all are full."""
        return self._origin.position + (iteration - self._origin.iteration) * self.batch_size

    def in_epoch(self, iteration: int) -> tuple[int, int]:
        """Return how many batches and samples of the epoch come before a batch."""
        start = self.epoch_start
        return iteration - start.iteration, self.position(iteration) - start.position

    def begin_epoch(self, iteration: int, sample: int) -> None:
        """Begin the next epoch with batch `iteration`, before which there were `sample` samples."""
        self.epoch += 1
        self.epoch_start = Place(iteration, self.position(iteration), sample)

    def restore(self, progress: Progress) -> None:
        """Resume from a place, which may have been reached with another batch size."""
        self.epoch = progress.epoch
        self.epoch_start = progress.epoch_start
        self._origin = progress.place
