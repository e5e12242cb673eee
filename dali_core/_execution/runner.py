"""Drives a plan: submits batches, runs the steps in Python, and turns failures into exceptions."""

from __future__ import annotations

import os
import threading
import traceback
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dali_core._execution.bad_samples import BadSampleLog, GivenBatch, name_others
from dali_core._graph.node import OperatorNode
from dali_core._graph.planner import ExecutionPlan, PlannedNode
from dali_core._graph.reader import Reader
from dali_core._runtime.executor import Batch, Executor, NativeOperator, StepTask
from dali_core._runtime.random import mix_seed
from dali_core._runtime.step import SampleFailed, Step, StepContext
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BadSample,
    BadSampleLimitError,
    GraphError,
    PipelineStateError,
    SampleError,
)
from dali_core.types import DALIDataType

if TYPE_CHECKING:
    from dali_core._runtime.tensors import TensorListCPU

# Python looks for signals, such as Ctrl-C, between two waits.
_WAIT_SECONDS = 0.1
# A step in Python may hang in the user's code; nothing can stop it, so nobody waits for ever.
_STEP_GRACE_SECONDS = 10.0
_CLOSE_GRACE_SECONDS = 2.0

NUM_IO_THREADS = 8
"""Threads that read files ahead of their use."""


@dataclass(frozen=True)
class RunnerOptions:
    """How a plan is to be run.

    Attributes
    ----------
    batch_size, num_threads : int
        Samples in a batch, and native threads.
    seed : int
        Unsigned 64-bit seed of all random operators.
    set_affinity : bool
        Whether to bind each thread to a processor.
    asynchronous : bool
        Whether steps run in a thread of their own, or in the thread that waits for the batch.
    replaces_failed : bool
        Whether other samples take the place of bad ones, which otherwise end their batch.
    max_bad_samples : int, float or None
        With `replaces_failed`: how many samples of an epoch, or which share, may be bad.
    num_io_threads : int
        Number of threads that read files before they are needed.
    """

    batch_size: int
    num_threads: int
    seed: int
    set_affinity: bool = False
    asynchronous: bool = True
    replaces_failed: bool = False
    max_bad_samples: float | None = None
    num_io_threads: int = field(default_factory=lambda: NUM_IO_THREADS)


