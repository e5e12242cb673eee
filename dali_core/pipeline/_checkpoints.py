"""The state of a pipeline: saving it, and going on from it."""

from __future__ import annotations

import contextlib
import json
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dali_core._execution.bad_samples import counted_anew
from dali_core._execution.progress import Place, Progress
from dali_core._execution.readers import Readers
from dali_core._execution.resume import (
    check_bad_samples,
    check_sources,
    describe_readers,
    plain_sources,
    resumed_in_all,
)
from dali_core._execution.runner import Runner
from dali_core._execution.saved_state import MOST_SAMPLES, VERSION, SavedState
from dali_core._graph.context import warn_user
from dali_core._graph.fingerprint import describe_graph, explain_difference
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._runtime.step import Step
from dali_core.errors import PipelineStateError, StateMismatchError

KIND = "dali_core.Pipeline"


@dataclass(frozen=True)
class Snapshot:
    """What a pipeline has given out, and whatever else decides how it goes on.

    Attributes
    ----------
    progress : Progress
        What was given out.
    seed : int
        Seed of the pipeline.
    has_ended : bool
        Whether the consumer has met the end of the data.
    is_started : bool
        Whether there was work in flight.
    setups : int
        Calls of `iter_setup` for what was given out.
    """

    progress: Progress
    seed: int
    has_ended: bool = False
    is_started: bool = False
    setups: int = 0


