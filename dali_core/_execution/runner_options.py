"""Options for running a plan."""

from __future__ import annotations

from dataclasses import dataclass, field

from dali_core.batching.plan import Batching

NUM_IO_THREADS = 8
"""Threads that read files ahead of their use."""


@dataclass(frozen=True)
class RunnerOptions:
    """Options for running a plan.

    Attributes
    ----------
    batching : Batching
        The rule by which samples are divided into batches.
    num_threads : int
        Number of native threads.
    seed : int
        Unsigned 64-bit seed of all random operators.
    set_affinity : bool
        Whether to bind each thread to a processor.
    asynchronous : bool
        Whether functions run in a thread of their own, or in the thread that waits for the batch.
        Sources run in the thread that submits batches in any case.
    replaces_failed : bool
        Whether other samples take the place of bad ones, which otherwise end their batch.
    max_bad_samples : int, float or None
        With `replaces_failed`: how many samples of an epoch, or which share, may be bad.
    num_io_threads : int
        Number of threads that read files before they are needed.
    device_id : int or None
        The device, if there is one.
    stream_priority : int
        Priority of the stream there; lower numbers go first.
    depth : int
        How many batches may be in flight.
    """

    batching: Batching
    num_threads: int
    seed: int
    set_affinity: bool = False
    asynchronous: bool = True
    replaces_failed: bool = False
    max_bad_samples: float | None = None
    num_io_threads: int = field(default_factory=lambda: NUM_IO_THREADS)
    device_id: int | None = None
    stream_priority: int = 0
    depth: int = 2
