"""States of a pipeline: taking them, their form in a checkpoint, and resuming from them.

`Pipeline.states` is what iterators use, which describe what they have returned themselves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dali_core._atomic_files import write_whole
from dali_core._execution.bad_samples import counted_anew
from dali_core._execution.runner import Runner
from dali_core._graph.serialize.fingerprint import describe_graph, explain_difference
from dali_core._runtime.step import StatefulStep
from dali_core.batching.plan import BatchPlan
from dali_core.checkpoint.checks import (
    check_bad_samples,
    check_sources,
    describe_readers,
    plain_sources,
    resumed_in_all,
)
from dali_core.checkpoint.position import Position
from dali_core.checkpoint.resharding import saved_batching
from dali_core.checkpoint.saved_state import VERSION, SavedState
from dali_core.checkpoint.state import State
from dali_core.errors import PipelineStateError, StateMismatchError
from dali_core.pipeline._graph_definition import GraphDefinition
from dali_core.pipeline._hooks import Hooks
from dali_core.pipeline._options import PipelineOptions
from dali_core.pipeline._run import PipelineRun
from dali_core.pipeline.epochs import PipelineEpochs

KIND = "dali_core.Pipeline"


class PipelineStates:
    """Takes states of a pipeline, and resumes from them.

    Parameters
    ----------
    options : PipelineOptions
        Batching, seed and checkpoint.
    definition : GraphDefinition
        The graph, which states must be of.
    hooks : Hooks
        Calls of `iter_setup` are counted in states.
    run : PipelineRun
        What the states are of.
    """

    def __init__(
        self,
        options: PipelineOptions,
        definition: GraphDefinition,
        hooks: Hooks,
        run: PipelineRun,
    ) -> None:
        self._options = options
        self._definition = definition
        self._hooks = hooks
        self._run = run
        self._restored_iterator: Mapping[str, Any] | None = None

    @property
    def epochs(self) -> PipelineEpochs:
        """What ends an epoch."""
        # Not kept, as it refers to this object.
        return PipelineEpochs(self._options, self._definition, self._run, self.start)

    def start(self) -> Runner:
        """Start the run, if that has not been done yet, where the pipeline's checkpoint was."""
        run = self._run
        if run.runner is None:
            with run.turn:  # threads may want to start it at the same time
                if run.runner is None:
                    self._start(run)
        assert run.runner is not None
        return run.runner

    def _start(self, run: PipelineRun) -> None:
        run.make_runner()
        try:
            self._restore_checkpoint()
        except BaseException:  # Ctrl-C as well: never run with half a checkpoint
            run.abandon()
            raise

    def drop_started(self) -> None:
        """Drop the batches that were started, and resume with the first of them."""
        run, runner = self._run, self.start()
        with run.turn:
            runner.rewind(run.in_flight[0].iteration if run.in_flight else runner.iteration)
            run.forget_wanted()

    def start_eagerly(self) -> None:
        """Complete the graph, and start the run unless a reader is to start it by need."""
        self._definition.make_plan()
        lazy = any(node.arguments.get("lazy_init") for node in self._definition.live_nodes)
        if not lazy:
            self.start()

    @property
    def is_restored(self) -> bool:
        """Whether the pipeline has started from a checkpoint."""
        return self._options.checkpoint is not None and self._run.runner is not None

    @property
    def iterator_state(self) -> Mapping[str, Any] | None:
        """What an iterator added to the checkpoint, as long as no batch was taken after it."""
        run = self._run
        if self._restored_iterator is None or run.runner is None or run.in_flight:
            return None
        return self._restored_iterator if run.is_first else None

    def current(self, num_kept: int = 0) -> State:
        """Return the state after all that has been returned.

        Parameters
        ----------
        num_kept : int
            1 if the last batch counts as not returned, since an iterator was interrupted and still
            has it.
        """
        run = self._run
        if run.runner is None and self._options.checkpoint is None:
            return State(seed=run.seed)  # the beginning; a lazy reader remains one
        runner, hooks = self.start(), self._hooks
        run.check_caller()  # a function of the pipeline would wait for itself
        with run.turn:
            batch = run.in_flight[0].iteration if run.in_flight else runner.iteration
            state = runner.state(batch - num_kept, has_ended=run.has_ended)
            return replace(
                state,
                is_started=bool(run.in_flight or num_kept) and self._may_end(runner),
                setups=self._setups_given - num_kept * hooks.has_setup,
                parameters=run.parameters.state(state.epoch_start.batch),
            )

    def start_of_epoch(self) -> State:
        """Return the state at the last `reset` that took effect, or at the start."""
        self.start()
        now = self.current()
        return replace(
            now,
            position=now.epoch_start,
            sources=now.epoch_sources,
            bad_samples=counted_anew(now.bad_samples),
            has_ended=False,
            is_started=False,
            setups=self._hooks.epoch_setups,
        )

    def before_batch(self, batch: int, where: str) -> State:
        """Return the state that would have been taken before a batch of the endless stream.

        Parameters
        ----------
        batch : int
            Number of the batch, from the beginning of the first epoch.
        where : str
            Start of messages.

        Raises
        ------
        PipelineStateError
            If there is a source in Python.
        """
        self.check_seekable(where)
        now = self.current()
        sample = self._plan.position(batch)
        position = now.position._replace(batch=batch, sample=sample)
        return replace(now, position=position, has_ended=False, is_started=False)

    @property
    def _plan(self) -> BatchPlan:
        """The batches of the first reader, numbered from the beginning of the first epoch."""
        batching = self._options.batching
        reader = next(iter(self._run.readers.by_node.values()), None)
        return batching.plan() if reader is None else batching.plan(reader.stream)

    def check_seekable(self, where: str) -> None:
        """Raise PipelineStateError if there is a source in Python, which could not skip batches."""
        for node, step in self.start().steps.items():
            if isinstance(step, StatefulStep):
                raise PipelineStateError(
                    f"{where}: the pipeline must have no source in Python ({node.where} is one), "
                    "since it could not skip batches. Read with a reader, or take the batches in "
                    "order."
                )

    def begin_loop(self) -> None:
        """Count the time since the last batch was taken as a pause in the statistics."""
        self._run.begin_loop()

    def skip_to(self, batch: int | None, where: str) -> None:
        """Leave the epoch, and begin the next one with a batch of the endless stream.

        Work in flight is discarded, and what was to come before is not computed. Sources in Python
        begin a new iteration. Where one of them, or `iter_setup`, gives its data once only, its
        data in flight is discarded with the batches that a reader skips; without a reader, nothing
        is, and the epoch begins with the batch that is next.

        Parameters
        ----------
        batch : int or None
            Number of the batch; None for the one that is next.
        where : str
            Start of messages.
        """
        runner, run, hooks = self.start(), self._run, self._hooks
        run.check_caller()
        sources = [step for step in runner.steps.values() if isinstance(step, StatefulStep)]
        can_start_over = not hooks.has_setup and all(step.can_start_over for step in sources)
        if batch is not None and not (sources or hooks.has_setup):
            now = self.current()
            position = runner.batches.at(batch, now.position.given)
            self.go_to(replace(now, position=position, has_ended=False, is_started=False), where)
        elif run.readers.by_node or can_start_over:
            if not run.turn.is_free:  # wakes a thread that waits for an earlier batch
                runner.executor.cancel()
            run.skip_to(batch)
        else:
            run.reset()

    def describe(self, state: State) -> dict[str, Any]:
        """Turn a state into plain data; see `Pipeline.state_dict`."""
        self.start()
        batching, window = self._options.batching, self._plan.known_window(state.position.sample)
        return {
            "kind": KIND,
            "version": VERSION,
            "graph": self._described_graph(),
            "readers": describe_readers(self._run.readers.by_node, state.position.sample, batching),
            "seed": state.seed,
            **batching.state(),
            "place": list(state.position),
            "epoch": state.epoch,
            "epoch_start": list(state.epoch_start),
            "sources": plain_sources(state.sources),
            "epoch_sources": plain_sources(state.epoch_sources),
            "ended": state.has_ended,
            "started": state.is_started,
            "setups": state.setups,
            "bad_samples": dict(state.bad_samples),
            **({"parameters": state.parameters} if state.parameters else {}),
            **({"window": window} if window else {}),
        }

    def read(self, described: Any, where: str) -> State:
        """Check the plain form of a state, and return the state of this pipeline.

        Parameters
        ----------
        described : object
            What `describe` returned, perhaps in another process.
        where : str
            Start of messages.

        Raises
        ------
        StateMismatchError, ArgumentTypeError
            If it is no state, or none of such a pipeline.
        """
        saved = SavedState(where, described, KIND)
        self.start_eagerly()
        difference = explain_difference(saved.get("graph", dict), self._described_graph())
        if difference:
            raise StateMismatchError(
                f"{saved.where}: the graph must be the one that the state was saved from "
                f"({difference}). Build the pipeline as it was then, or start without the state."
            )
        options, run = self._options, self._run
        seed = saved.number("seed", most=2**64 - 1)
        if options.seed_is_given and seed != run.seed:
            raise saved.mismatch(
                "the seed", run.seed, seed, "Leave out seed to take over that of the state."
            )
        runner = run.runner if run.runner is not None else run.make_runner()
        position = Position(*saved.integers("place", 3))
        batching = options.batching
        before = saved_batching(saved, batching)
        sample = resumed_in_all(saved, run.readers.by_node, position.sample, before, batching)
        for node, step in runner.steps.items():
            counts_samples = step.gives_samples and sample == position.sample
            if before != batching and not (node.dependencies or counts_samples):
                raise saved.mismatch(
                    "the batch size",
                    f"{batching.largest}, as here, since {node.where} gives batches",
                    before.largest,
                    "Keep the batch size; a source of single samples allows another one.",
                )
        epoch = saved.number("epoch")
        if batching.by_lengths and "window" in saved:
            window = saved.integers("window", 3)
            if not batching.remember(window, position.sample):
                raise saved.mismatch("the window of the plan", "one of its position", window)
        if not self._plan.is_possible(sample):
            raise saved.mismatch("the place", "one at which a batch ends", position.sample)
        return State(
            position._replace(sample=sample),
            epoch,
            Position(*saved.integers("epoch_start", 3)),
            check_sources(saved, "sources", runner.steps),
            check_sources(saved, "epoch_sources", runner.steps),
            check_bad_samples(saved),
            seed,
            has_ended=saved.get("ended", bool),
            is_started=saved.get("started", bool),
            setups=saved.number("setups", most=_most_setups(position, epoch)),
            parameters=run.parameters.read(saved),
        )

    def go_to(self, state: State, where: str) -> None:
        """Discard work in flight, and resume from a state.

        Parameters
        ----------
        state : State
            What `current`, `start_of_epoch` or `read` returned.
        where : str
            Start of messages.

        Raises
        ------
        PipelineStateError
            If a source or `iter_setup` cannot go back.
        """
        runner = self.start()
        self._run.check_caller()
        if not self._run.turn.is_free:  # wakes a thread that waits for an earlier batch
            runner.executor.cancel()
        with self._run.turn:
            self._go_to(state, where)

    def _go_to(self, state: State, where: str) -> None:
        hooks, run = self._hooks, self._run
        if hooks.has_setup and state.setups < hooks.num_setups:
            raise PipelineStateError(
                f"{where}: iter_setup must not have been called more often than in the state (got "
                f"{hooks.num_setups} calls, and {state.setups} in the state), since it cannot "
                "go back. Make a new pipeline."
            )
        runner = self.start()
        if state.seed != run.seed:
            # Native operators are built with their seeds; sources need not notice the change.
            runner.rewind(runner.iteration)
            runner.close()
            run.seed = state.seed
            runner = run.make_runner(runner.steps)
        run.in_flight.clear()
        run.is_first = True
        run.has_ended = state.has_ended
        run.forget_wanted()
        hooks.setup_ended = False
        hooks.set_up_for = -1
        runner.restore(state)
        run.parameters.restore(state.parameters)
        # Where batches had been started, `reset` could tell that the epoch was over.
        is_fed = any(step.is_fed for step in runner.steps.values())
        run.looks_ahead = state.is_started and (hooks.has_setup or not is_fed)
        hooks.replay(state.setups)

    def _restore_checkpoint(self) -> None:
        """Load the state that was given to the constructor, if any was."""
        data, where = self._options.checkpoint, "Pipeline: checkpoint"
        if data is None:
            return
        try:
            state = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise StateMismatchError(
                f"{where} must be what Pipeline.checkpoint returned (got {data[:40]!r}). Read it "
                "from the file as it was written."
            ) from error
        self.go_to(self.read(state, where), where)
        self._restored_iterator = state.get("iterator")

    def _may_end(self, runner: Runner) -> bool:
        return self._hooks.has_setup or any(not node.dependencies for node in runner.steps)

    def _described_graph(self) -> dict[str, Any]:
        return describe_graph(self._definition.live_nodes, self._definition.outputs or ())

    @property
    def _setups_given(self) -> int:
        """How often `iter_setup` was called for what was returned."""
        hooks, run = self._hooks, self._run
        if not hooks.has_setup:
            return 0
        unseen_end = hooks.setup_ended and not run.has_ended
        # An interrupt may have come before the batch was started.
        is_early = run.runner is not None and hooks.set_up_for == run.runner.iteration
        not_given = len(run.in_flight) + int(unseen_end or (is_early and not hooks.setup_ended))
        return hooks.num_setups - not_given


def to_bytes(state: Mapping[str, Any], filename: str | os.PathLike[str] | None = None) -> bytes:
    """Return a state as JSON, and write it to a file, which is replaced in one step."""
    data = json.dumps(state).encode()
    if filename is not None:
        write_whole(filename, data)
    return data


def _most_setups(position: Position, epoch: int) -> int:
    """Return how often `iter_setup` is called at most: once a batch, and at the end of each epoch.

    A state that says more would only keep the program busy.
    """
    return 2 * (position.batch + epoch + 1)