class PipelineCheckpoints:
    """The part of `Pipeline` that saves and restores how far it has come."""

    _batch_size: int
    _checkpoint: str | bytes | None
    _graph: Graph
    _has_ended: bool
    _in_flight: deque[Any]
    _is_first_run: bool
    _is_replaying: bool
    _looks_ahead: bool
    _num_setups: int
    _epoch_setups: int
    _num_shared: int
    _outputs: list[DataNode] | None
    _readers: Readers
    _restored_iterator: Mapping[str, Any] | None
    _runner: Runner | None
    _seed: int
    _seed_is_given: bool
    _setup_ended: bool

    if TYPE_CHECKING:

        def build(self) -> None: ...

        def iter_setup(self) -> None: ...

        def _start(self) -> Runner: ...

        def _make_runner(self, steps: Mapping[OperatorNode, Step] | None = None) -> Runner: ...

        @property
        def _has_setup(self) -> bool: ...

        @property
        def _live_nodes(self) -> list[OperatorNode]: ...

    def state_dict(self) -> dict[str, Any]:
        """Describe what has been given out, so that another pipeline can go on from there.

        What was computed ahead does not count: a pipeline that loads the state gives the batches
        that this one would give next.

        Returns
        -------
        dict
            Numbers, texts, lists and dictionaries, which JSON can hold.  It is small and has a
            version.  Sources with a ``state_dict`` of their own add theirs.

        Raises
        ------
        StateMismatchError
            If the state of a source is not plain data.
        """
        return self._describe(self._snapshot())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from where `state_dict` was called, perhaps in another process.

        Work in flight is discarded.  The graph must have the same operators, and readers the same
        data and order; arguments of other operators may differ.  The pipeline may have another
        number of threads, another prefetch depth, and another batch size if it reads samples by
        number.  Interleaved shards may also be more or fewer than before.  A pipeline without a
        seed takes that of the state.

        The state says nothing about the shard, so that of one process serves all that read
        other shards of the same data with the same seed.

        Parameters
        ----------
        state : mapping
            What `state_dict` returned.  Nothing changes if it does not fit.

        Raises
        ------
        StateMismatchError
            If the state does not fit this pipeline; the message says in which way.
        ArgumentTypeError
            If it is no mapping.
        PipelineStateError
            If a source or `iter_setup` has given data already and cannot start over.
        """
        self._go_to(self._read(state))

    def restart(self) -> None:
        """Begin the epoch afresh: go back to the last `reset` that took effect, or to the start.

        Work in flight is discarded.  The same batches come again.

        Raises
        ------
        PipelineStateError
            If a source or `iter_setup` cannot start over.
        """
        self._start()
        now = self._snapshot()
        progress = replace(
            now.progress,
            place=now.progress.epoch_start,
            sources=now.progress.epoch_sources,
            bad_samples=counted_anew(now.progress.bad_samples),
        )
        self._go_to(
            Snapshot(progress, now.seed, setups=self._epoch_setups), where="Pipeline.restart"
        )

    def checkpoint(self, filename: str | os.PathLike[str] | None = None) -> bytes:
        """Return the state as JSON, to be passed as `checkpoint` to a pipeline that goes on.

        Parameters
        ----------
        filename : path, optional
            File to write it to as well; it is replaced in one step.

        Returns
        -------
        bytes
            JSON of what `state_dict` returns.
        """
        return self._write_checkpoint(self.state_dict(), filename)

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether the pipeline was built from a `checkpoint`."""
        return self._checkpoint is not None and self._runner is not None

    @staticmethod
    def _write_checkpoint(
        state: Mapping[str, Any], filename: str | os.PathLike[str] | None = None
    ) -> bytes:
        data = json.dumps(state).encode()
        if filename is not None:
            unfinished = f"{os.fspath(filename)}.{os.getpid()}.tmp"
            with open(unfinished, "wb") as file:
                file.write(data)
            os.replace(unfinished, filename)
        return data

    @property
    def _iterator_state(self) -> Mapping[str, Any] | None:
        """What an iterator added to the checkpoint, as long as no batch was taken after it."""
        if self._restored_iterator is None or self._runner is None or self._in_flight:
            return None
        return self._restored_iterator if self._is_first_run else None

    def _restore_checkpoint(self) -> Runner | None:
        """Load the state that was given to the constructor, and return the runner if there is."""
        if self._checkpoint is None:
            return None
        try:
            state = json.loads(self._checkpoint)
        except (ValueError, RecursionError) as error:
            raise StateMismatchError(
                "Pipeline: checkpoint must be what Pipeline.checkpoint returned (got "
                f"{self._checkpoint[:40]!r}). Read it from the file as it was written."
            ) from error
        self._go_to(self._read(state, "Pipeline: checkpoint"), "Pipeline: checkpoint")
        self._restored_iterator = state.get("iterator")
        return self._runner

    # What iterators use as well

    def _snapshot(self) -> Snapshot:
        """Take down what has been given out."""
        if self._runner is None and self._checkpoint is None:
            return Snapshot(Progress(), self._seed)  # nothing; a lazy reader remains one
        runner = self._start()
        place = self._in_flight[0].iteration if self._in_flight else runner.iteration
        return Snapshot(
            runner.progress(place, has_ended=self._has_ended),
            self._seed,
            has_ended=self._has_ended,
            is_started=bool(self._in_flight),
            setups=self._setups_given,
        )

    def _describe(self, snapshot: Snapshot) -> dict[str, Any]:
        """Turn a snapshot into plain data."""
        self._start()
        progress = snapshot.progress
        return {
            "kind": KIND,
            "version": VERSION,
            "graph": describe_graph(self._live_nodes, self._outputs or ()),
            "readers": describe_readers(self._readers.by_node),
            "seed": snapshot.seed,
            "batch_size": self._batch_size,
            "place": list(progress.place),
            "epoch": progress.epoch,
            "epoch_start": list(progress.epoch_start),
            "sources": plain_sources(progress.sources),
            "epoch_sources": plain_sources(progress.epoch_sources),
            "ended": snapshot.has_ended,
            "started": snapshot.is_started,
            "setups": snapshot.setups,
            "bad_samples": dict(progress.bad_samples),
        }

    def _read(self, state: Any, where: str = "Pipeline.load_state_dict") -> Snapshot:
        """Check a state, and turn it into a snapshot of this pipeline."""
        saved = SavedState(where, state, KIND)
        self.build()
        difference = explain_difference(
            saved.get("graph", dict), describe_graph(self._live_nodes, self._outputs or ())
        )
        if difference:
            raise StateMismatchError(
                f"{saved.where}: the graph must be the one that the state was saved from "
                f"({difference}). Build the pipeline as it was then, or start without the state."
            )
        seed = saved.number("seed", most=2**64 - 1)
        if self._seed_is_given and seed != self._seed:
            raise saved.mismatch(
                "the seed", self._seed, seed, "Leave out seed to take over that of the state."
            )
        runner = self._runner if self._runner is not None else self._make_runner()
        place = Place(*saved.integers("place", 3))
        batch_size = saved.number("batch_size", 1, MOST_SAMPLES)
        position = resumed_in_all(
            saved, self._readers.by_node, place.position, batch_size, self._batch_size
        )
        for node, step in runner.steps.items():
            counts_samples = getattr(step, "gives_samples", False) and position == place.position
            if batch_size != self._batch_size and not (node.dependencies or counts_samples):
                raise saved.mismatch(
                    "the batch size",
                    f"{self._batch_size}, as here, since {node.where} gives batches",
                    batch_size,
                    "Keep the batch size; a source of single samples allows another one.",
                )
        epoch = saved.number("epoch")
        progress = Progress(
            place._replace(position=position),
            epoch,
            Place(*saved.integers("epoch_start", 3)),
            check_sources(saved, "sources", runner.steps),
            check_sources(saved, "epoch_sources", runner.steps),
            check_bad_samples(saved),
        )
        return Snapshot(
            progress,
            seed,
            has_ended=saved.get("ended", bool),
            is_started=saved.get("started", bool),
            setups=saved.number("setups", most=_most_setups(place, epoch)),
        )

    def _go_to(self, snapshot: Snapshot, where: str = "Pipeline.load_state_dict") -> None:
        """Discard work in flight, and go on from a snapshot."""
        self._check_setups(where, snapshot.setups)
        runner = self._start()
        if snapshot.seed != self._seed:
            # Native operators are built with their seeds; sources need not notice the change.
            runner.rewind(runner.iteration)
            runner.close()
            self._seed = snapshot.seed
            runner = self._make_runner(runner.steps)
        self._in_flight.clear()
        self._num_shared = 0
        self._is_first_run = True
        self._has_ended = snapshot.has_ended
        self._setup_ended = False
        runner.restore(snapshot.progress)
        # Where batches had been started, `reset` could tell that the epoch was over.
        is_fed = any(getattr(step, "is_fed", False) for step in runner.steps.values())
        self._looks_ahead = snapshot.is_started and (self._has_setup or not is_fed)
        self._replay_setups(snapshot.setups)

    # Subclasses that override iter_setup: it is called ahead, and does not say what it depends on.

    @property
    def _setups_given(self) -> int:
        """How often `iter_setup` was called for what was given out."""
        if not self._has_setup:
            return 0
        unseen_end = self._setup_ended and not self._has_ended
        return self._num_setups - len(self._in_flight) - int(unseen_end)

    def _check_setups(self, where: str, wanted: int) -> None:
        if self._has_setup and wanted < self._num_setups:
            raise PipelineStateError(
                f"{where}: iter_setup must not have been called more often than in the state (got "
                f"{self._num_setups} calls, and {wanted} in the state), since it cannot go back. "
                "Make a new pipeline."
            )

    def _replay_setups(self, wanted: int) -> None:
        """Call `iter_setup` as often as it was called before; what it feeds is not needed."""
        if not self._has_setup:
            return
        self._is_replaying = True
        try:
            while self._num_setups < wanted:
                self._num_setups += 1
                with contextlib.suppress(StopIteration):  # the end of an epoch before
                    self.iter_setup()
        finally:
            self._is_replaying = False


def warn_of_lost_states(steps: Mapping[OperatorNode, Step]) -> None:
    """Warn of sources in Python that cannot go on from a checkpoint."""
    for node, step in steps.items():
        if getattr(step, "loses_state", False):
            warn_user(
                f"{node.where}: a checkpoint cannot say how far the source has come, which is a "
                "callable without an argument. Let it take the number of the batch or a "
                "SampleInfo, or give it state_dict and load_state_dict.",
                UserWarning,
            )


def _most_setups(place: Place, epoch: int) -> int:
    """Give how often `iter_setup` is called at most: once a batch, and for the end of each epoch.

    A state that says more would only keep the program busy.
    """
    return 2 * (place.iteration + epoch + 1)