class Runner:
    """Runs the batches of one pipeline.

    Parameters
    ----------
    plan : ExecutionPlan
        What to run.
    readers : dict of OperatorNode to Reader
        The readers in the plan, the one that numbers the samples first.
    options : RunnerOptions
        How to run it.

    Attributes
    ----------
    close : callable
        Stops everything and ends all threads; what was given out stays valid. It does not refer to
        the runner, so whoever holds it keeps no function of the user alive.
    """

    def __init__(
        self, plan: ExecutionPlan, readers: dict[OperatorNode, Reader], options: RunnerOptions
    ) -> None:
        self._options = options
        self._readers = list(readers.values())
        self._nodes = [entry.node for stage in plan.stages for entry in stage.nodes]
        number = {node: i for i, node in enumerate(self._nodes)}
        reader_number = {node: i for i, node in enumerate(readers)}
        self._steps: dict[int, tuple[PlannedNode, Step]] = {}
        stages: list[tuple[Any, ...] | None] = []
        for index, stage in enumerate(plan.stages):
            if stage.in_python:
                (entry,) = stage.nodes
                self._steps[index] = (entry, _make_step(entry.node))
                stages.append(None)
                continue
            instructions = [
                (
                    _make_operator(entry.node, options.seed, readers, reader_number),
                    number[entry.node],
                    entry.inputs,
                    entry.arguments,
                    entry.outputs,
                    entry.releases,
                )
                for entry in stage.nodes
            ]
            stages.append((instructions, stage.chains))
        self._process = os.getpid()
        self._iteration = 0
        self._epoch = 0
        self._epoch_start = 0
        self._next_sample = 0
        self._first_samples: dict[int, int] = {}
        self._ended: set[int] = set()
        self._causes: dict[int, BaseException] = {}
        self._log = BadSampleLog(options.max_bad_samples if options.replaces_failed else None)
        self._executor = Executor(
            stages,
            plan.outputs,
            plan.num_values,
            len(self._readers),
            options.num_threads,
            options.set_affinity,
            options.num_io_threads,
            options.replaces_failed,
        )
        self._step_thread: threading.Thread | None = None
        if self._steps and options.asynchronous:
            self._step_thread = threading.Thread(
                target=_run_steps,
                args=(self._executor, weakref.ref(self)),
                name="dali_core steps",
                daemon=True,
            )
        # Called when the runner is garbage or the interpreter ends, whichever comes first.
        self.close = weakref.finalize(self, _close, self._executor, self._step_thread)
        if self._step_thread is not None:
            self._step_thread.start()

    @property
    def steps(self) -> list[tuple[OperatorNode, Step]]:
        """The steps in Python and their nodes."""
        return [(entry.node, step) for entry, step in self._steps.values()]

    @property
    def executor(self) -> Executor:
        """The native threads."""
        return self._executor

    @property
    def bad_samples(self) -> list[BadSample]:
        """The bad samples of all batches that were given out."""
        return self._log.samples

    @property
    def iteration(self) -> int:
        """Number of the batch that is submitted next."""
        return self._iteration

    def submit(self) -> Batch:
        """Start the next batch."""
        self._check_usable()
        size = self._options.batch_size
        first = self._iteration * size
        runs = [reader.plan.runs(first, size, size) for reader in self._readers]
        orders = [reader.orders(read) for reader, read in zip(self._readers, runs, strict=True)]
        shards = None
        if self._options.replaces_failed:
            shards = [reader.shards(read) for reader, read in zip(self._readers, runs, strict=True)]
        batch = self._executor.submit(self._iteration, size, runs, orders, shards)
        self._iteration += 1
        return batch

    def wait(self, batch: Batch) -> bool:
        """Wait until a batch is done, and tell whether the sources had data for it."""
        self._check_usable()
        while not self._is_done(batch):
            self._check_usable()
            if batch.cancelled:
                raise PipelineStateError(
                    "Pipeline: must not be reset while a batch is waited for (it was, by another "
                    "thread). Reset it in the thread that runs it."
                )
        return batch.iteration not in self._ended

    def outputs(self, batch: Batch) -> tuple[TensorListCPU, ...]:
        """Give the outputs of a batch that is done.

        Raises
        ------
        SampleError
            If an operator failed on a sample, and no other may take its place.
        BadSampleLimitError
            If with this batch too many samples are bad.
        """
        self._first_samples.pop(batch.iteration, None)
        failures = batch.failures()
        cause = self._causes.pop(batch.iteration, None)
        if cause is not None and not isinstance(cause, Exception):
            raise cause
        error = self._error(batch, failures) if failures else None
        try:
            self._take_note(batch, failures)
        except BadSampleLimitError as limit:
            raise limit from error or cause
        if error is not None:
            raise error from cause
        return self._executor.outputs(batch)

    def _take_note(self, batch: Batch, failures: list[tuple[int, int, str, str]]) -> None:
        if not failures and not self._options.replaces_failed:
            return
        bad = sorted(failure for failure in failures + batch.replaced() if failure[0] >= 0)
        epochs = [self._epoch] * batch.size
        if self._readers:
            epochs = [batch.key(sample)[0] for sample in range(batch.size)]
        keys = [batch.key(failure[0]) for failure in bad]
        self._log.add(GivenBatch(epochs, keys, self._bad_samples(batch, bad)))

    def reset(self, iteration: int) -> None:
        """Get all steps ready for the next epoch, which begins with batch number `iteration`."""
        self.rewind(iteration)
        self._epoch += 1
        self._epoch_start = iteration
        for _, step in self.steps:
            step.reset()

    def rewind(self, iteration: int) -> None:
        """Drop all batches on their way, and go on with batch number `iteration`.

        Raises
        ------
        PipelineStateError
            If a function of the user does not return.
        """
        self._check_usable()
        self._executor.cancel()
        if not self._executor.wait_for_steps(_STEP_GRACE_SECONDS):
            raise PipelineStateError(
                "Pipeline.reset: Python functions of the pipeline must return within "
                f"{_STEP_GRACE_SECONDS:.0f} seconds (one is still running). Let it end first."
            )
        # How far sources ran ahead must not show in the numbers of the samples to come.
        self._next_sample = self._first_samples.get(iteration, self._next_sample)
        self._first_samples.clear()
        self._ended.clear()
        self._causes.clear()
        self._iteration = iteration

    def run_step(self, task: StepTask) -> None:
        """Run one step in Python; whatever it raises is kept for whoever waits for the batch."""
        entry, step = self._steps[task.stage]
        iteration = task.batch.iteration
        node = self._nodes.index(entry.node)
        inputs = [*entry.inputs, *entry.arguments]
        try:
            self._run_step(task, entry, step)
            task.finish()
        except StopIteration:
            self._ended.add(iteration)
            task.fail(-1, node, "there is no more data")
        except SampleFailed as failed:
            cause = failed.__cause__ or failed
            self._causes[iteration] = cause
            task.fail(failed.sample, node, _describe(cause), inputs)
        except BaseException as error:
            if os.getpid() != self._process:
                raise  # the function forked, and this is the child
            # Ctrl-C is for whoever is waiting now, all else for whoever waits for the batch.
            is_interrupt = self._is_inline and not isinstance(error, Exception)
            if not is_interrupt:
                self._causes[iteration] = error
            task.fail(-1, node, _describe(error))
            if is_interrupt:
                raise

    def _run_step(self, task: StepTask, entry: PlannedNode, step: Step) -> None:
        node = entry.node
        is_source = not node.dependencies
        if is_source and self._ended:
            # Batches that were started already must not eat into the next epoch.
            raise StopIteration
        iteration = task.batch.iteration - self._epoch_start
        first_sample = iteration * self._options.batch_size
        batch = task.batch
        context = StepContext(
            iteration,
            self._epoch,
            first_sample,
            batch.size,
            lambda: bool(batch.cancelled),
            {} if self._options.replaces_failed else None,
        )
        inputs = [*entry.inputs, *entry.arguments]
        try:
            outputs = step.run(context, task.inputs(inputs))
        except SampleFailed as failed:
            self._note_failed(task, entry, context, besides=failed.sample)
            raise
        except StopIteration:
            for stage, (_, other) in self._steps.items():
                if stage > task.stage:
                    other.skip(context)
            raise
        if is_source and outputs:
            self._settle_size(task, node, len(outputs[0].samples))
        for value, output in zip(entry.outputs, outputs, strict=True):
            task.set_output(value, output.samples, output.layout)
        self._note_failed(task, entry, context)
        task.release(entry.releases)

    def _note_failed(
        self, task: StepTask, entry: PlannedNode, context: StepContext, besides: int = -1
    ) -> None:
        node = self._nodes.index(entry.node)
        for sample, error in (context.failed or {}).items():
            if sample != besides:
                inputs = [*entry.inputs, *entry.arguments]
                task.fail(sample, node, _describe(error), inputs, is_final=False)
        if context.failed is not None:
            context.failed.clear()  # exceptions refer to frames, and these to samples and to this

    def _settle_size(self, task: StepTask, node: OperatorNode, size: int) -> None:
        """The first source decides how large the batch is, and numbers its samples."""
        first_source = min(stage for stage, (entry, _) in self._steps.items())
        if task.stage != first_source:
            if size != task.batch.size:
                raise ValueError(
                    "all sources must return equally many samples for a batch "
                    f"(got {size}, and {task.batch.size} from the source before)."
                )
            return
        if size > self._options.batch_size:
            raise ValueError(
                f"a batch must have at most batch_size = {self._options.batch_size} samples "
                f"(got {size}). Return fewer, or raise batch_size."
            )
        task.set_size(size, None if self._readers else self._next_sample)
        self._first_samples[task.batch.iteration] = self._next_sample
        self._next_sample += size

    def _is_done(self, batch: Batch) -> bool:
        if self._steps and not self._options.asynchronous:
            task = self._executor.next_step(_WAIT_SECONDS, until=batch)
            if task is not None:
                self.run_step(task)
        return bool(self._executor.wait(batch, 0.0 if self._is_inline else _WAIT_SECONDS))

    @property
    def _is_inline(self) -> bool:
        return bool(self._steps) and not self._options.asynchronous

    def _error(self, batch: Batch, failures: list[tuple[int, int, str, str]]) -> SampleError:
        sample, node_number, message, source = failures[0]
        node = self._nodes[node_number] if node_number >= 0 else None
        epoch = self._epoch
        if self._readers and batch.size:
            epoch, _ = batch.key(max(sample, 0))
        bad = self._bad_samples(batch, [failure for failure in failures if failure[0] >= 0])
        message += name_others(bad)
        return SampleError(
            message,
            operator=node.spec.name if node else "",
            location=node.location if node else "",
            epoch=epoch,
            iteration=batch.iteration,
            sample=sample if sample >= 0 else None,
            source=source or None,
            failures=bad,
        )

    def _bad_samples(
        self, batch: Batch, failures: list[tuple[int, int, str, str]]
    ) -> list[BadSample]:
        return [
            BadSample(
                operator=self._nodes[node].spec.name if node >= 0 else "",
                location=self._nodes[node].location if node >= 0 else "",
                epoch=batch.key(sample)[0] if self._readers else self._epoch,
                iteration=batch.iteration,
                sample=sample,
                source=source or None,
                message=message,
            )
            for sample, node, message, source in failures
        ]

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            raise PipelineStateError(
                f"Pipeline: must be used in the process that built it (built in process "
                f"{self._process}, used in {os.getpid()}). Threads do not survive a fork: build it "
                "after forking."
            )
        if self._executor.closed:
            raise PipelineStateError("Pipeline: must be open (it was closed). Build a new one.")


