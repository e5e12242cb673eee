"""The run of a pipeline: batches started ahead, and taken to the end of the data and from there."""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias

from dali_core._call.location import warn_user
from dali_core._execution.memory_statistics import MemoryStatistics
from dali_core._execution.outcome import Outcome
from dali_core._execution.parameters import Parameters
from dali_core._execution.python_workers import PythonWorkers
from dali_core._execution.readers import Readers
from dali_core._execution.run_statistics import RunStatistics
from dali_core._execution.runner import Runner
from dali_core._execution.runner_options import RunnerOptions
from dali_core._graph.node import OperatorNode
from dali_core._runtime.executor import Batch
from dali_core._runtime.step import Step
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.turn import Turn
from dali_core._runtime.workers import WorkerPool
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError, NoBatchError
from dali_core.pipeline._checks import ApiCheck
from dali_core.pipeline._closing import Closing
from dali_core.pipeline._graph_definition import GraphDefinition
from dali_core.pipeline._hooks import Hooks
from dali_core.pipeline._options import PipelineOptions
from dali_core.statistics import PipelineStatistics
from dali_core.types import PipelineAPIType

# A TensorListGPU where the graph ends on a device, which no annotation of a pipeline can tell.
OutputList: TypeAlias = TensorListCPU | Any


