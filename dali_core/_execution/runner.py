"""Drives a plan: submits batches, waits for them, and turns failures into exceptions."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dali_core._execution.bad_samples import BadSampleLog, GivenBatch, LogChange
from dali_core._execution.batch_stream import BatchStream
from dali_core._execution.device_stages import (
    DeviceStages,
    open_queue,
    stages_on_device,
    uploaded_values,
    values_on_host,
)
from dali_core._execution.failures import Failure, FailureReports, with_note
from dali_core._execution.instantiation import make_operator, open_storages
from dali_core._execution.outcome import Outcome
from dali_core._execution.parameters import Parameters
from dali_core._execution.runner_options import RunnerOptions
from dali_core._execution.sources import is_source, sources_to_call, steps_of
from dali_core._execution.step_thread import end_threads, run_steps
from dali_core._execution.steps import Steps
from dali_core._graph.node import OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan, PlannedStage, StageKind
from dali_core._readers.order import IndexSampler
from dali_core._runtime.executor import Batch, Executor
from dali_core._runtime.executor_config import ExecutorConfig, Instruction, SampleProgram
from dali_core._runtime.finalizer import Finalizer
from dali_core._runtime.step import SourceFailed, Step
from dali_core._runtime.step_task import next_step
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.thread_start import start_thread
from dali_core._storage import most_in_flight, stopped, storages_of
from dali_core.checkpoint.state import State
from dali_core.errors import BadSample, BadSampleLimitError, OutOfMemoryError, PipelineStateError

if TYPE_CHECKING:
    from dali_core._cuda.stream import Stream
    from dali_core._runtime.tensor_list import TensorListCPU
    from dali_core._runtime.tensor_list_gpu import TensorListGPU

# Python looks for signals, such as Ctrl-C, between two waits.
_WAIT_SECONDS = 0.1
# A step in Python may hang in the user's code; nothing can stop it, so waits are bounded.
_STEP_GRACE_SECONDS = 10.0


class Runner:
    """Runs the batches of one pipeline.

    Parameters
    ----------
    plan : ExecutionPlan
        What to run.
    readers : dict of OperatorNode to IndexSampler
        The readers in the plan, the one that numbers the samples first.
    options : RunnerOptions
        How to run it.
    steps : dict of OperatorNode to Step, optional
        Steps of another runner, which is closed, to continue with; by default new ones are made.
    parameters : Parameters, optional
        Values of the parameters in the plan; by default they do not change.

    Attributes
    ----------
    device : DeviceStages or None
        What runs the stages on a device, if there are any.
    log : BadSampleLog
        The record of bad samples.
    batches : BatchStream
        The samples of all batches.
    in_flight : deque of Batch
        What was submitted, the oldest first, until its consumer deletes it from here.
    owes_sources : bool
        Whether `call_sources` has not ended for the last batch that was submitted.
    causes : dict of int to BaseException
        What steps have raised for batches that were not taken, by their numbers.
    close : callable
        Ends all threads. What was returned stays valid, and no function of the user kept alive.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        readers: dict[OperatorNode, IndexSampler],
        options: RunnerOptions,
        steps: Mapping[OperatorNode, Step] | None = None,
        parameters: Parameters | None = None,
    ) -> None:
        self._options = options
        self._given = {entry.node.name: entry.outputs[0] for entry in plan.parameters}
        self._parameters = parameters or Parameters(entry.node for entry in plan.parameters)
        nodes = [entry.node for stage in plan.stages for entry in stage.nodes]
        number = {node: i for i, node in enumerate(nodes)}
        reader_number = {node: i for i, node in enumerate(readers)}
        on_device, on_host = stages_on_device(plan), values_on_host(plan)
        used = plan.used_values
        in_python = steps_of(plan, steps or {}, readers)
        sources = {index for index, (entry, _) in in_python.items() if is_source(entry)}
        called = sources_to_call({index: in_python[index][1] for index in sources})
        for entry, step in in_python.values():
            step.use_threads(options.num_threads)
            step.accept_on_device({n for n, v in enumerate(entry.outputs) if v not in on_host})
            step.leave_out({n for n, v in enumerate(entry.outputs) if v not in used})
        opened = open_storages(nodes, readers)
        self._storages = [*storages_of(one.source for one in readers.values()), *opened.values()]
        stages: list[SampleProgram | None] = []
        for stage in plan.stages:
            if stage.kind is not StageKind.SAMPLES:
                stages.append(None)
                continue
            instructions = [
                Instruction(
                    make_operator(entry.node, options.seed, readers, reader_number, opened),
                    number[entry.node],
                    entry.inputs,
                    entry.arguments,
                    entry.outputs,
                    entry.releases,
                    entry.guards,
                    entry.reads_group,
                    entry.node.spec.joins,
                    stage.positions(entry.joint),
                )
                for entry in stage.nodes
            ]
            stages.append(SampleProgram(instructions, stage.chains, stage.regions))
        self._process = os.getpid()
        self.in_flight: deque[Batch] = deque()
        self.batches = BatchStream(options.batching, readers)
        self.device = self._open_device(on_device, number)
        if self.device is not None:
            for _, step in in_python.values():
                step.use_device(self.device.stream, options.num_threads)
        self._steps = Steps(
            in_python,
            number,
            self.batches,
            numbers_samples=not readers,
            replaces_failed=options.replaces_failed,
            by_caller=called if options.asynchronous else None,
            device=self.device,
        )
        self._epoch_sources: dict[str, Any] = {}
        self._reports = FailureReports(nodes, self.batches, bool(readers))
        self.log = BadSampleLog(options.max_bad_samples if options.replaces_failed else None)
        config = ExecutorConfig(
            stages=stages,
            outputs=plan.outputs,
            num_values=plan.num_values,
            num_readers=len(readers),
            num_threads=options.num_threads,
            set_affinity=options.set_affinity,
            num_io_threads=max(options.num_io_threads, most_in_flight(self._storages)),
            replaces_failed=options.replaces_failed,
            joined_outputs=plan.joined_outputs,
            outputs_on_device=plan.outputs_on_device,
            uploaded=uploaded_values(on_device),
            sources=sources,
            step_nodes={
                index: number[stage.nodes[0].node]
                for index, stage in enumerate(plan.stages)
                if stage.kind is not StageKind.SAMPLES
            },
            num_nodes=len(nodes),
            caller_steps=called,
            upload_pool=None if self.device is None else self.device.host_pool,
        )
        try:
            self._executor = Executor(config)
        except RuntimeError as error:  # threads that do not start
            raise PipelineStateError(f"Pipeline: {error}") from error
        self._calls_sources = bool(called)
        self.owes_sources = False
        self.causes = self._steps.causes
        self._is_inline = bool(self._steps) and not options.asynchronous
        step_thread: threading.Thread | None = None
        if options.asynchronous and not called.issuperset([*in_python, *on_device]):
            step_thread = threading.Thread(
                target=run_steps,
                args=(self._executor, weakref.ref(self._steps)),
                name="dali_core steps",
                daemon=True,
            )
        # Called when the runner is garbage or the interpreter ends, whichever comes first.
        self.close = Finalizer(
            self, end_threads, self._executor, step_thread, self.device, self._storages
        )
        try:
            for storage in self._storages:
                storage.start()
            if step_thread is not None:
                start_thread(step_thread)
        except RuntimeError as error:
            self.close()
            raise PipelineStateError(
                "Pipeline: threads for Python functions and for remote storage must start (got "
                f"{error!r}). Close other pipelines, pass exec_async=False, or raise the system's "
                "limit."
            ) from error

    @property
    def steps(self) -> dict[OperatorNode, Step]:
        """The steps in Python by their nodes."""
        return self._steps.by_node

    @property
    def executor(self) -> Executor:
        """The native threads."""
        return self._executor

    @property
    def bad_samples(self) -> list[BadSample]:
        """The bad samples of all batches that were returned."""
        return self.log.samples

    @property
    def iteration(self) -> int:
        """Number of the batch that is submitted next."""
        return self._executor.iteration

    def forget_failures(self) -> None:
        """Release the exceptions of discarded batches."""
        self._steps.forget_failures()

    def submit(self) -> Batch:
        """Start the next batch; `check_caller` before, and `call_sources` if it `owes_sources`."""
        self._check_open()
        plan, iteration = self.batches.plan, self._executor.iteration
        size, first = plan.size(iteration), plan.position(iteration)
        runs = self.batches.runs(iteration, with_shards=self._options.replaces_failed)
        try:
            given = [
                (value, TensorCPU(self._parameters.value(name, iteration)))
                for name, value in self._given.items()
            ]
            self.owes_sources = self._calls_sources
            return self._executor.submit(iteration, size, runs, first, given, self.in_flight)
        except MemoryError as error:
            raise OutOfMemoryError(f"Pipeline: {error}") from error

    def call_sources(self, batch: Batch) -> None:
        """Take the data for a batch from the sources that are called in this thread."""
        while self._calls_sources and self._run_step(batch, 0.0, for_others=False):
            pass
        self.owes_sources = False

    def wait(self, batch: Batch) -> bool:
        """Wait until a batch is done; return False if the sources were exhausted before it.

        Call `check_caller` before.
        """
        self._check_open()
        while not self._is_done(batch):
            self._check_process()
            self._check_open()
            if batch.cancelled:
                raise PipelineStateError(
                    "Pipeline: must not be reset while a batch is waited for (it was, by another "
                    "thread). Reset it in the thread that runs it."
                )
        return not self._steps.has_ended(batch.iteration)

    @property
    def stream(self) -> Stream | None:
        """Where what is on a device is computed; None if all is on the host."""
        return None if self.device is None else self.device.stream

    def consumer(self, stream: Any) -> Stream | None:
        """Wrap a stream that outputs are wanted for; None if none is given or all is on the host.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If it is no stream, or of another device.
        """
        return None if stream is None or self.device is None else self.device.wrap(stream)

    def outcome(self, batch: Batch, consumer: Stream | None = None) -> Outcome:
        """Return what a batch that is done has come to. This changes nothing.

        Parameters
        ----------
        batch : Batch
            The batch.
        consumer : Stream, optional
            What is made to wait for outputs on a device.
        """
        self._steps.settle(batch.iteration)
        failures = batch.failures()
        cause = self.causes.get(batch.iteration)
        own = cause.__cause__ if isinstance(cause, SourceFailed) else None
        cause = own or cause
        if cause is not None and not isinstance(cause, Exception):
            return Outcome((), cause)
        error = self._reports.error(batch, failures, cause) if failures else None
        change = None
        if failures or self._options.replaces_failed:
            change, limit = self._noted(batch, failures)
            if limit is not None:
                limit.__cause__ = error or cause
                return Outcome((), limit, change)
        if error is not None and own is not None:
            return Outcome((), with_note(own, error), change)
        if error is not None:
            error.__cause__ = cause
            return Outcome((), error, change)
        return Outcome(self._outputs(batch, consumer), None, change)

    def outputs(
        self, batch: Batch, consumer: Stream | None = None
    ) -> tuple[TensorListCPU | TensorListGPU, ...]:
        """Take a batch that is done, and return its outputs; see `outcome`.

        Raises
        ------
        SampleError
            If an operator failed on a sample, and no other may take its place.
        Exception
            An exception of a source, with a note that says where.
        BadSampleLimitError
            If with this batch too many samples are bad.
        """
        outcome = self.outcome(batch, consumer)
        self.log.take_over(outcome.change)
        self._steps.forget_cause(batch.iteration)
        if batch in self.in_flight:
            self.in_flight.remove(batch)
        try:
            if outcome.error is not None:
                raise outcome.error
            return outcome.outputs
        finally:
            # An error refers to this frame. It must not refer back, or the batch would stay in
            # memory until the garbage collector looks for such cycles.
            del outcome

    def _open_device(
        self, stages: Mapping[int, PlannedStage], node_numbers: Mapping[OperatorNode, int]
    ) -> DeviceStages | None:
        if not stages:
            return None
        options = self._options
        queue = open_queue(stages, options.device_id, options.stream_priority, options.depth)
        return DeviceStages(stages, node_numbers, options.seed, queue)

    def _outputs(
        self, batch: Batch, consumer: Stream | None
    ) -> tuple[TensorListCPU | TensorListGPU, ...]:
        if self.device is None:
            return self._executor.outputs(batch)
        done = self.device.done_event(batch.iteration)
        return self._executor.outputs(batch, self.device.stream, done, consumer)

    def _noted(
        self, batch: Batch, failures: list[Failure]
    ) -> tuple[LogChange, BadSampleLimitError | None]:
        """Return what the record of bad samples becomes, and whether they are too many."""
        bad = sorted(failure for failure in failures + batch.replaced() if failure[0] >= 0)
        epochs = [self._reports.epoch_of(batch, sample) for sample in range(batch.num_samples)]
        keys = [batch.key(failure[0]) for failure in bad]
        return self.log.changed(GivenBatch(epochs, keys, self._reports.bad_samples(batch, bad)))

    def reset(
        self, iteration: int, begins_with: int | None = None, *, starts_over: bool = False
    ) -> None:
        """Get all steps ready for the next epoch.

        Batch number `iteration` is the one after those that were returned. The epoch begins with
        it or another one, and with `starts_over` sources begin a new iteration before their end.
        """
        self.rewind(iteration)
        first_sample = self._steps.first_sample(iteration)
        self._epoch_sources = self._steps.begin_epoch(starts_over=starts_over)
        if begins_with is not None:
            self._executor.go_to(begins_with, self.in_flight)
        # The last: if an interrupt comes before, all this is done once more.
        self.batches.begin_epoch(self.iteration, first_sample)

    def state(self, iteration: int, *, has_ended: bool = False) -> State:
        """Return the state after what was returned, which is all before batch number `iteration`.

        With `has_ended`, it is also known that there was no data for that batch.
        """
        self._check_usable()
        stream = self.batches
        self._steps.settle(iteration)
        return State(
            stream.at(iteration, self._steps.first_sample(iteration)),
            stream.epoch,
            stream.epoch_start,
            self._steps.states(iteration if has_ended else None),
            self._epoch_sources,
            self.log.state(),
            self._options.seed,
            has_ended,
        )

    def restore(self, state: State) -> None:
        """Drop all batches in flight, and resume from a state."""
        self.rewind(state.position.batch)
        self.batches.restore(state)
        self._epoch_sources = dict(state.epoch_sources)
        self.log.restore(state.bad_samples)
        self._steps.restore(state.sources, state.position.given)

    def rewind(self, iteration: int) -> None:
        """Drop all batches in flight, and resume with batch number `iteration`.

        Raises
        ------
        PipelineStateError
            If a function of the user does not return.
        """
        self._check_usable()
        with stopped(self._storages):  # a request may take long
            self._executor.cancel()
        if not self._executor.wait_for_steps(_STEP_GRACE_SECONDS):
            raise PipelineStateError(
                "Pipeline.reset: Python functions of the pipeline must return within "
                f"{_STEP_GRACE_SECONDS:.0f} seconds (one is still running). Let it end first."
            )
        self._steps.drop_batches(iteration)
        self._executor.go_to(iteration, self.in_flight)
        self._steps.forget_end()

    def _is_done(self, batch: Batch) -> bool:
        if not self._is_inline and not self._calls_sources:
            return bool(self._executor.wait(batch, _WAIT_SECONDS))
        # Sources in branches are called once their condition is known.
        self._run_step(batch, _WAIT_SECONDS, for_others=self._is_inline)
        return bool(self._executor.wait(batch, 0.0))

    def _run_step(self, batch: Batch, seconds: float, *, for_others: bool) -> bool:
        task = next_step(self._executor, seconds, batch, for_others=for_others, comes_again=True)
        if task is not None:
            self._steps.run(task)
        return task is not None

    def check_caller(self) -> None:
        """Check that this is the process with the threads, and that none waits for the caller.

        It comes before all else: in a forked child, locks may be held by threads of the parent.

        Raises
        ------
        PipelineStateError
            If this is another process, or if a function of this pipeline is being called here: it
            would wait for itself.
        """
        self._check_process()
        node = self._steps.called_here
        if node is not None:
            raise PipelineStateError(
                "Pipeline: must not be run, reset, saved or restored by a function of its own (it "
                f"was, by that of {node.where}). Do so when run has returned, or use another "
                "pipeline there."
            )

    def _check_usable(self) -> None:
        self.check_caller()
        self._check_open()

    def _check_open(self) -> None:
        if self._executor.closed:
            raise PipelineStateError("Pipeline: must be open (it was closed). Build a new one.")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise PipelineStateError(
                f"Pipeline: must be used in the process that built it (built in process "
                f"{self._process}, used in {os.getpid()}). Threads do not survive a fork: build it "
                "after forking."
            )
