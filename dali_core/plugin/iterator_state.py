"""The state of an iterator: saving it, and resuming from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dali_core.checkpoint.resharding import saved_batching, sizes_that_work
from dali_core.checkpoint.saved_state import VERSION, SavedState
from dali_core.errors import StateMismatchError
from dali_core.pipeline.states import to_bytes
from dali_core.plugin.batch_schedule import (
    BatchSchedule,
    Epochs,
    IncompleteEpochWarning,
    ReaderEpochs,
)
from dali_core.plugin.former_states import with_padded_readers, with_reader
from dali_core.plugin.iterator_arguments import warn
from dali_core.plugin.reference_names import stands_in_for_reference

if TYPE_CHECKING:
    from dali_core.batching.plan import Batching
    from dali_core.checkpoint.state import State
    from dali_core.pipeline import Pipeline

KIND = "dali_core iterator"


class StatefulIterator:
    """The position of an iterator in its epochs: kept, saved and restored."""

    _pipelines: list[Pipeline]
    _epochs: Epochs | None
    _batching: Batching  # of each pipeline
    _reader_name: str | None
    _has_found_reader: bool  # for want of an argument
    _has_padded: bool  # readers that otherwise would not pad
    _epoch_start: list[State] | None
    _before_prepared: list[State] | None  # what had been returned before it

    @property
    def _follows_reference(self) -> bool:
        """Whether epochs begin and end as those of NVIDIA DALI: under `dali_core.compat`."""
        return stands_in_for_reference()

    def _set_position(self, epoch: int, returned: int, lead: int = 0) -> None:
        """Begin at a batch of an epoch, with no work in flight."""
        self._epoch = epoch
        # Batches before the first one of an epoch that follows a complete one: an epoch that
        # follows one left early also begins with the batch in which the two overlap.
        self._lead = lead
        self._taken = returned - lead  # batches of this epoch, without these
        self._begins_with: list[int | None] | None = (
            None  # where a new epoch begins, if the last was left
        )
        self._ever_scheduled = False
        self._ever_consumed = False  # by a caller other than the constructor
        self._prepared: Any = None  # the first batch, or the error that took its place
        self._before_prepared = None
        # Of a batch that was not returned yet, also because of an interrupt: the outputs or the
        # error of each pipeline, and how many pipelines have started another batch.
        self._shared: list[Any] = []
        self._num_scheduled = 0
        self._is_beginning = False  # an epoch
        self._end_is_due = False  # of an epoch, after which the next one has begun

    def _resume(self, epoch: int, returned: int, lead: int = 0) -> None:
        """Continue at a batch; what remains of the epoch comes first, if anything does."""
        self._set_position(epoch, returned, lead)
        self._ever_consumed = self._is_over and self._follows_reference

    @property
    def _num_returned(self) -> int:
        """Number of batches of the epoch that were returned."""
        return self._taken + self._lead - (self._prepared is not None)

    @property
    def _at_start(self) -> bool:
        return self._taken == 0 or self._prepared is not None

    @property
    def _is_over(self) -> bool:
        if self._epochs is None:
            return True  # perhaps; it may be reset in any case
        return not self._epochs.has_batch(self._epoch, self._num_returned - self._lead)

    def state_dict(self) -> dict[str, Any]:
        """Describe which batches were returned, so that another iterator can resume from there.

        A batch that was only prepared does not count.

        Returns
        -------
        dict
            Numbers, texts, lists and dictionaries, which JSON can hold.  It is small and has a
            version.  See `Pipeline.state_dict`.
        """
        return {
            **self._own_state(),
            "pipelines": self._described(self._given()),
            "epoch_start": self._described(self._epoch_start),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from where `state_dict` was called, perhaps in another process.

        Work in flight is discarded.  What the pipelines must have in common with those that the
        state is from is said at `Pipeline.load_state_dict`.  The iterator must count its epochs
        in the same way; the other arguments may differ.  With interleaved shards, the number of
        pipelines may differ as well.

        Parameters
        ----------
        state : mapping
            What `state_dict` returned.  Nothing changes if it does not fit.

        Raises
        ------
        StateMismatchError
            If the state does not fit this iterator; the message says in which way.
        ArgumentTypeError
            If it is no mapping.
        """
        where = "iterator.load_state_dict"
        given = SavedState(where, state, KIND)
        saved = SavedState(where, self._counted_here(given), KIND)
        described = saved.get("pipelines", list)
        states = self._read_all(saved, described)
        start = saved.get("epoch_start", list)
        returned, lead = self._read_returned(saved)
        same_batches = returned == saved.number("taken")
        self._epoch_start = self._read_all(saved, start) if start and same_batches else None
        for pipeline, one in zip(self._pipelines, states, strict=True):
            pipeline.states.go_to(one, "Pipeline.load_state_dict")
        self._resume(saved.number("epoch"), returned, lead)
        if self._has_padded and self._epoch and given.entries.get("last_batch_padded") is False:
            warn(
                f"{where}: epoch {self._epoch} of the state had begun without padding, after its "
                "first sample. It lacks samples; the next ones are complete.",
                IncompleteEpochWarning,
            )

    def checkpoints(self) -> list[bytes]:
        """Return a checkpoint of every pipeline, to be passed to pipelines that resume.

        An iterator over pipelines that are made with these as `checkpoint` resumes where this one
        is.

        Returns
        -------
        list of bytes
            JSON, one entry for each pipeline.
        """
        own = {
            **self._own_state(),
            "epoch_start": self._described(self._epoch_start),
        }
        return [
            to_bytes({**described, "iterator": {**own, "pipeline": number}})
            for number, described in enumerate(self._described(self._given()))
        ]

    def _resume_from_checkpoints(self) -> bool:
        """Resume from what `checkpoints` returned, if the pipelines were made with that."""
        states = [pipeline.states.iterator_state for pipeline in self._pipelines]
        if all(state is None for state in states):
            return False
        where = "iterator over pipelines with checkpoints"
        for number, state in enumerate(states):
            if not isinstance(state, Mapping) or state.get("pipeline") != number:
                raise StateMismatchError(
                    f"{where}: the pipelines must all be made with their own checkpoints (got "
                    f"another one, or none, for pipeline {number}). Pass what checkpoints() "
                    "returned, in its order."
                )
        saved = SavedState(where, states[0], KIND)
        start = saved.get("epoch_start", list)
        if saved.number("num_pipelines", 1) != len(self._pipelines):
            raise saved.mismatch("num_pipelines", len(self._pipelines), len(start))
        returned, lead = self._read_returned(saved)
        same_batches = returned == saved.number("taken")
        self._epoch_start = self._read_all(saved, start) if start and same_batches else None
        self._set_position(saved.number("epoch"), returned, lead)
        return True

    def _given(self) -> list[State]:
        """Return the states of all pipelines, without a batch that was only prepared."""
        if self._prepared is not None and self._before_prepared is not None:
            return self._before_prepared
        return self._current_states()

    def _current_states(self) -> list[State]:
        # What an interrupt has kept from being returned comes once more.
        num_shared = len(self._shared)
        return [
            pipeline.states.current(1) if number < num_shared else pipeline.states.current()
            for number, pipeline in enumerate(self._pipelines)
        ]

    def _described(self, states: Sequence[State] | None) -> list[dict[str, Any]]:
        return [
            pipeline.states.describe(state)
            for pipeline, state in zip(self._pipelines, states or (), strict=False)
        ]

    def _counted_here(self, saved: SavedState) -> Mapping[str, Any]:
        """Return a state that was saved without what this iterator has found or set by itself."""
        state, epochs = saved.entries, self._epochs
        if epochs is None:
            return state
        is_endless = all(state.get(name, "") is None for name in ("reader_name", "size"))
        if self._has_found_reader and is_endless:
            shards = epochs.schedule.plan.epochs.num_shards
            then = epochs.schedule.divided(
                shards, saved_batching(saved, epochs.schedule.plan.batching)
            )
            state = with_reader(state, self._counting(), then)
        elif not self._has_padded or state.get("last_batch_padded") is not False:
            return state
        return with_padded_readers(state) if self._has_padded else state

    def _own_state(self) -> dict[str, Any]:
        schedule = self._epochs.schedule if self._epochs is not None else None
        return {
            "kind": KIND,
            "version": VERSION,
            "epoch": self._epoch,
            "taken": self._num_returned,
            "num_shards": schedule.plan.epochs.num_shards if schedule else 1,
            **(schedule.plan.batching if schedule else self._batching).state(),
            **self._counting(),
        } | ({"lead": self._lead} if self._lead else {})

    def _counting(self) -> dict[str, Any]:
        """Describe how epochs are counted."""
        epochs = self._epochs
        follows_reader = isinstance(epochs, ReaderEpochs)
        return {
            "num_pipelines": len(self._pipelines),
            "reader_name": self._reader_name,
            "size": epochs.schedule.plan.epochs.num_samples
            if epochs and not follows_reader
            else None,
            "last_batch_padded": epochs.schedule.plan.epochs.pad_last_batch if epochs else None,
            "last_batch_policy": epochs.schedule.policy.name if epochs else None,
        }

    def _read_all(self, saved: SavedState, described: Sequence[Any]) -> list[State]:
        """Read the states of pipelines as those of the pipelines that there are now."""
        count = len(self._pipelines)
        if len(described) != count:
            plain = [
                {name: value for name, value in state.items() if name != "bad_samples"}
                for state in described
                if isinstance(state, Mapping)
            ]
            if not plain or self._reader_name is None or any(one != plain[0] for one in plain):
                raise saved.mismatch(
                    "the number of pipelines",
                    count,
                    len(described),
                    "It may only differ where all follow a reader and have the same seed.",
                )
            described = [described[0]] * count
        return [
            pipeline.states.read(state, saved.where)
            for pipeline, state in zip(self._pipelines, described, strict=True)
        ]

    def _read_returned(self, saved: SavedState) -> tuple[int, int]:
        """Return how many batches of the epoch were returned, in batches as they are now.

        The second number is how many of an epoch's batches come before those that it has when it
        follows a complete one.
        """
        saved.number("num_pipelines", 1)
        for name, here in self._counting().items():
            before = saved.get(name, object)
            may_differ = name == "num_pipelines" and self._reader_name is not None
            if before != here and not may_differ:
                raise saved.mismatch(name, repr(here), repr(before), "Pass the same as then.")
        returned, epoch = saved.number("taken"), saved.number("epoch")
        if self._epochs is None:
            return returned, 0
        schedule = self._epochs.schedule
        epochs = schedule.plan.epochs
        before = schedule.divided(
            saved.number("num_shards", 1, max(epochs.num_samples, 1)),
            saved_batching(saved, schedule.plan.batching),
        )
        lead = saved.number("lead", most=before.lead(epoch)) if "lead" in saved else 0
        taken = returned - lead

        def resumed_by(other: BatchSchedule) -> tuple[int, int] | None:
            found = other.resumed(before, epoch, taken, is_fresh=lead > 0)
            if found is None:
                return None
            if other.plan.is_like(before.plan):
                return returned, lead
            leading = other.lead(epoch) if lead else 0
            return found + leading, leading

        resumed = resumed_by(schedule)
        if resumed is None:
            then, size_then = before.plan.epochs.num_shards, before.plan.batching.largest

            def works(batching: Batching) -> bool:
                return resumed_by(schedule.divided(epochs.num_shards, batching)) is not None

            working = sizes_that_work(works, 2 * size_then)
            sizes = (
                f"batches of {' or '.join(map(str, working[-8:]))}"
                if working
                else "the sizes of then"
            )
            raise StateMismatchError(
                f"{saved.where}: the {returned} batches that were given in the epoch must be a "
                "whole number of batches now (got batches of "
                f"{schedule.plan.batching.largest} on {epochs.num_shards} shards, after "
                f"{size_then} on {then}). Use {sizes}."
            )
        return resumed
