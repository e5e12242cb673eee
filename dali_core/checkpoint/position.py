"""Positions of pipelines in their endless streams of batches."""

from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    """A position between two batches of a pipeline.

    Attributes
    ----------
    batch : int
        Number of the next batch, from the beginning of the first epoch.
    sample : int
        Samples before it as its plan counts them: readers fill all batches.
    given : int
        Samples before it that sources have given.
    """

    batch: int = 0
    sample: int = 0
    given: int = 0


START = Position()