def _run_steps(executor: Executor, runner: weakref.ref[Runner]) -> None:
    """Body of the thread that runs steps. It keeps no pipeline alive while it waits."""
    while not executor.closed:
        task = executor.next_step(1.0)
        if task is None:
            continue
        owner = runner()
        if owner is None:
            break
        owner.run_step(task)
        del task, owner
    task = None
    # What the last step held has come back after the executor was closed.
    executor.trim()


def _close(executor: Executor, step_thread: threading.Thread | None) -> None:
    executor.close()
    if step_thread is None or step_thread is threading.current_thread():
        return
    if step_thread.is_alive():  # it may not have been started
        step_thread.join(_CLOSE_GRACE_SECONDS)


def _make_step(node: OperatorNode) -> Step:
    make = node.spec.python_step
    assert make is not None
    try:
        step: Step = make(node.arguments)
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{node.where}: {error}") from error
    return step


def _make_operator(
    node: OperatorNode,
    seed: int,
    readers: dict[OperatorNode, Reader],
    reader_number: dict[OperatorNode, int],
) -> NativeOperator:
    values = dict(node.arguments)
    if node.spec.native_arguments is not None:
        values |= node.spec.native_arguments()
    if node in readers:
        values |= readers[node].source.native_arguments()
    own_seed = node.arguments.get("seed", -1)
    if own_seed is not None and own_seed >= 0:
        operator_seed = mix_seed(own_seed, 0)
    else:
        operator_seed = mix_seed(seed, 1 + max(node.random_index, 0))
    try:
        return NativeOperator(
            node.spec.registered_name,
            {name: _native_value(value) for name, value in values.items()},
            list(node.tensor_arguments),
            operator_seed,
            reader_number.get(node, -1),
            len(node.inputs),
            len(node.outputs),
        )
    except (ValueError, IndexError, OverflowError) as error:
        raise ArgumentValueError(f"{node.where}: {error}") from error
    except RuntimeError as error:
        raise GraphError(f"{node.where}: {error}") from error


def _native_value(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_native_value(item) for item in value]
    return (
        int(value) if isinstance(value, (bool, DALIDataType)) or hasattr(value, "value") else value
    )


def _describe(error: BaseException) -> str:
    # Copes with exceptions whose __str__ raises, which is the user's code as well.
    return "".join(traceback.format_exception_only(error)).strip()
