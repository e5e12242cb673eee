"""What an executor is told to run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dali_core._runtime.executor import HostPool


@dataclass(frozen=True)
class ExecutorPlan:
    """Stages in their order, and how to run them.

    Attributes
    ----------
    stages : sequence
        For each stage its instructions, chains and regions, or None for a step in Python or on a
        device. An instruction is a tuple ``(operator, node, inputs, arguments, outputs, releases)``
        of a `NativeOperator`, the number of the node, and lists of value ids; in a branch also
        pairs of a value id and what that must say, whether these samples are the operator's batch,
        and whether it joins branches. A chain is the range of the instructions that run as one,
        and a region that of a decoder and those whose part of the image it makes.
    outputs : sequence of int
        Ids of the values that the plan gives out.
    num_values, num_readers, num_threads : int
        Numbers of values, of readers and of worker threads.
    set_affinity : bool
        Whether to bind each thread to a processor.
    num_io_threads : int
        Number of threads that run operators which read ahead.
    replaces_failed : bool
        Whether other samples take the place of those that fail; otherwise these end their batch.
    joined_outputs : sequence of sequence of int
        For each output the ids of other values that become it, each for other samples.
    outputs_on_device : sequence of int
        Which outputs are on a device.
    uploaded : sequence of int
        Ids of the values that go to a device.
    sources : collection of int
        Numbers of the stages that are steps in Python which take data from outside.
    caller_steps : collection of int
        Numbers of the stages that are steps for the thread that submits and awaits batches.
    upload_pool : HostPool, optional
        Where their memory comes from; by default it is ordinary memory.
    """

    stages: Sequence[tuple[Any, ...] | None]
    outputs: Sequence[int]
    num_values: int
    num_readers: int
    num_threads: int
    set_affinity: bool = False
    num_io_threads: int = 0
    replaces_failed: bool = False
    joined_outputs: Sequence[Sequence[int]] = ()
    outputs_on_device: Sequence[int] = ()
    uploaded: Sequence[int] = ()
    sources: Collection[int] = ()
    caller_steps: Collection[int] = ()
    upload_pool: HostPool | None = None
