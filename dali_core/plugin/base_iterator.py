"""The iterator that all framework adapters share.

It takes batches from one or several pipelines in step, counts them, decides where an epoch ends
and what becomes of its last batch.  Converting a batch is left to an `Adapter`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dali_core._runtime.tensor_list_gpu import TensorListGPU
from dali_core.errors import (
    AdapterError,
    ArgumentTypeError,
    ArgumentValueError,
    PipelineStateError,
    SampleError,
)
from dali_core.plugin.batch_schedule import Epochs, LastBatchPolicy
from dali_core.plugin.iterator_arguments import (
    check_auto_reset,
    check_output_map,
    check_output_types,
    check_pipelines,
    check_policy,
    make_epochs,
)
from dali_core.plugin.iterator_state import StatefulIterator

if TYPE_CHECKING:
    from dali_core.adapters import Adapter
    from dali_core.pipeline import Pipeline

__all__ = ["BaseIterator", "LastBatchPolicy"]

_logger = logging.getLogger("dali_core")


class BaseIterator(StatefulIterator):
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
        Samples in an epoch, of all pipelines together.  A negative number stands for unknown: the
        epoch of a single pipeline then ends when its source raises StopIteration.
    reader_name : str, optional
        Name of the reader to follow, in all pipelines.  Size, shards and padding are taken from
        it, so this is the choice wherever there is a reader; it excludes `size`.
    auto_reset : bool or {"yes", "no"}, optional
        Begin the next epoch by itself when one is over; else `reset` or ``iter()`` does.
    fill_last_batch : bool, optional
        Deprecated: True means ``LastBatchPolicy.FILL``, False ``LastBatchPolicy.PARTIAL``.
    last_batch_padded : bool, optional
        Whether the pipelines repeat a sample to fill an epoch's last batch (True) or go on with
        the next epoch (False).  Only with `size`; it must match the reader's `pad_last_batch`.
    last_batch_policy : LastBatchPolicy, optional
        What to do with the last batch if the epoch's samples do not fill it.
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

    Notes
    -----
    Without padding, the samples of an epoch that were given out with the one before are not given
    again, so with FILL the number of batches varies from epoch to epoch.  With PARTIAL and DROP
    every epoch has the same number of batches; it begins with the batch after the last one.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        adapter: Adapter,
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
        self._pipelines = check_pipelines(pipelines)
        self._output_map = check_output_map(output_map)
        self._output_types = check_output_types(output_types, self._output_map, adapter)
        self._auto_reset = check_auto_reset(auto_reset)
        for pipeline in self._pipelines:
            pipeline.build()
        self._epochs = make_epochs(
            self._pipelines,
            size,
            reader_name,
            last_batch_padded,
            check_policy(last_batch_policy, fill_last_batch),
        )
        self._reader_name = reader_name
        self._epoch = 0
        self._taken = 0  # in this epoch
        self._scheduled = False
        self._is_resumed = False
        self._prepared = None  # the first batch, or why there is none
        self._epoch_start = self._snapshots()
        if not self._resume_from_checkpoints() and prepare_first_batch:
            try:
                self._prepared = self._next()
            except SampleError as error:
                self._prepared = error.with_traceback(None)  # its frames refer to this object
            except StopIteration as error:
                raise PipelineStateError(
                    "iterator: the pipelines must give at least one batch (got none). Use a "
                    "smaller batch size, last_batch_policy=LastBatchPolicy.PARTIAL, or a source "
                    "that is not empty."
                ) from error

    def __iter__(self) -> BaseIterator:
        """Return the iterator itself, in a new epoch if the last one is over.

        In mid-epoch, the rest of the epoch follows: leaving a loop early loses nothing.
        """
        goes_on = self._is_resumed and not self._is_over
        if not (self._at_start or goes_on):
            self.reset()
        return self

    def __next__(self) -> Any:
        """Return the next batch, or raise StopIteration at the end of the epoch.

        After an error, the batch after the one that failed comes next.
        """
        self._is_resumed = False
        if self._prepared is None:
            return self._next()
        batch, self._prepared = self._prepared, None
        try:
            if isinstance(batch, Exception):
                raise batch
            return batch
        finally:
            batch = None  # an error refers to this frame, which must not refer back

    def next(self) -> Any:
        """Return the next batch, or raise StopIteration at the end of the epoch."""
        return next(self)

    def __len__(self) -> int:
        """Return the number of batches in the epoch."""
        if self._epochs is None:
            raise ArgumentTypeError(
                "len(): the iterator must know the size of an epoch (got size=-1, which means "
                "until the source ends). Give it reader_name or size."
            )
        return self._epochs.length(self._epoch)

    def __bool__(self) -> bool:
        """Be true, also where `len` is not known."""
        return True

    @property
    def size(self) -> int:
        """Number of samples that the epoch counts; -1 if it is unknown."""
        return -1 if self._epochs is None else self._epochs.size(self._epoch)

    def describe(self, num_epochs: int = 4) -> str:
        """Return a table that tells what the first epochs read, give, pad and drop."""
        if self._epochs is None:
            return "an epoch ends when the source does"
        return self._epochs.describe(num_epochs)

    def reset(self) -> None:
        """Begin the next epoch, if this one is over; else log a warning and do nothing.

        An iterator of unknown size can always be reset.  Its source starts again if it has ended
        and can do so; otherwise it goes on.
        """
        if self._epochs is None:
            self._begin_next_epoch()
            return
        if self._at_start:
            return
        self._discard_dropped(self._epochs)
        if self._taken >= self._epochs.num_taken(self._epoch):
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

    def _begin_next_epoch(self) -> None:
        self._epoch += 1
        self._taken = 0
        for pipeline in self._pipelines:
            pipeline.reset()
        self._epoch_start = self._snapshots()
        for pipeline in self._pipelines:
            if pipeline.empty():
                pipeline.schedule_run()
        self._scheduled = True

    def _next(self) -> Any:
        epochs = self._epochs
        if epochs is None:
            try:
                return self._take([self._pipelines[0].max_batch_size])
            except StopIteration:
                if self._auto_reset:
                    self._begin_next_epoch()
                raise
        if self._taken < epochs.num_given(self._epoch):
            return self._take(epochs.num_valid(self._epoch, self._taken))
        self._discard_dropped(epochs)
        if self._auto_reset:
            self._begin_next_epoch()
        raise StopIteration

    def _discard_dropped(self, epochs: Epochs) -> None:
        if epochs.num_given(self._epoch) <= self._taken < epochs.num_taken(self._epoch):
            # A failure in what nobody will see concerns nobody.
            with suppress(Exception):
                self._take([])

    def _take(self, num_valid: Sequence[int]) -> Any:
        """Take a batch from every pipeline, and convert that of as many as have valid samples."""
        if not self._scheduled:
            for pipeline in self._pipelines:
                pipeline.schedule_run()
            self._scheduled = True
        shared: list[Sequence[Any] | None] = []
        failure: Exception | None = None
        try:
            for pipeline in self._pipelines:
                try:
                    shared.append(self._share(pipeline))
                except StopIteration:
                    raise
                except Exception as error:
                    # The others go on to the same batch, so that all stay in step.
                    failure = failure or error
                    shared.append(None)
            self._taken += 1
            if failure is not None:
                raise failure
            shards = [
                self._convert(outputs, count)
                for outputs, count in zip(shared, num_valid, strict=False)
                if outputs is not None
            ]
        finally:
            for pipeline, outputs in zip(self._pipelines, shared, strict=False):
                if outputs is not None:
                    pipeline.release_outputs()
                pipeline.schedule_run()
            # An error refers to this frame, which must not refer back, nor to batches.
            failure = None
            shared.clear()
        return self.adapter.assemble(shards)

    def _share(self, pipeline: Pipeline) -> Sequence[Any]:
        """Take a batch; what it has on a device is complete where the adapter will use it."""
        computed_in = pipeline.output_stream()
        if computed_in is None:
            return pipeline.share_outputs()
        stream = self.adapter.stream(computed_in.device_id)
        outputs = pipeline.share_outputs(stream)
        if stream is None:
            for batch in outputs:
                if isinstance(batch, TensorListGPU):
                    batch.synchronize()
        return outputs

    def _convert(self, outputs: Sequence[Any], num_valid: int) -> dict[str, Any]:
        if len(outputs) != len(self._output_map):
            raise ArgumentValueError(
                f"output_map: must name every output of the pipelines (got {len(self._output_map)} "
                f"names for {len(outputs)} outputs). Give one name per output."
            )
        arrays = {}
        for name, kind, batch in zip(self._output_map, self._output_types, outputs, strict=True):
            if kind == "dense":
                _check_uniform(name, batch, self.adapter)
            arrays[name] = self.adapter.represent(batch, kind, num_valid)
        return arrays


def _check_uniform(name: str, batch: Any, adapter: Adapter) -> None:
    if batch.is_dense_tensor():
        return
    shapes = list(dict.fromkeys(tuple(shape) for shape in batch.shape()))
    if len(shapes) > 1:
        others = [kind for kind in adapter.representations if kind != "dense"]
        instead = (
            f", or represent them as one of {others} with output_types (in PyTorch: "
            "DALIRaggedIterator)"
            if others
            else ""
        )
        raise AdapterError(
            f"output {name!r}: all samples of a batch must have the same shape (got {shapes[:4]}"
            f"{' and more' if len(shapes) > 4 else ''}). Resize or pad them in the pipeline"
            f"{instead}."
        )