class PipelineRun:
    """Starts batches of a graph, and hands them out in their order.

    Parameters
    ----------
    options : PipelineOptions
        How to run.
    definition : GraphDefinition
        What to run.
    hooks : Hooks
        Called before each batch.
    closing : Closing
        Learns what is to be closed.

    Attributes
    ----------
    api : ApiCheck
        Which methods the run is driven with.
    seed : int
        Seed of all random operators: that of the options, or of a state.
    runner : Runner or None
        What runs the batches, once it is needed.
    workers : PythonWorkers or None
        Processes and threads of sources, likewise.
    readers : Readers
        The data sets that the runner has opened.
    parameters : Parameters
        Which batch has which values of parameters.
    memory : MemoryStatistics or None
        If they are wanted.
    statistics : RunStatistics or None
        What the runner has done, once there is one.
    turn : Turn
        Lets one thread at a time start and take batches.
    is_first : bool
        Whether nothing was started since the beginning, the last reset or the last loaded state.
    has_ended : bool
        Whether the consumer has met the end of the data.
    looks_ahead : bool
        Whether batches were started when the state was saved, so that `reset` could tell that the
        epoch was over.
    """

    def __init__(
        self,
        options: PipelineOptions,
        definition: GraphDefinition,
        hooks: Hooks,
        closing: Closing,
    ) -> None:
        self._options = options
        self._definition = definition
        self._hooks = hooks
        self._closing = closing
        self.api = ApiCheck()
        self.seed = options.seed
        self.runner: Runner | None = None
        self.workers: PythonWorkers | None = None
        self.readers = Readers(())
        self.parameters = Parameters(())
        self.memory: MemoryStatistics | None = None
        self.statistics: RunStatistics | None = None
        self.turn = Turn()
        self._wanted = 0  # batches before this number are to be started
        self._is_starting = False  # a call of `schedule` has not ended
        self.is_first = True
        self.has_ended = False
        self.looks_ahead = False
        self._not_started: Exception | None = None

    @property
    def in_flight(self) -> deque[Batch]:
        """What was started and not returned."""
        return self.runner.in_flight if self.runner is not None else deque()

    def start_workers(self) -> PythonWorkers:
        """Start the workers, if that has not been done yet."""
        if self.workers is None:
            plan, settings = self._definition.make_plan(), self._options.workers
            pool = WorkerPool(settings.num_workers, settings.start_method, settings.pickler)
            self.workers = PythonWorkers(plan, pool, self._options.batching.largest)
            self._closing.add(self.workers.close)
        return self.workers

    def make_runner(self, steps: Mapping[OperatorNode, Step] | None = None) -> Runner:
        """Open the data sets and start the threads, perhaps with the steps of another runner."""
        options, plan = self._options, self._definition.make_plan()
        if steps is None:  # before any thread starts, as workers may be forked
            steps = self.start_workers().steps
            if options.enable_checkpointing:
                _warn_of_lost_states(steps)
            self.readers = Readers(self._definition.live_nodes)
            if options.batching.by_lengths:
                from dali_core._execution.planned_readers import bind_batching

                options.batching = bind_batching(options.batching, self.readers)
            self.parameters = Parameters(self._definition.live_nodes)
            self._publish()
        if options.enable_memory_stats and self.memory is None:
            self.memory = MemoryStatistics(plan)
        runner = Runner(plan, self.readers.by_node, self.runner_options(), steps, self.parameters)
        self._closing.add(runner.close)
        # Ctrl-C may strike in between: so `runner` is never set without its statistics.
        self.statistics = RunStatistics(
            plan, runner.executor, runner.device, options.num_threads, options.depth
        )
        self.runner = runner
        return runner

    def collected(self) -> PipelineStatistics | None:
        """Return the statistics; None before the start. Any thread may call it."""
        statistics = self.statistics
        return statistics.collect() if statistics is not None else None

    def _publish(self) -> None:
        """Let other processes of the user see the statistics, if this is wanted."""
        if not os.environ.get("DALI_CORE_MONITOR"):
            return
        from dali_core.monitoring.publication import Publication

        reference = weakref.ref(self)

        def read() -> PipelineStatistics | None:
            run = reference()
            return run.collected() if run is not None else None

        self._closing.add(Publication(read).close)

    def runner_options(self) -> RunnerOptions:
        """Return how batches are run."""
        options = self._options
        return RunnerOptions(
            batching=options.batching,
            num_threads=options.num_threads,
            seed=self.seed,
            set_affinity=options.set_affinity,
            asynchronous=options.exec_async,
            replaces_failed=options.replaces_failed,
            max_bad_samples=options.max_bad_samples,
            device_id=options.device_id,
            stream_priority=options.stream_priority,
            depth=options.queue_size("gpu_size"),
        )

    def abandon(self) -> None:
        """Undo a start that has failed."""
        self._closing.close_all()
        self.runner = self.workers = None

    def close(self) -> None:
        """End all threads and processes."""
        self.in_flight.clear()
        self._closing.close_all()
        if self.runner is not None:
            self.runner.forget_failures()

    def check_caller(self) -> None:
        """Refuse to be driven by a child process or by one of the own workers."""
        if self.runner is not None:
            self.runner.check_caller()
        if self.workers is not None:
            self.workers.check_caller()

    def check_call(self, group: PipelineAPIType) -> None:
        """Refuse a caller as `check_caller` does, and to mix run methods of another group."""
        self.check_caller()
        self.api.note(group)

    def take(self, cuda_stream: Any, *, fills: bool = False) -> tuple[OutputList, ...]:
        """Wait for the oldest batch, and return its outputs; see `Pipeline.outputs`.

        With `fills`, as many batches as are prefetched are started before; see `Pipeline.run`.
        """
        if self.runner is None:
            self._raise_empty()
        self.turn.is_held = True
        try:
            if fills:
                self.is_first = False
                self.fill()
            else:
                self._start()
            self._is_starting = False
            runner = self.runner
            in_flight, log, causes = runner.in_flight, runner.log, runner.causes
            batch, (outputs, error, change) = self._next(cuda_stream, num_new=int(fills))
            iteration = batch.iteration
            has_cause = iteration in causes
            del batch
        except BaseException:
            self.turn.is_held = False
            raise
        # All that makes it the batch before is assignments. Handlers of signals run after calls
        # only: until here an interrupt loses nothing, and from here on there is none.
        if change is not None:
            log.samples_kept += change.new
            log.counts = change.counts
        if has_cause:
            del causes[iteration]
        if in_flight:  # another thread may have closed all
            del in_flight[0]
        self.turn.is_held = False
        if error is None:
            return outputs
        try:
            raise error
        finally:
            # An error refers to this frame. It must not refer back, or the batch would stay in
            # memory until the garbage collector looks for such cycles.
            error = None

    def schedule(self) -> None:
        """Start the next batch; the first time, as many as are prefetched.

        A call that was interrupted is completed by the next one.
        """
        self.turn.is_held = True
        try:
            if not self._is_starting:
                more = self._options.depth if self.is_first else 1
                wanted = max(self._wanted, self._iteration) + more
                self._wanted = wanted
                self._is_starting = True
                self.is_first = False
            self._start()
        except BaseException:
            self.turn.is_held = False
            raise
        self._is_starting = False
        self.turn.is_held = False

    def schedule_one(self) -> None:
        """Start one batch, even if it is the first."""
        self.is_first = False
        self.schedule()

    def fill(self) -> None:
        """Start as many batches as are prefetched, unless they are in flight."""
        assert self.runner is not None
        in_flight = self.runner.in_flight
        first = in_flight[0].iteration if in_flight else self.runner.iteration
        self._wanted = max(self._wanted, first + self._options.depth)
        self._start()

    def _next(self, cuda_stream: Any, num_new: int) -> tuple[Batch, Outcome]:
        """Wait for the oldest batch, and return it and what it has come to; it stays the oldest."""
        runner, statistics = self.runner, self.statistics
        assert runner is not None
        assert statistics is not None
        if not runner.in_flight:
            self._raise_empty()
        batch = runner.in_flight[0]
        call = statistics.call(runner.in_flight, num_new)
        failed: type[BaseException] | None = BaseException
        call.__enter__()
        try:
            consumer = None if cuda_stream is None else runner.consumer(cuda_stream)
            if not runner.wait(batch):
                self.has_ended = True
                raise StopIteration
            if self.memory is not None:
                self.memory.add(batch)
            outcome = runner.outcome(batch, consumer)
            failed = None if outcome.error is None else type(outcome.error)
        finally:
            call.__exit__(failed)
        if outcome.error is None:
            try:
                self._options.expected.check(outcome.outputs)
            except GraphError as error:
                outcome = outcome._replace(outputs=(), error=error)
        return batch, outcome

    def _raise_empty(self) -> NoReturn:
        if self._not_started is not None:
            error, self._not_started = self._not_started, None
            raise error
        if self._hooks.setup_ended or self.has_ended:
            self.has_ended = True
            raise StopIteration
        raise NoBatchError(
            "Pipeline.outputs: a batch must have been started (none was). Call schedule_run first, "
            "or use run."
        )

    def reset(self) -> None:
        """Start over after the end of the data."""
        if self.runner is None:
            return
        self.check_caller()
        self.begin_loop()
        with self.turn:
            self._reset(self.runner)

    def _reset(self, runner: Runner) -> None:
        if self.looks_ahead and self.is_first and not self.has_ended:
            self.is_first = False
            self.fill()
        if runner.in_flight and not self.has_ended:
            self.has_ended = not runner.wait(runner.in_flight[0])
        if not (self.has_ended or (self._hooks.setup_ended and not runner.in_flight)):
            return
        self._begin_epoch(runner)

    def begin_loop(self) -> None:
        """Count the time since the last batch was taken as a pause in the statistics."""
        if self.statistics is not None:
            self.statistics.call.begin_loop()

    def skip_to(self, batch: int | None) -> None:
        """Discard what is in flight, and begin an epoch with a batch, by default the next one.

        Sources in Python begin a new iteration if they can.
        """
        assert self.runner is not None
        with self.turn:
            self._begin_epoch(self.runner, batch, starts_over=not self.has_ended)

    def _begin_epoch(
        self, runner: Runner, batch: int | None = None, *, starts_over: bool = False
    ) -> None:
        first = runner.in_flight[0].iteration if runner.in_flight else runner.iteration
        num_setups = self._hooks.num_setups
        runner.reset(first, batch, starts_over=starts_over)
        # In one piece with the last that the runner does: an interrupt before repeats all.
        self._hooks.epoch_setups = num_setups
        self._hooks.setup_ended = False
        self._hooks.set_up_for = -1
        self.is_first = True
        self.has_ended = False
        self._wanted = 0
        self._is_starting = False

    @property
    def _iteration(self) -> int:
        assert self.runner is not None
        return self.runner.iteration

    def forget_wanted(self) -> None:
        """Start no batches that were asked for before."""
        self._wanted = 0
        self._is_starting = False

    def _start(self) -> None:
        """Start the batches that are wanted, and call sources that an interrupt has ended."""
        assert self.runner is not None
        assert self.statistics is not None
        runner = self.runner
        owes_sources = runner.owes_sources and runner.in_flight
        if runner.iteration >= self._wanted and not owes_sources:
            return
        with self.statistics.call():
            if owes_sources:
                runner.call_sources(runner.in_flight[-1])
            while (batch := runner.iteration) < self._wanted and self._submit(runner, batch):
                pass

    def _submit(self, runner: Runner, number: int) -> bool:
        hooks = self._hooks
        if hooks.setup_ended or self.has_ended or not hooks.set_up(number):
            return False
        try:
            self._not_started = None
            batch = runner.submit()
        except (ArgumentTypeError, ArgumentValueError) as error:
            # A sampler has no good order for an epoch: batches of those before it come first.
            self._not_started = error.with_traceback(None)  # its frames refer to this object
            return False
        if runner.owes_sources:
            runner.call_sources(batch)
        return True


def _warn_of_lost_states(steps: Mapping[OperatorNode, Step]) -> None:
    """Warn of sources in Python that cannot resume from a checkpoint."""
    for node, step in steps.items():
        if step.loses_state:
            warn_user(
                f"{node.where}: a checkpoint cannot say how far the source has come, which is a "
                "callable without an argument. Let it take the number of the batch or a "
                "SampleInfo, or give it state_dict and load_state_dict.",
                UserWarning,
            )
