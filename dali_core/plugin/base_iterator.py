"""The iterator that all framework adapters share.

It takes batches from pipelines as `EpochIterator` does.  Converting them is left to an `Adapter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dali_core._runtime.tensor_list_gpu import TensorListGPU
from dali_core.errors import AdapterError, ArgumentValueError, PipelineStateError, SampleError
from dali_core.plugin.batch_schedule import IncompleteEpochWarning, LastBatchPolicy
from dali_core.plugin.epoch_iterator import EpochIterator
from dali_core.plugin.iterator_arguments import (
    check_output_map,
    check_output_types,
    warn_of_losses,
)

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline
    from dali_core.plugin.conversion import Converter

__all__ = ["BaseIterator", "IncompleteEpochWarning", "LastBatchPolicy"]

# Its name in NVIDIA DALI, from which programs derive iterators of their own.
_DaliBaseIterator = EpochIterator


class BaseIterator(EpochIterator):
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
        Samples in an epoch, of all pipelines together.  A negative number means unknown: the
        epoch of a single pipeline then ends when its source raises StopIteration.
    reader_name : str, optional
        Name of the reader to follow, in all pipelines.  Size, shards and padding are taken from
        it, so this is the choice wherever there is a reader; it excludes `size`.
    auto_reset : bool or {"yes", "no"}, optional
        Begin the next epoch by itself when one is over; else `reset` or ``iter()`` does.
    fill_last_batch : bool, optional
        Deprecated: True means ``LastBatchPolicy.FILL``, False ``LastBatchPolicy.PARTIAL``.
    last_batch_padded : bool, optional
        Whether the pipelines repeat a sample to fill an epoch's last batch (True) or continue with
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
    Without padding, the samples of an epoch that were returned with the one before are not returned
    again, so with FILL the number of batches varies from epoch to epoch.  With PARTIAL and DROP
    every epoch has the same number of batches; it begins with the batch after the last one.
    """

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
        # Listed anew, so that it stays what was checked; the name is the reference's.
        self.output_map = check_output_map(output_map)
        self._output_types = check_output_types(output_types, self.output_map, adapter)
        super().__init__(
            pipelines,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )
        self._has_warned = False
        if prepare_first_batch:
            self._prepare()

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

    @property
    def _output_categories(self) -> set[str]:
        """The names of the outputs."""
        return set(self.output_map)

    def _prepare(self) -> None:
        """Compute the first batch of what is to come."""
        self._before_prepared = self._snapshots()
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
        epochs = self._epochs
        if epochs is None:
            return self._take([self.batch_size])
        if not self._has_warned and self._epoch and not self._taken and epochs.lacks_samples:
            # At the first loss, for many programs have one epoch only.
            self._has_warned = True
            warn_of_losses(epochs.losses())
        return self._take(epochs.num_valid(self._epoch, self._taken))

    def _take(self, num_valid: Sequence[int]) -> Any:
        """Take a batch from every pipeline, and convert that of as many as have valid samples."""
        shared = self._share_all()
        try:
            shards = [
                self._convert(outputs, count)
                for outputs, count in zip(shared, num_valid, strict=False)
            ]
        except Exception:  # after an interrupt, the same batch is taken again
            self._finish_batch()
            raise
        finally:
            shared.clear()  # an error refers to this frame
        self._schedule_runs()
        return self.adapter.assemble(shards)

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
        if len(outputs) != len(self.output_map):
            raise ArgumentValueError(
                f"output_map: must name every output of the pipelines (got {len(self.output_map)} "
                f"names for {len(outputs)} outputs). Give one name per output."
            )
        arrays = {}
        for name, kind, batch in zip(self.output_map, self._output_types, outputs, strict=True):
            if kind == "dense":
                _check_uniform(name, batch, self.adapter)
            arrays[name] = self.adapter.represent(batch, kind, num_valid)
        return arrays


def _check_uniform(name: str, batch: Any, adapter: Converter) -> None:
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
