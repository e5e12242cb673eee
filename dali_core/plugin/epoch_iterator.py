"""Pipelines in step, epoch by epoch: what an iterator does before batches become arrays."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dali_core._runtime.turn import Turn
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    NoBatchError,
    PipelineStateError,
)
from dali_core.plugin.batch_schedule import Epochs, LastBatchPolicy
from dali_core.plugin.iterator_arguments import (
    check_auto_reset,
    check_pipelines,
    check_policy,
    make_epochs,
)
from dali_core.plugin.iterator_state import StatefulIterator
from dali_core.plugin.reference_names import ReferenceNames, stands_in_for_reference

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline

_logger = logging.getLogger("dali_core")


class EpochIterator(StatefulIterator, ReferenceNames):
    """Take batches from one or several pipelines in step, and decide where an epoch ends.

    Subclasses say in ``__next__`` how a batch is returned. Those that are not written for
    NVIDIA DALI derive from `dali_core.plugin.base_iterator.BaseIterator`, which has the arguments
    in common with this one, and knows what to do with them.

    Parameters
    ----------
    pipelines : Pipeline or list of Pipeline
        Pipelines with the same batch size and the same outputs.
    size, reader_name, auto_reset, fill_last_batch, last_batch_padded, last_batch_policy, \
prepare_first_batch : optional
        See `BaseIterator`. The first batch is prepared by subclasses.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ) -> None:
        self._pipelines = check_pipelines(pipelines)
        self.batch_size = self._pipelines[0].max_batch_size
        self._auto_reset = check_auto_reset(auto_reset)
        self._prepare_first_batch = prepare_first_batch
        policy = check_policy(last_batch_policy, fill_last_batch)
        for pipeline in self._pipelines:
            pipeline.build()
        self._epochs = make_epochs(self._pipelines, size, reader_name, last_batch_padded, policy)
        self._reader_name = reader_name
        self._epoch = 0
        self._taken = 0  # in this epoch
        self._ever_scheduled = False
        self._ever_consumed = False  # by a caller other than the constructor
        self._turn = Turn()
        # Of a batch that was not returned yet, also because of an interrupt: what each pipeline
        # gave, or has raised, and how many have started another batch.
        self._shared: list[Any] = []
        self._num_scheduled = 0
        self._is_beginning = False  # an epoch
        self._end_is_due = False  # of an epoch, after which the next one has begun
        self._has_run_out = False  # a source, since the epoch began
        self._prepared = None  # the first batch, or why there is none
        self._before_prepared = None
        self._epoch_start = self._snapshots()
        self._is_resumed = self._resume_from_checkpoints()

    def __iter__(self) -> EpochIterator:
        """Return the iterator itself, in a new epoch if the last one is over.

        In mid-epoch, the rest of the epoch follows: leaving a loop early loses nothing.
        """
        if self._ever_consumed and not self._at_start:
            self.reset()
        return self

    def __next__(self) -> Any:
        """Return the next batch, or raise StopIteration at the end of the epoch."""
        raise NotImplementedError

    def next(self) -> Any:
        """Return the next batch, or raise StopIteration at the end of the epoch."""
        return next(self)

    def __len__(self) -> int:
        """Return the number of batches in the epoch.

        Raises
        ------
        ArgumentTypeError
            If it is not known; under `dali_core.compat`, it is 0 then, as in NVIDIA DALI.
        """
        if self._epochs is not None:
            return self._epochs.length(self._epoch)
        if stands_in_for_reference():
            return 0
        raise ArgumentTypeError(
            "len(): the iterator must know the size of an epoch (got size=-1, which means until "
            "the source ends). Give it reader_name or size."
        )

    def __bool__(self) -> bool:
        """Be true, also where `len` is not known."""
        return True

    def __repr__(self) -> str:
        """Describe what is iterated over, and how far."""
        epochs, parts = self._epochs, []
        if output_map := getattr(self, "output_map", None):
            parts.append(f"output_map={list(output_map)}")
        parts.append(f"pipelines={len(self._pipelines)}, batch_size={self.batch_size}")
        if self._reader_name is not None:
            parts.append(f"reader_name={self._reader_name!r}")
        given = self._taken - (self._prepared is not None)
        length = ""
        if epochs is not None:
            parts.append(f"size={self.size}, last_batch_policy={self._last_batch_policy.name}")
            length = f" of {epochs.num_given(self._epoch)}"
        given = min(given, epochs.num_given(self._epoch)) if epochs is not None else given
        place = f"epoch {self._epoch}, {given}{length} batches given"
        return f"<{type(self).__name__} {', '.join(parts)}: {place}>"

    @property
    def size(self) -> int:
        """Number of samples that the epoch counts; -1 if it is unknown."""
        return -1 if self._epochs is None else self._epochs.size(self._epoch)

    @property
    def epochs(self) -> Epochs | None:
        """The numbers of batches of all epochs; None if epochs end when the source does."""
        return self._epochs

    def describe(self, num_epochs: int = 4) -> str:
        """Return a table of what the first epochs read, give, pad and drop.

        Below it stands which samples an epoch leaves out or gives again, and what to do about it.
        """
        if self._epochs is None:
            return "an epoch ends when the source does"
        notes = self._epochs.losses()
        return "\n".join([self._epochs.describe(num_epochs), *notes])

    def headroom(self) -> float:
        """Return how many times as fast the pipelines could make batches as they are taken.

        See `PipelineStatistics.headroom`; of several pipelines the slowest counts.
        """
        return min(pipeline.statistics().headroom for pipeline in self._pipelines)

    def reset(self) -> None:
        """Begin the next epoch, if this one is over; else log a warning and do nothing.

        An iterator of unknown size can always be reset.  Its source starts again if it has ended
        and can do so; otherwise it continues.
        """
        epochs = self._epochs
        self._end_is_due = False
        if self._prepared is not None:
            return
        if epochs is None:
            self._begin_next_epoch()
            return
        if self._taken == 0 < epochs.num_given(self._epoch):
            return
        self._discard_dropped(epochs)
        if self._taken >= epochs.num_taken(self._epoch):
            self._begin_next_epoch()
        else:
            _logger.warning(
                "reset: ignored, since the epoch is not over. Iterate to its end first."
            )

    @property
    def _at_start(self) -> bool:
        return self._taken == 0 or self._prepared is not None

    @property
    def _is_over(self) -> bool:
        if self._epochs is None:
            return True  # perhaps; it may be reset in any case
        return self._taken >= self._epochs.num_given(self._epoch)

    def _begin_next_epoch(self, *, is_end: bool = False) -> None:
        # If an interrupt comes, the next batch begins with this.
        self._end_is_due = is_end
        self._is_beginning = True
        for pipeline in self._pipelines:
            pipeline.reset()
        start = self._snapshots()
        self._epoch += 1
        self._taken = 0
        self._epoch_start = start
        self._ever_scheduled = self._has_run_out = False
        self._is_beginning = False
        self._schedule_first()

    def _begin_batch(self) -> None:
        """Start the pipelines if need be; raise StopIteration if the epoch is over."""
        if self._is_beginning:
            self._begin_next_epoch(is_end=self._end_is_due)
        if self._end_is_due:
            self._end_is_due = False
            raise StopIteration
        self._schedule_first()
        epochs = self._epochs
        if epochs is None or self._taken < epochs.num_given(self._epoch):
            return
        self._discard_dropped(epochs)
        self._end_iteration()

    def _schedule_first(self) -> None:
        if self._ever_scheduled:
            return
        for pipeline in self._pipelines:
            if pipeline.empty():
                pipeline.schedule_run()
        self._ever_scheduled = True

    def _end_iteration(self) -> None:
        if self._auto_reset:
            self._begin_next_epoch(is_end=True)
        self._end_is_due = False
        raise StopIteration

    def _discard_dropped(self, epochs: Epochs) -> None:
        if epochs.num_given(self._epoch) <= self._taken < epochs.num_taken(self._epoch):
            self._schedule_first()
            try:
                self._share_all().clear()
                self._finish_batch()
            except (StopIteration, ArgumentConflictError):
                raise
            except Exception as error:
                # It is not raised, since the batch would not have been returned.
                _logger.debug("a batch that is dropped has failed: %s", error)

    def _finish_batch(self) -> None:
        """Start the next batch of every pipeline, and count the one that was shared."""
        self._schedule_runs()
        self._shared = []
        self._num_scheduled = 0
        self._taken += 1

    def _get_outputs(self) -> list[Sequence[Any]]:
        """Return the next outputs of every pipeline, or raise StopIteration.

        Afterwards there must be calls of `_schedule_runs` and `_advance_and_check_drop_last`.
        """
        self._begin_batch()
        outputs = self._share_all()
        self._shared = []
        return outputs

    def _schedule_runs(self, release_outputs: bool = True) -> None:
        """Have every pipeline compute one batch more, after the last outputs were released."""
        self._ever_scheduled = True
        for number, pipeline in enumerate(self._pipelines):
            if number < self._num_scheduled:
                continue
            # What has failed was released by itself.
            is_shared = not (self._shared and isinstance(self._shared[number], Exception))
            if release_outputs and is_shared:
                pipeline.release_outputs()
            pipeline.schedule_run()
            self._num_scheduled = number + 1
        self._num_scheduled = 0 if not self._shared else len(self._pipelines)

    def _advance_and_check_drop_last(
        self, dry_run: bool = False, end_iteration: bool = True
    ) -> bool:
        """Count a batch. One that is to be dropped is never returned, so none ends the epoch."""
        self._taken += not dry_run
        return False

    def _share_all(self) -> list[Sequence[Any]]:
        """Take a batch from every pipeline. It remains theirs until `_schedule_runs`.

        What an interrupt has left is there already. `_finish_batch` has to follow.
        """
        outputs: list[Sequence[Any]] = []
        failure: Exception | None = None
        shared: Any = None
        try:
            while len(self._shared) < len(self._pipelines):
                pipeline = self._pipelines[len(self._shared)]
                try:
                    # Assignments, without a call in between: nothing is lost here.
                    self._shared += [self._share(pipeline)]
                except NoBatchError as error:
                    if self._has_run_out:  # that of another pipeline: no more was started then
                        raise StopIteration from error
                    raise PipelineStateError(
                        "iterator: its pipelines must be used by it alone (a batch is missing: "
                        f"{error}). Do not call outputs or run of a pipeline that is iterated over."
                    ) from error
                except StopIteration:
                    raise
                except Exception as error:
                    # The others continue to the same batch, so that all stay in step.
                    self._shared += [error]
            for shared in self._shared:
                if isinstance(shared, Exception):
                    failure = failure or shared
                else:
                    outputs += [shared]
            if failure is not None:
                self._finish_batch()
                raise failure
            if self._epochs is not None:
                try:
                    _check_full(outputs, self.batch_size)
                except ArgumentConflictError:
                    self._schedule_runs()
                    self._shared = []
                    self._num_scheduled = 0
                    raise
            return outputs
        except StopIteration:
            # Nothing more is started: the batches of the others belong to none of this one.
            self._has_run_out = True
            self._release(self._shared)
            self._shared = []
            if self._epochs is None and self._auto_reset:
                self._begin_next_epoch(is_end=True)
                self._end_is_due = False
            raise
        finally:
            # An error refers to this frame, which must not refer back, nor to batches.
            failure = shared = None
            outputs = []

    def _share(self, pipeline: Pipeline) -> Sequence[Any]:
        return pipeline.share_outputs()

    def _release(self, shared: Sequence[Any]) -> None:
        for pipeline, outputs in zip(self._pipelines, shared, strict=False):
            if not isinstance(outputs, Exception):
                pipeline.release_outputs()


def _check_full(shared: Sequence[Sequence[Any]], batch_size: int) -> None:
    """Refuse batches of other lengths, by which an epoch's samples cannot be counted."""
    for outputs in shared:
        for batch in outputs:
            if len(batch) != batch_size:
                raise ArgumentConflictError(
                    f"iterator: every batch must have {batch_size} samples where size or "
                    f"reader_name says how long an epoch is (got {len(batch)}). Leave size out, so "
                    "that the epoch ends with its source, or fill the batch."
                )
