"""The state of a pipeline: all that its further batches depend on, besides the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dali_core.checkpoint.position import START, Position


@dataclass(frozen=True)
class State:
    """The state of a pipeline after the batches that it has returned.

    Attributes
    ----------
    position : Position
        Where the next batch begins.
    epoch : int
        How often the pipeline was reset.
    epoch_start : Position
        Where it was reset last.
    sources : mapping of str to object
        States of the sources after the last batch that was returned, by the names of their
        operators. Those without a state of their own are left out.
    epoch_sources : mapping of str to object
        The same, from when the pipeline was reset last.
    bad_samples : mapping
        The record of bad samples.
    seed : int
        Seed of the pipeline.
    has_ended : bool
        Whether the consumer has met the end of the data.
    is_started : bool
        Whether there was work in flight, which may have met the end of the data. Readers have none.
    setups : int
        Calls of `iter_setup` for the batches that were returned.
    parameters : mapping
        Changes of parameters, as `Parameters.state` describes them.
    """

    position: Position = START
    epoch: int = 0
    epoch_start: Position = START
    sources: Mapping[str, Any] = field(default_factory=dict)
    epoch_sources: Mapping[str, Any] = field(default_factory=dict)
    bad_samples: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    has_ended: bool = False
    is_started: bool = False
    setups: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
