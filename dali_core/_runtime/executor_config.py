"""The configuration of executors, and the contributions of readers to a batch."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from dali_core.batching.epoch_plan import Run

if TYPE_CHECKING:
    from dali_core._runtime.random import ListedOrder


@dataclass(frozen=True)
class Instruction:
    """An operator of a program, and the values that it reads and writes, by their ids.

    Attributes
    ----------
    operator : NativeOperator
        The operator. The executor, which reads this configuration, checks the type.
    node : int
        Number of the node, for failures.
    inputs, arguments, outputs : sequence of int
        Values that it reads, as inputs or as arguments that come with each sample, and writes.
    releases : sequence of int
        Values with no later reader.
    guards : sequence of (int, bool)
        Values and what each must say so that the operator runs for a sample.
    reads_group : bool
        Whether the samples for which it runs are its batch.
    joins : bool
        Whether its output is one of its inputs, for each sample another one.
    joint : sequence of int
        Instructions before it, and itself, that make its output as one where they can.
    """

    operator: object
    node: int
    inputs: Sequence[int]
    arguments: Sequence[int]
    outputs: Sequence[int]
    releases: Sequence[int] = ()
    guards: Sequence[tuple[int, bool]] = ()
    reads_group: bool = False
    joins: bool = False
    joint: Sequence[int] = ()


@dataclass(frozen=True)
class SampleProgram:
    """Instructions that native threads run one after the other for each sample.

    Attributes
    ----------
    instructions : sequence of Instruction
        In their order.
    chains : sequence of range
        Those that run as one.
    regions : sequence of range
        A decoder, and those whose part of the image it makes.
    """

    instructions: Sequence[Instruction]
    chains: Sequence[range] = ()
    regions: Sequence[range] = ()


@dataclass(frozen=True)
class ArgumentLimits:
    """What the values of an argument must be that come with each sample.

    Attributes
    ----------
    slot : int
        Place among the arguments of the instruction.
    name : str
        Name of the argument.
    least, most : float
        Ends of the range of its numbers.
    above : bool
        Whether `least` itself is refused.
    rule : str
        The range in words.
    least_length, most_length : float
        How many numbers there must be, for each frame of arguments that differ by frame.
    length_rule : str
        The same in words.
    """

    slot: int
    name: str
    least: float
    most: float
    above: bool
    rule: str
    least_length: float
    most_length: float
    length_rule: str


class Permutation(NamedTuple):
    """A random order of some positions of an epoch.

    Attributes
    ----------
    first, size : int
        The positions that are permuted.
    seed : int
        Seed of the order; the epoch is mixed into it.
    """

    first: int
    size: int
    seed: int


@dataclass(frozen=True)
class ReaderRun:
    """Consecutive samples that a reader contributes to a batch, and what they are read from.

    Attributes
    ----------
    run : Run
        Their epoch and positions in its order.
    order : Permutation or ListedOrder, optional
        How positions become samples; None for the natural order.
    shard : range, optional
        Positions of the shard, from which samples are taken in place of bad ones.
    is_absent : bool
        Whether the reader gives none of these samples, since other data sets of a mixture do.
    """

    run: Run
    order: Permutation | ListedOrder | None = None
    shard: range | None = None
    is_absent: bool = False


@dataclass(frozen=True)
class ExecutorConfig:
    """Stages in their order, and how to run them.

    Attributes
    ----------
    stages : sequence of SampleProgram or None
        None for a step in Python, or on a device.
    outputs : sequence of int
        Ids of the values that batches return.
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
    step_nodes : dict of int to int
        For each stage that is a step, the number of its node.
    num_nodes : int
        How many nodes there are in all stages: numbers of chains follow theirs.
    caller_steps : collection of int
        Numbers of the stages that are steps for the thread that submits and awaits batches.
    upload_pool : HostPool, optional
        Where their memory comes from; by default it is ordinary memory.
    num_slots : int
        For an executor without stages of its own: how many counters of times the prepared plans
        need that it will run.
    """

    stages: Sequence[SampleProgram | None]
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
    step_nodes: Mapping[int, int] = field(default_factory=dict)
    num_nodes: int = 0
    caller_steps: Collection[int] = ()
    upload_pool: object = None
    num_slots: int = 0
