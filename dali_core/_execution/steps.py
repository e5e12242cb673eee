"""Runs the stages of a plan that the native threads do not run: those in Python and on a device.

Steps in Python have states, which are kept with the batches.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from types import FrameType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dali_core._execution.batch_stream import BatchStream
from dali_core._execution.device_stages import DeviceStages
from dali_core._execution.failures import describe, without_own_frames
from dali_core._execution.nvtx_ranges import NVTX
from dali_core._graph.node import OperatorNode
from dali_core._graph.plan.execution_plan import PlannedNode
from dali_core._runtime.step import (
    JoiningStep,
    NotFed,
    SampleFailed,
    SourceFailed,
    StatefulStep,
    Step,
    StepContext,
)
from dali_core._runtime.step_task import StepTask
from dali_core.errors import DaliCoreError

T = TypeVar("T")
_SEEN = "_dali_core_has_raised_it"


class Steps:
    """The steps in Python of a plan, which see batches in order.

    Parameters
    ----------
    stages : dict of int to (PlannedNode, Step)
        The steps by the numbers of their stages.
    node_numbers : dict of OperatorNode to int
        How failures name nodes.
    stream : BatchStream
        Which samples are in which batch, and the indices that steps get.
    numbers_samples : bool
        Whether the first source gives samples their numbers, since no reader does.
    replaces_failed : bool
        Whether other samples take the place of bad ones.
    by_caller : collection of int, optional
        Numbers of the steps that run in the thread that submits and awaits batches; by default all.
    device : DeviceStages, optional
        The stages on a device.
    """

    def __init__(
        self,
        stages: Mapping[int, tuple[PlannedNode, Step]],
        node_numbers: Mapping[OperatorNode, int],
        stream: BatchStream,
        *,
        numbers_samples: bool,
        replaces_failed: bool,
        by_caller: Collection[int] | None,
        device: DeviceStages | None = None,
    ) -> None:
        self._stages = stages
        self._first_stage = min(stages, default=-1)
        # Steps without dependencies, which run for all samples.
        self._sources = {i for i, (entry, _) in stages.items() if not entry.node.dependencies}
        self._joining = {
            i: step for i, (_, step) in stages.items() if isinstance(step, JoiningStep)
        }
        self._device = device
        self._node_numbers = node_numbers
        self._stream = stream
        self._numbers_samples = numbers_samples
        self._replaces_failed = replaces_failed
        self._by_caller = by_caller
        self._called: dict[int, OperatorNode] = {}  # by threads: whose function is being called
        self._process = os.getpid()
        self._next_sample = 0
        # What is known about batches in flight, by their numbers.
        self._first_samples: dict[int, int] = {}
        self._states: dict[int, dict[str, Any]] = {}  # of steps, by the names of their nodes
        self._ended: set[int] = set()
        self.causes: dict[int, BaseException] = {}
        self._given_states: dict[str, Any] = {}
        self._stateful = {
            node: step for node, step in self.by_node.items() if isinstance(step, StatefulStep)
        }

    def __bool__(self) -> bool:
        return bool(self._stages) or self._device is not None

    @property
    def by_node(self) -> dict[OperatorNode, Step]:
        """The steps and their nodes."""
        return {entry.node: step for entry, step in self._stages.values()}

    @property
    def called_here(self) -> OperatorNode | None:
        """The node whose function this thread is calling, if it is."""
        if not self._called:
            return None
        node = self._called.get(threading.get_ident())
        if node is None:
            return None
        # Ctrl-C may have come before the end of the call was noted.
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_code is Steps._call.__code__ and frame.f_locals["self"] is self:
                return node
            frame = frame.f_back
        return None

    def has_ended(self, iteration: int) -> bool:
        """Return whether a source had no data for a batch."""
        return iteration in self._ended

    def forget_cause(self, iteration: int) -> None:
        """Forget what was raised for a batch that is returned."""
        self.causes.pop(iteration, None)

    def settle(self, iteration: int) -> None:
        """Forget the batches before one, which were returned; an interrupted call is repeated."""
        # Sorting is one piece, so the thread of the steps may add batches meanwhile.
        for number in sorted(self._states):
            if number >= iteration:
                break
            self._given_states |= self._states[number]
            self._states.pop(number, None)
        for number in sorted(self._first_samples):
            if number >= iteration:
                break
            self._first_samples.pop(number, None)

    def states(self, ended_at: int | None = None) -> dict[str, Any]:
        """Return the states after all that was returned, and perhaps after the end of the data.

        For a source that raised an exception when asked for its state, the exception is there.

        Parameters
        ----------
        ended_at : int, optional
            The batch for which there was no data, if the caller that waited for it knows.
        """
        if ended_at is None or not self.has_ended(ended_at):
            return dict(self._given_states)
        return self._given_states | self._states.get(ended_at, {})

    def first_sample(self, iteration: int) -> int:
        """Return the number of samples that the first source gave before a batch."""
        # It is read first, since the thread of the steps continues meanwhile.
        next_sample = self._next_sample
        return self._first_samples.get(iteration, next_sample)

    def drop_batches(self, iteration: int) -> None:
        """Forget all batches from `iteration` on, which were dropped."""
        self.settle(iteration)
        # How far sources ran ahead must not show in the numbers of the samples to come.
        self._next_sample = self.first_sample(iteration)
        self._first_samples.clear()
        self._given_states = self.states(iteration)
        if self._device is not None:
            self._device.drop_batches()
        self._states.clear()
        self.forget_failures()

    def forget_end(self) -> None:
        """Forget for which batches there was no data, once these are not in flight any more."""
        self._ended.clear()

    def forget_failures(self) -> None:
        """Release the exceptions of discarded batches, and the samples in their frames."""
        self.causes.clear()

    def begin_epoch(self, *, starts_over: bool = False) -> dict[str, Any]:
        """Get all steps ready for the next epoch, and return their states.

        With `starts_over`, sources that can do so begin a new iteration.
        """
        for node, step in self.by_node.items():
            given = self._given_states.get(node.name)
            is_known = not isinstance(given, Exception)
            if starts_over and isinstance(step, StatefulStep) and step.can_start_over and is_known:
                self._call(node, step.start_over, given)
            else:
                self._call(node, step.reset)
        self._given_states = self._collect_states()
        return dict(self._given_states)

    def restore(self, states: Mapping[str, Any], next_sample: int) -> None:
        """Bring all steps back to what `states` returned."""
        for node, step in self._stateful.items():
            try:
                self._call(node, step.restore, states.get(node.name))
            except DaliCoreError as error:
                raise type(error)(f"{node.where}: {error}") from error
        self._given_states = dict(states)
        self._next_sample = next_sample

    def run(self, task: StepTask) -> None:
        """Run one step; its exception is kept for the caller that waits for the batch."""
        if NVTX.module is None:
            self._run_task(task)
            return
        with NVTX.around(f"{self._title(task.stage)}, batch {task.batch.iteration}"):
            self._run_task(task)

    def _title(self, stage: int) -> str:
        if self._device is not None and stage in self._device:
            return "device"
        return self._stages[stage][0].node.operator

    def _run_task(self, task: StepTask) -> None:
        if self._device is not None and task.stage in self._device:
            self._run_on_device(task, self._device)
            return
        entry, step = self._stages[task.stage]
        iteration = task.batch.iteration
        node = self._node_numbers[entry.node]
        inputs = [*entry.inputs, *entry.arguments]
        try:
            releases = self._call(entry.node, self._run, task, entry, step)
            self._keep_states(iteration, entry.node)
            task.finish(releases)
        except StopIteration:
            self._keep_states(iteration)
            self._ended.add(iteration)
            task.fail(-1, node, "there is no more data")
        except SampleFailed as failed:
            self._keep_states(iteration, entry.node)
            self.causes[iteration] = _kept(failed)
            task.fail(failed.sample, node, describe(failed.__cause__ or failed), inputs)
        except BaseException as error:
            if os.getpid() != self._process:
                raise  # the function forked, and this is the child
            # Ctrl-C is for the consumer that waits now, and the step comes again; all else is for
            # the one that takes the batch.
            if self._is_interrupt(error, task.stage):
                raise
            self._keep_states(iteration, entry.node)
            self.causes[iteration] = without_own_frames(error, __file__)
            task.fail(-1, node, describe(error))
        step.forget()

    def _run_on_device(self, task: StepTask, device: DeviceStages) -> None:
        try:
            device.run(task)
        except BaseException as error:
            if os.getpid() != self._process:
                raise
            if self._is_interrupt(error, task.stage):
                raise
            self.causes[task.batch.iteration] = without_own_frames(error, __file__)
            task.fail(-1, device.first_node(task.stage), describe(error))

    def _run(self, task: StepTask, entry: PlannedNode, step: Step) -> Sequence[int]:
        """Run a step, and return the values that are to be released when it ends.

        Until then it may be interrupted and run once more, so all of this can be repeated.
        """
        node = entry.node
        is_source = task.stage in self._sources
        batch = task.batch
        ended = list(self._ended)
        if is_source and ended and min(ended) < batch.iteration:
            # Batches that were started already must not eat into the next epoch.
            raise StopIteration
        if task.stage == self._first_stage:
            # Before anything can fail: a batch that fails does not count.
            self._first_samples.setdefault(batch.iteration, self._next_sample)
        # In a branch, the samples that take it are a batch of their own.
        size = task.restrict(entry.guards) if entry.guards else batch.size
        if entry.guards and size == 0:
            return entry.releases
        iteration, first_sample = self._stream.in_epoch(batch.iteration)
        context = StepContext(
            iteration,
            self._stream.epoch,
            first_sample,
            size,
            lambda: bool(batch.cancelled),
            {} if self._replaces_failed else None,
            self._upcoming(node, batch.iteration),
            row_lengths=lambda: self._stream.row_lengths(batch.iteration),
            extents=lambda: self._stream.extents(batch.iteration),
            replaced={bad[0] for bad in batch.replaced()} if self._replaces_failed else (),
        )
        inputs = [*entry.inputs, *entry.arguments]
        try:
            # Where it may be interrupted, it does not change what it needs to run once more.
            copied = self._by_caller is None
            outputs = step.run(context, task.inputs(inputs, entry.releases, copied=copied))
        except SampleFailed as failed:
            self._note_failed(task, entry, context, besides=failed.sample)
            self._lose_fed(task, context)
            raise
        except StopIteration:
            for stage, (_, other) in self._stages.items():
                if stage > task.stage:
                    other.skip(context)
            raise
        except NotFed:
            raise
        except BaseException:
            self._lose_fed(task, context)
            raise
        joining = self._joining.get(task.stage)
        if joining is not None:
            task.join(joining.first_samples)
        if is_source and outputs:
            try:
                self._settle_size(task, len(outputs[0].samples))
            except ValueError:
                self._lose_fed(task, context)
                raise
        stream = None if self._device is None else self._device.stream
        try:
            for value, output in zip(entry.outputs, outputs, strict=True):
                origin = inputs[output.origin] if output.origin >= 0 else -1
                task.set_output(value, output.samples, output.layout, stream, origin)
        except MemoryError:
            # A device that is broken has no pinned memory either, and says why.
            if stream is not None:
                stream.is_idle()
            raise
        self._note_failed(task, entry, context)
        return entry.releases

    def _upcoming(self, node: OperatorNode, iteration: int) -> Callable[[int], NDArray[np.int64]]:
        """Return a function for the indices that the reader before a step gives after a batch."""
        source, stream = node.inputs[0].source if node.inputs else None, self._stream
        return lambda count: stream.upcoming(source, iteration + 1, count)

    def _lose_fed(self, task: StepTask, context: StepContext) -> None:
        """Keep the batches that were fed to other sources with those to come."""
        for stage, (_, other) in self._stages.items():
            if stage > task.stage:
                other.lose(context)

    def _note_failed(
        self, task: StepTask, entry: PlannedNode, context: StepContext, besides: int = -1
    ) -> None:
        node = self._node_numbers[entry.node]
        for sample, error in (context.failed or {}).items():
            if sample != besides:
                inputs = [*entry.inputs, *entry.arguments]
                task.fail(sample, node, describe(error), inputs, is_final=False)
        if context.failed is not None:
            context.failed.clear()  # exceptions refer to frames, and these to samples and to this

    def _settle_size(self, task: StepTask, size: int) -> None:
        """The first source decides how large the batch is, and numbers its samples."""
        if task.stage != self._first_stage:
            if size != task.batch.size:
                raise ValueError(
                    "all sources must return equally many samples for a batch "
                    f"(got {size}, and {task.batch.size} from the source before)."
                )
            return
        largest = self._stream.largest
        if size > largest:
            raise ValueError(
                f"a batch must have at most batch_size = {largest} samples "
                f"(got {size}). Return fewer, or raise batch_size."
            )
        first = self._first_samples[task.batch.iteration]
        task.set_size(size, first if self._numbers_samples else None)
        self._next_sample = first + size

    def _keep_states(self, iteration: int, node: OperatorNode | None = None) -> None:
        """Keep the state of a node, or of all, as it is after a batch."""
        if node is None:
            states = self._collect_states()
        elif node in self._stateful:
            states = {node.name: self._state_of(node, self._stateful[node])}
        else:
            return
        if states:
            self._states.setdefault(iteration, {}).update(states)

    def _collect_states(self) -> dict[str, Any]:
        return {node.name: self._state_of(node, step) for node, step in self._stateful.items()}

    def _state_of(self, node: OperatorNode, step: StatefulStep) -> Any:
        try:
            return self._call(node, step.state)
        except Exception as error:
            # The data is good: only who asks for the state needs to know.
            return without_own_frames(error, __file__)

    def _call(self, node: OperatorNode, function: Callable[..., T], *arguments: Any) -> T:
        thread = threading.get_ident()
        self._called[thread] = node
        try:
            return function(*arguments)
        finally:
            self._called.pop(thread, None)

    def _is_interrupt(self, error: BaseException, stage: int) -> bool:
        """Return whether an exception is a KeyboardInterrupt for the thread that waits."""
        is_waiting = self._by_caller is None or stage in self._by_caller
        if not is_waiting or not isinstance(error, KeyboardInterrupt):
            return False
        # What comes once more is the function's own, and was raised already.
        is_new = not hasattr(error, _SEEN)
        setattr(error, _SEEN, True)
        if not is_new:
            error.__traceback__ = None
        return is_new


def _kept(failed: SampleFailed) -> BaseException:
    """Return the exception to keep: the cause, in `SourceFailed` if it is the user's own."""
    cause = without_own_frames(failed.__cause__ or failed, __file__)
    if not isinstance(failed, SourceFailed):
        return cause
    failed.__context__ = None
    return failed.with_traceback(None)
