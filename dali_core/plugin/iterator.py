"""The iterator over pipelines that the adapters of all frameworks share.

One class takes batches from its pipelines in step, ends epochs, and has an `Adapter` convert the
batches. Apart from it are the counting of batches (`batch_schedule`), saved states
(`iterator_state`), and the private names of NVIDIA DALI (`reference_names`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dali_core._display.outline import Outline
from dali_core._runtime.tensor_list_gpu import TensorListGPU
from dali_core._runtime.turn import Turn
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    NoBatchError,
    PipelineStateError,
    SampleError,
)
from dali_core.plugin.batch_schedule import Epochs, LastBatchPolicy
from dali_core.plugin.iterator_arguments import (
    check_auto_reset,
    check_full,
    check_output_map,
    check_output_types,
    check_outputs,
    check_pipelines,
    check_policy,
    check_size,
    check_uniform,
    make_epochs,
    warn_of_losses,
)
from dali_core.plugin.iterator_epochs import EpochStarts
from dali_core.plugin.leading_reader import leading_reader, pad_epochs
from dali_core.plugin.loader_uses import LoaderUses
from dali_core.plugin.reference_names import ReferenceNames

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline
    from dali_core.plugin.conversion import Converter

_logger = logging.getLogger("dali_core")


class BaseIterator(EpochStarts, ReferenceNames, LoaderUses):
    """Iterate over the outputs of pipelines, epoch by epoch.

    Each batch is a list with a dictionary ``{output name: array}`` for every pipeline, unless the
    adapter puts it together in another way.  Arrays own their memory and are never overwritten.

    Parameters
    ----------
    pipelines : Pipeline or list of Pipeline
        Pipelines with the same batch size and the same outputs.
    output_map : list of str
        Distinct names for the outputs, in order.
    adapter : Adapter
        Turns batches into arrays of a framework.
    size : int, optional
        Samples in an epoch, of all pipelines together.  A negative number means that the reader
        says it, or, where there is a source in Python, that it is unknown: the epoch of a single
        pipeline then ends when its source raises StopIteration.
    reader_name : str, optional
        Name of the reader to follow, in all pipelines.  Size, shards and padding are taken from
        it; it excludes `size`.  Without both, the reader is found; of several, which must have the
        same epochs, that is the first.  It must be named beside a source in Python, and, as in
        NVIDIA DALI, under `dali_core.compat`.
    auto_reset : bool or {"yes", "no"}, optional
        Begin the next epoch by itself when one is over; else `reset` or ``iter()`` does.  A loop
        that follows one left early begins the next epoch in any case.
    fill_last_batch : bool, optional
        Deprecated: True means ``LastBatchPolicy.FILL``, False ``LastBatchPolicy.PARTIAL``.
    last_batch_padded : bool, optional
        Whether the pipelines repeat a sample to fill an epoch's last batch (True) or continue with
        the next epoch (False).  Only with `size`; it must match the reader's `pad_last_batch`.
    last_batch_policy : LastBatchPolicy, optional
        What to do with the last batch if the epoch's samples do not fill it.  With PARTIAL and DROP
        the readers of pipelines that are not built yet are made to pad, whatever their
        `pad_last_batch`, so that every epoch begins with its own first sample; not beside a source
        in Python, and not under `dali_core.compat`.
    prepare_first_batch : bool, optional
        Compute the first batch right away rather than when it is asked for.
    output_types : sequence of str, optional
        For each output, one of the adapter's `representations`; ``"dense"`` by default.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If arguments contradict each other or the pipelines.
    PipelineStateError
        If there is not a single batch to prepare.
    Exception
        What a source raised for the batch to prepare.

    Warns
    -----
    IncompleteEpochWarning
        Once, with the first batch by which an epoch is not exactly the data set: samples are
        missing, beside those that DROP leaves out, or are followed by repetitions or by samples of
        another epoch.  `describe` has the numbers of every epoch.

    Notes
    -----
    Without padding, the samples of an epoch that were returned with the one before are not returned
    again, so with FILL the number of batches varies from epoch to epoch.  With PARTIAL and DROP
    every epoch has the same number of batches; without padding it begins with the batch after the
    last one.
    """

    _finds_reader = True
    """Whether the reader of the pipelines is followed if nothing says how long an epoch is."""
    _warns_of_losses = True
    """Whether a warning says that epochs are not exactly the data set."""

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        adapter: Converter,
        *,
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        output_types: Sequence[str] | None = None,
    ) -> None:
        self.adapter = adapter
        # Listed anew, so that it stays what was checked; these names are the reference's.
        self.output_map = check_output_map(output_map)
        self._output_categories = set(self.output_map)
        self._output_types = check_output_types(output_types, self.output_map, adapter)
        self._open(
            pipelines,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )
        if prepare_first_batch:
            self._prepare()

    def _open(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        size: int,
        reader_name: str | None,
        auto_reset: str | bool | None,
        fill_last_batch: bool | None,
        last_batch_padded: bool,
        last_batch_policy: LastBatchPolicy,
        prepare_first_batch: bool,
    ) -> None:
        """Build the pipelines, and begin where their checkpoints are."""
        self._pipelines = check_pipelines(pipelines)
        self._auto_reset = check_auto_reset(auto_reset)
        self._prepare_first_batch = prepare_first_batch
        policy, size = check_policy(last_batch_policy, fill_last_batch), check_size(size)
        follows_reference, is_partial = self._follows_reference, policy is LastBatchPolicy.PARTIAL
        is_open = size < 0 and reader_name is None
        self._has_found_reader = is_open and self._finds_reader and not follows_reference
        self._has_padded = (
            (reader_name is not None or self._has_found_reader)
            and not follows_reference
            and (policy is not LastBatchPolicy.FILL or last_batch_padded)
            and pad_epochs(self._pipelines)
        )
        for pipeline in self._pipelines:
            pipeline.build()
        self._batching = self._pipelines[0].batching  # of lengths that are known by now
        self.batch_size = self._batching.largest
        readers = [
            leading_reader(pipeline) if self._has_found_reader else reader_name
            for pipeline in self._pipelines
        ]
        self._epochs = make_epochs(
            self._pipelines,
            self._batching,
            size,
            readers,
            last_batch_padded,
            policy,
            is_found=self._has_found_reader,
        )
        self._reader_name = readers[0] if None not in readers else None
        # That an epoch is not the data set. NVIDIA DALI says nothing of it.
        self._may_warn = self._warns_of_losses and (is_partial or not follows_reference)
        self._turn = Turn()
        self._has_run_out = False  # a source, since the epoch began
        self._set_position(0, 0)
        self._epoch_start = self._current_states()
        self._is_resumed = self._resume_from_checkpoints()

    def __next__(self) -> Any:
        """Return the next batch, or raise StopIteration at the end of the epoch.

        After an error, the batch after the one that failed comes next.
        """
        self._turn.is_held = True
        try:
            self._ever_consumed = True
            batch = self._prepared
            is_prepared = batch is not None
            if not is_prepared:
                batch = self._next()
            is_error = isinstance(batch, Exception)
        except BaseException:
            self._turn.is_held = False
            raise
        # All that makes it the batch before is assignments. Handlers of signals run after calls
        # only: until here an interrupt loses nothing, and from here on there is none.
        if is_prepared:
            self._prepared = None
        else:
            self._shared = []
            self._num_scheduled = 0
            self._taken += 1
        self._turn.is_held = False
        if not is_error:
            return batch
        try:
            raise batch
        finally:
            batch = None  # an error refers to this frame, which must not refer back

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
            return self._epochs.length(self._epoch) + self._lead
        if self._follows_reference:
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
        epochs, parts, length = self._epochs, [], ""
        if output_map := getattr(self, "output_map", None):
            parts.append(f"output_map={list(output_map)}")
        parts.append(f"pipelines={len(self._pipelines)}, batch_size={self.batch_size}")
        if self._reader_name is not None:
            parts.append(f"reader_name={self._reader_name!r}")
        given = self._num_returned
        if epochs is not None:
            parts.append(f"size={self.size}, last_batch_policy={self._last_batch_policy.name}")
            in_epoch = epochs.num_given(self._epoch) + self._lead
            given, length = min(given, in_epoch), f" of {in_epoch}"
        place = f"epoch {self._epoch}, {given}{length} batches given"
        return f"<{type(self).__name__} {', '.join(parts)}: {place}>"

    @property
    def size(self) -> int:
        """Number of samples that the epoch counts; -1 if it is unknown."""
        return -1 if self._epochs is None else self._epochs.size(self._epoch)

    @property
    def _marks_others(self) -> bool:
        """Whether samples that are not of the epoch are marked in its batches."""
        return False

    @property
    def epochs(self) -> Epochs | None:
        """The numbers of batches of all epochs; None if epochs end when the source does."""
        return self._epochs

    def describe(self, num_epochs: int = 4) -> str:
        """Return a table of what the first epochs read, give, pad and drop.

        Below it stands which samples an epoch leaves out or gives again, and what to do about it.
        """
        if self._epochs is None:
            return Outline("an epoch ends when the source does")
        return Outline("\n".join([self._epochs.describe(num_epochs), *self._epochs.losses()]))

    def headroom(self) -> float:
        """Return how many times as fast the pipelines could make batches as they are taken.

        See `PipelineStatistics.headroom`; of several pipelines the slowest counts.
        """
        return min(pipeline.statistics().headroom for pipeline in self._pipelines)

    def _prepare(self) -> None:
        """Compute the first batch of what is to come."""
        self._before_prepared = self._current_states()
        try:
            self._keep_prepared(self._next())
        except SampleError as error:
            self._prepared = error.with_traceback(None)  # its frames refer to this object
        except StopIteration as error:
            if self._is_resumed:
                # At the end of an epoch: the next one comes, and not only its end.
                self._ever_consumed = True
                return
            raise PipelineStateError(
                "iterator: the pipelines must give at least one batch (got none). Use a smaller "
                "batch size, last_batch_policy=LastBatchPolicy.PARTIAL, or a source that is not "
                "empty."
            ) from error

    def _keep_prepared(self, batch: Any) -> None:
        """Keep what `_next` has returned, as a batch that was taken."""
        self._prepared = batch
        self._shared = []
        self._num_scheduled = 0
        self._taken += 1

    def _next(self) -> Any:
        """Return the next batch, which comes again until it is counted as taken."""
        self._begin_batch()
        if (epochs := self._epochs) is None:
            return self._take([self._batching.largest])
        if self._may_warn and epochs.differs_at(
            self._epoch, self._taken, lead=self._lead, marks_others=self._marks_others
        ):
            self._may_warn = False
            warn_of_losses(epochs.losses())
        return self._take(epochs.num_valid(self._epoch, self._taken))

    def _take(self, num_valid: Sequence[int]) -> Any:
        """Take a batch from every pipeline, and convert that of as many as have valid samples."""
        shared = self._share_batches()
        try:
            shards = [self._convert(*part) for part in zip(shared, num_valid, strict=False)]
        except Exception:  # after an interrupt, the same batch is taken again
            self._finish_batch()
            raise
        finally:
            shared.clear()  # an error refers to this frame
        self._start_next()
        return self.adapter.assemble(shards)

    def _begin_batch(self) -> None:
        """Start the pipelines if need be; raise StopIteration if the epoch is over."""
        if self._is_beginning:
            self._begin_next_epoch(is_end=self._end_is_due)
        if self._end_is_due:
            self._end_is_due = False
            raise StopIteration
        self._schedule_first()
        epochs = self._epochs
        if epochs is None or epochs.has_batch(self._epoch, self._taken):
            return
        self._discard_dropped(epochs)
        if self._auto_reset:
            self._begin_next_epoch(is_end=True)
        self._end_is_due = False
        raise StopIteration

    def _schedule_first(self) -> None:
        if self._ever_scheduled:
            return
        for pipeline in self._pipelines:
            if pipeline.empty():
                pipeline.schedule_run()
        self._ever_scheduled = True

    def _discard_dropped(self, epochs: Epochs) -> None:
        if epochs.is_dropped(self._epoch, self._taken):
            self._schedule_first()
            try:
                self._share_batches().clear()
                self._finish_batch()
            except (StopIteration, ArgumentConflictError):
                raise
            except Exception as error:
                # It is not raised, since the batch would not have been returned.
                _logger.debug("a batch that is dropped has failed: %s", error)

    def _finish_batch(self) -> None:
        """Start the next batch of every pipeline, and count the one that was shared."""
        self._start_next()
        self._shared = []
        self._num_scheduled = 0
        self._taken += 1

    def _start_next(self, release_outputs: bool = True) -> None:
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

    def _share_batches(self) -> list[Sequence[Any]]:
        """Take a batch from every pipeline. It remains theirs until `_start_next`.

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
                    check_full(outputs, self._epochs.num_samples(self._epoch, self._taken))
                except ArgumentConflictError:
                    self._start_next()
                    self._shared = []
                    self._num_scheduled = 0
                    raise
            return outputs
        except StopIteration:
            # Nothing more is started: the batches of the others belong to none of this one.
            self._has_run_out = True
            for pipeline, shared in zip(self._pipelines, self._shared, strict=False):
                if not isinstance(shared, Exception):
                    pipeline.release_outputs()
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
        """Take a batch; what it has on a device is complete where the adapter will use it."""
        computed_in = pipeline.output_stream()
        if computed_in is None:
            return pipeline.share_outputs()
        return pipeline.share_outputs(self.adapter.stream(computed_in.device_id))

    def _convert(self, outputs: Sequence[Any], num_valid: int) -> dict[str, Any]:
        for batch in outputs:
            if isinstance(batch, TensorListGPU) and self.adapter.stream(batch.device_id()) is None:
                batch.synchronize()
        check_outputs(outputs, self.output_map)
        arrays = {}
        for name, kind, batch in zip(self.output_map, self._output_types, outputs, strict=True):
            if kind == "dense":
                check_uniform(name, batch, self.adapter)
            arrays[name] = self.adapter.represent(batch, kind, num_valid)
        return arrays
