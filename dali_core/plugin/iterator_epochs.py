"""The beginnings of an iterator's epochs: by a loop, and by request."""

from __future__ import annotations

import logging
import operator
from typing import TYPE_CHECKING

from dali_core.batching.planned_schedule import PlannedSchedule
from dali_core.batching.planned_step import PlannedStep
from dali_core.errors import ArgumentTypeError, ArgumentValueError, PipelineStateError
from dali_core.plugin.batch_schedule import Epochs, ReaderEpochs
from dali_core.plugin.iterator_state import StatefulIterator

if TYPE_CHECKING:
    from typing_extensions import Self

_logger = logging.getLogger("dali_core")


class EpochStarts(StatefulIterator):
    """Decides which epoch a loop goes through, and begins it."""

    _is_beginning: bool
    _end_is_due: bool
    _has_run_out: bool

    if TYPE_CHECKING:

        def _discard_dropped(self, epochs: Epochs) -> None: ...
        def _schedule_first(self) -> None: ...

    @property
    def epoch(self) -> int:
        """Number of the epoch, from 0, whose batches are returned."""
        return self._epoch

    @property
    def num_returned(self) -> int:
        """Number of batches of the epoch that were returned."""
        if self._epochs is None:
            return self._num_returned
        # A batch that was dropped is taken after these.
        return min(self._num_returned, self._epochs.num_given(self._epoch) + self._lead)

    @property
    def step(self) -> PlannedStep | None:
        """Samples and tokens of the batch that was returned last, and the tokens of all processes.

        It is known from the lengths, without communication. None before the first batch of an
        epoch, and where batches are not divided by lengths.
        """
        index = self._num_returned - self._lead - 1
        if self._epochs is None or index < 0:
            return None
        if not self._epochs.has_batch(self._epoch, index):
            index -= 1  # one that is dropped was taken at the end
        return self._epochs.step(self._epoch, index)

    def __iter__(self) -> Self:
        """Return the iterator itself, at the first batch of an epoch.

        Once a batch was returned, that is the next epoch, and what remains of this one is skipped
        without being computed; else it is this one. After a state was loaded, the first loop
        resumes there.

        Under `dali_core.compat`, the rest of an epoch follows, as in NVIDIA DALI.
        """
        for pipeline in self._pipelines:
            pipeline.states.begin_loop()
        if self._follows_reference:
            if self._ever_consumed and not self._at_start:
                self.reset()
        elif self._num_returned and (self._ever_consumed or self._is_over):
            self.reset()
        return self

    def reset(self) -> None:
        """Begin the next epoch, unless no batch of this one was returned.

        In mid-epoch the batches that remain are skipped without being computed, also where a state
        was loaded. The first batch of an epoch that follows one left early is the one with its
        first sample: without padding, and with ``LastBatchPolicy.FILL``, it may begin with samples
        of the epoch before.

        Under `dali_core.compat`, it logs a warning in mid-epoch and does nothing, as in NVIDIA
        DALI.

        Raises
        ------
        PipelineStateError
            If a function of the user does not return.
        """
        epochs = self._epochs
        self._end_is_due = False
        if self._follows_reference:
            self._reset_at_end(epochs)
        elif self._is_beginning:  # an interrupt came
            self._begin_next_epoch()
        elif self._num_returned or self._has_run_out or self._has_no_batches:
            if self._prepared is None and epochs is not None:
                self._discard_dropped(epochs)
            if self._is_complete:
                self._begin_next_epoch()
            else:
                self._leave_for(self._epoch + 1)

    def set_epoch(self, epoch: int) -> None:
        """Have the next loop iterate over an epoch, as samplers of PyTorch do.

        It does nothing if that epoch comes next, or was resumed by a state.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If it is no such number.
        PipelineStateError
            If it is neither this epoch nor the next one, and the size of epochs is not known, or
            there is a source in Python.
        """
        try:
            epoch = operator.index(epoch)
        except TypeError as error:
            raise ArgumentTypeError(
                f"iterator.set_epoch: must be an integer (got {epoch!r}). Count epochs from 0."
            ) from error
        if epoch < 0:
            raise ArgumentValueError(
                f"iterator.set_epoch: must not be negative (got {epoch}). Count epochs from 0."
            )
        if epoch == self._epoch:
            if self._ever_consumed and self._num_returned:
                self.restart()
        elif epoch == self._epoch + 1:
            if self._num_returned:
                self.reset()
            else:
                self._leave_for(epoch)
        elif self._epochs is None:
            raise PipelineStateError(
                f"iterator.set_epoch: must be {self._epoch} or {self._epoch + 1} here (got "
                f"{epoch}), since the size of epochs is not known. Pass reader_name."
            )
        else:
            for pipeline in self._pipelines:
                pipeline.states.check_seekable("iterator.set_epoch")
            if isinstance(self._epochs.schedule, PlannedSchedule):
                self.seek(epoch)  # without the number of batches of the epochs between
                return
            batches = self._first_batches(self._epochs, epoch)
            for pipeline, batch in zip(self._pipelines, batches, strict=True):
                pipeline.states.skip_to(batch, "iterator.set_epoch")
            self._epoch_start = self._current_states()
            self._resume(epoch, 0, self._epochs.lead(epoch))

    def restart(self) -> None:
        """Begin the epoch afresh: the same batches come again, from the first one.

        Work in flight is discarded.  `reset`, in contrast, begins the next epoch.

        Raises
        ------
        PipelineStateError
            If a source cannot start over, or if this epoch began with another batch size, before
            a state was loaded.
        """
        if self._epoch_start is None:
            raise PipelineStateError(
                "iterator.restart: it must be known where the epoch began (a state was loaded in "
                "mid-epoch with another batch size or number of shards). Finish the epoch first."
            )
        for pipeline, state in zip(self._pipelines, self._epoch_start, strict=True):
            pipeline.states.go_to(state, "iterator.restart")
        self._resume(self._epoch, 0, self._lead)

    def seek(self, epoch: int, batch: int = 0) -> None:
        """Continue with any batch of any epoch, without computing those before it.

        Work in flight is discarded.  The epoch is the one that follows a complete one.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.
        batch : int
            Number of the batch in it, from 0; `len` at most, which is the end of the epoch.

        Raises
        ------
        ArgumentValueError
            If there is no such batch.
        PipelineStateError
            If epochs do not follow a reader, or there is a source in Python.
        """
        epochs = self._epochs
        if not isinstance(epochs, ReaderEpochs):
            raise PipelineStateError(
                "iterator.seek: epochs must follow a reader (there is none). Pass reader_name."
            )
        is_there = min(epoch, batch) >= 0 and (not batch or epochs.has_batch(epoch, batch - 1))
        if not is_there:
            length = epochs.num_given(epoch) if epoch >= 0 else 0
            raise ArgumentValueError(
                f"iterator.seek: there must be such a batch (got epoch {epoch}, batch {batch}; the "
                f"epoch has {length}). Count both from 0."
            )
        begin = epochs.schedule.first_batch(epoch)
        where = "iterator.seek"
        starts = [pipeline.states.before_batch(begin, where) for pipeline in self._pipelines]
        for pipeline in self._pipelines:
            states = pipeline.states
            states.go_to(states.before_batch(begin + batch, where), where)
        self._epoch_start = starts
        self._resume(epoch, batch)

    def skip(self, num_batches: int) -> None:
        """Leave out the next batches of the epoch, without computing them.

        Work in flight is discarded.  The next loop continues after them.

        Parameters
        ----------
        num_batches : int
            How many; no more than remain of the epoch.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If it is no such number.
        PipelineStateError
            If there is a source in Python, which could not skip batches.
        """
        try:
            num_batches = operator.index(num_batches)
        except TypeError as error:
            raise ArgumentTypeError(
                f"iterator.skip: must be an integer (got {num_batches!r}). Give the number of "
                "batches to leave out."
            ) from error
        returned, epochs = self._num_returned + num_batches, self._epochs
        last = returned - self._lead - 1
        is_there = not num_batches or epochs is None or epochs.has_batch(self._epoch, last)
        if num_batches < 0 or not is_there:
            length = None if epochs is None else epochs.num_given(self._epoch) + self._lead
            rest = "" if length is None else f", of which {length - self._num_returned} remain"
            raise ArgumentValueError(
                f"iterator.skip: must be a number of batches of epoch {self._epoch}{rest} (got "
                f"{num_batches}). Skip fewer."
            )
        for pipeline in self._pipelines:
            pipeline.states.check_seekable("iterator.skip")
        numbers = [state.position.batch + num_batches for state in self._given()]
        for pipeline, number in zip(self._pipelines, numbers, strict=True):
            pipeline.states.skip_to(number, "iterator.skip")
        self._resume(self._epoch, returned, self._lead)

    @property
    def _has_no_batches(self) -> bool:
        return self._epochs is not None and not self._epochs.has_batch(self._epoch, -self._lead)

    @property
    def _is_complete(self) -> bool:
        """Whether nothing remains of the epoch, as far as is known."""
        if self._epochs is None:
            return self._has_run_out or not self._ever_consumed
        return self._is_over

    def _reset_at_end(self, epochs: Epochs | None) -> None:
        """Begin the next epoch, if this one is over; else log a warning and do nothing.

        An iterator of unknown size can always be reset.  Its source starts again if it has ended
        and can do so; otherwise it continues.
        """
        if self._prepared is not None:
            return
        if epochs is None:
            self._begin_next_epoch()
            return
        if self._taken == 0 and epochs.has_batch(self._epoch, 0):
            return
        self._discard_dropped(epochs)
        if self._taken >= epochs.num_taken(self._epoch):
            self._begin_next_epoch()
        else:
            _logger.warning(
                "reset: ignored, since the epoch is not over. Iterate to its end first."
            )

    def _leave_for(self, epoch: int) -> None:
        """Begin the next epoch at its first sample, and skip the rest of this one."""
        epochs = self._epochs
        self._begins_with = (
            [None] * len(self._pipelines) if epochs is None else self._first_batches(epochs, epoch)
        )
        self._begin_next_epoch()

    def _first_batches(self, epochs: Epochs, epoch: int) -> list[int | None]:
        """Return the number of the batch, in each pipeline, that has the epoch's first sample."""
        schedule = epochs.schedule
        ahead = schedule.ahead(self._epoch, epoch) - epochs.lead(epoch) - self._taken
        return [state.position.batch + ahead for state in self._current_states()]

    def _begin_next_epoch(self, *, is_end: bool = False) -> None:
        # If an interrupt comes, the next batch begins with this.
        self._end_is_due = is_end
        self._is_beginning = True
        lead = 0
        if self._begins_with is None:
            for pipeline in self._pipelines:
                pipeline.reset()
        else:
            self._prepared = None
            for pipeline, batch in zip(self._pipelines, self._begins_with, strict=True):
                pipeline.states.skip_to(batch, "iterator")
            self._shared = []
            self._num_scheduled = 0
            lead = 0 if self._epochs is None else self._epochs.lead(self._epoch + 1)
        start = self._current_states()
        self._epoch += 1
        self._taken = -lead
        self._lead = lead
        self._epoch_start = start
        self._ever_scheduled = self._has_run_out = False
        self._begins_with = None
        self._is_beginning = False
        self._schedule_first()
