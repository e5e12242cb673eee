"""The loader that the frameworks share."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, cast

from dali_core.adapters import Adapter
from dali_core.errors import ArgumentConflictError, PipelineStateError
from dali_core.loaders.converter import LoaderConverter
from dali_core.loaders.dataset import LoadedDataset
from dali_core.loaders.graph import (
    check_padded,
    class_outputs,
    label_names,
    leading_reader,
    output_names,
    pad_epochs,
)
from dali_core.loaders.loop import Loop
from dali_core.loaders.options import (
    LAST_BATCH_POLICIES,
    LastBatch,
    check_last_batch,
    check_steps,
)
from dali_core.loaders.placement import Placement
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from dali_core.plugin.iterator_arguments import check_pipelines

if TYPE_CHECKING:
    from typing_extensions import Self, TypeVar

    from dali_core.pipeline import Pipeline
    from dali_core.statistics import PipelineStatistics

    Batch = TypeVar("Batch", default=Any)
else:
    from typing import TypeVar

    Batch = TypeVar("Batch")


class BaseLoader(ABC, Generic[Batch]):
    """Iterate over the epochs of a pipeline: ``for images, labels in loader``.

    A batch is a tuple of arrays in the order of the pipeline's outputs, or, with `as_dict`, a
    dictionary by their names. Arrays own their memory and are never overwritten. Every
    ``iter(loader)`` begins an epoch of its own.

    Parameters
    ----------
    pipeline : Pipeline or list of Pipeline
        The pipeline, which the loader builds and uses alone. Batches of several pipelines, such as
        one for each shard, are joined along their first axis.
    names : sequence of str, optional
        A name for each output; by default those of the operators (argument `name`).
    last_batch : {"partial", "drop", "pad", "fill"}
        What to do with the samples of an epoch that do not fill a batch. ``"partial"``: give them
        as a smaller batch, so that an epoch gives every sample once. ``"drop"``: leave them out.
        ``"pad"``: fill the batch with repetitions of the last sample. ``"fill"``: fill it with
        samples of the next epoch, which does not give them again. All but the last set
        `pad_last_batch` of the readers.
    device : optional
        The device of the framework to which batches are moved; by default they are where the
        pipeline has them.
    channels_last : bool
        Give images, known by their layout, with channels last: in PyTorch in the memory format
        ``channels_last`` or ``channels_last_3d`` (of shape N, C, ...), elsewhere as last axis.
    steps_per_epoch : int, optional
        Number of batches of an epoch, whatever the size of the data set. Batches are then full, and
        the data set is read over and over: `last_batch` has no effect.
    as_dict : bool
        Give dictionaries.
    labels : sequence of str or "auto"
        Names of the outputs that are class indices: integers of shape (1,) for each sample, which
        become an array of shape (samples,) of the type that losses of the framework expect. By
        default those are outputs of int32 or int64 and of this shape that come directly from a
        reader, perhaps moved to a device. An empty sequence leaves all outputs as they are.
    reader : str, optional
        Name of the reader whose epochs the loader follows; it must be given only if there are
        several with different epochs.
    output_types : sequence of str, optional
        For each output how it is given: ``"dense"``, one array, or ``"list"``, an array for each
        sample, which may differ in shape; ``"text"``, a list of str, for bytes that are UTF-8 such
        as those of ``fn.get_property(encoded, key="source_info")``; or something else that the
        adapter offers.
    prepare_first_batch : bool
        Compute the first batch right away rather than when it is asked for.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ArgumentConflictError
        If arguments contradict each other or the pipeline.
    """

    def __init__(
        self,
        pipeline: Pipeline | Sequence[Pipeline],
        names: Sequence[str] | None = None,
        *,
        last_batch: LastBatch = "partial",
        device: Any = None,
        channels_last: bool = False,
        steps_per_epoch: int | None = None,
        as_dict: bool = False,
        labels: Sequence[str] | Literal["auto"] = "auto",
        reader: str | None = None,
        output_types: Sequence[str] | None = None,
        prepare_first_batch: bool = False,
    ) -> None:
        self._last_batch = check_last_batch(last_batch)
        self._steps = check_steps(steps_per_epoch)
        self._pipelines = check_pipelines(pipeline)
        self._names = output_names(self._pipelines[0], names)
        is_strict = labels != "auto"
        converter = LoaderConverter(
            self._adapter(),
            self._placement(device),
            label_names(labels, self._names)
            if is_strict
            else class_outputs(self._pipelines[0], self._names),
            is_strict=is_strict,
            channels_last=channels_last,
            as_dict=as_dict,
        )
        policy, is_padded = LAST_BATCH_POLICIES[self._last_batch]
        if is_padded and self._steps is None:
            pad_epochs(self._pipelines)
        self._num_loops = 0
        self._reader = leading_reader(self._pipelines[0], reader)
        self._iterator = BaseIterator(
            self._pipelines,
            self._names,
            cast("Any", converter),
            output_types=output_types,
            prepare_first_batch=prepare_first_batch,
            **self._epochs(policy, is_padded=is_padded),
        )

    @abstractmethod
    def _adapter(self) -> Adapter:
        """Return what converts batches."""

    @abstractmethod
    def _placement(self, device: Any) -> Placement:
        """Return what is done with arrays after their conversion."""

    def _epochs(self, policy: LastBatchPolicy, *, is_padded: bool) -> dict[str, Any]:
        """Return the arguments of the iterator that say what an epoch is."""
        if self._steps is not None:
            return {"size": self._steps * self.batch_size}
        if self._reader is not None:
            if is_padded:
                for pipeline in self._pipelines:
                    check_padded(pipeline, self._reader, self._last_batch)
            return {"reader_name": self._reader, "last_batch_policy": policy}
        if self._last_batch in ("pad", "fill"):
            raise ArgumentConflictError(
                f"last_batch: must be 'partial' or 'drop' where no reader says how long an epoch "
                f"is (got {self._last_batch!r}). Or give steps_per_epoch."
            )
        return {}

    def __iter__(self) -> Iterator[Batch]:
        """Begin an epoch, and return an iterator over its batches.

        The rest of an epoch that was left is not given any more. After `load_state_dict` and
        `skip` the first epoch continues where that has set it.
        """
        iter(self._iterator)
        self._num_loops += 1
        return Loop(functools.partial(self._take, self._num_loops))

    def _take(self, loop: int) -> Batch:
        """Return the next batch of a loop."""
        if loop != self._num_loops:
            raise PipelineStateError(
                "Loader: a loop over it must be the last one that was begun (another one was "
                "begun since). Use one loader for each of several loops at a time."
            )
        batch: Batch = next(self._iterator)
        if self._reader is None and self._steps is None and self._last_batch == "drop":
            while _num_samples(batch) < self.batch_size:
                batch = next(self._iterator)
        return batch

    def __len__(self) -> int:
        """Return the number of batches of an epoch.

        Raises
        ------
        ArgumentTypeError
            If only a source knows when it ends.
        """
        return len(self._iterator)

    def __bool__(self) -> bool:
        """Be true, also where `len` is not known."""
        return True

    def __repr__(self) -> str:
        """Describe what is loaded, and how far."""
        what = f"names={self._names}, batch_size={self.batch_size}"
        how = f"last_batch={self._last_batch!r}"
        if self._steps is not None:
            how = f"steps_per_epoch={self._steps}"
        place = repr(self._iterator).rpartition(": ")[2]
        return f"<{type(self).__name__} {what}, {how}: {place}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pipelines(self) -> list[Pipeline]:
        """The pipelines."""
        return list(self._pipelines)

    @property
    def names(self) -> list[str]:
        """The names of the outputs."""
        return list(self._names)

    @property
    def batch_size(self) -> int:
        """Number of samples of a full batch, of all pipelines together."""
        return self._pipelines[0].max_batch_size * len(self._pipelines)

    @property
    def steps_per_epoch(self) -> int | None:
        """Number of batches of an epoch, if it was given."""
        return self._steps

    @property
    def classes(self) -> list[str]:
        """Names of the classes, in the order of their indices: the folders that a reader lists.

        Raises
        ------
        PipelineStateError
            If the reader knows no names.
        """
        meta = self._pipelines[0].reader_meta(self._reader) if self._reader else {}
        names: list[str] | None = meta.get("class_names")
        if names is None:
            raise PipelineStateError(
                "Loader.classes: the reader must list folders, one for each class (this one knows "
                "no names of classes). Use fn.readers.file(file_root=...)."
            )
        return names

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The index of each class, by its name."""
        return {name: index for index, name in enumerate(self.classes)}

    @property
    def dataset(self) -> LoadedDataset:
        """The data set, as far as training programs ask a loader for it: its length and classes."""
        return LoadedDataset(self._num_samples(), self)

    def state_dict(self) -> dict[str, Any]:
        """Describe which batches were given, so that another loader can resume from there.

        Returns
        -------
        dict
            Small, and of what JSON can hold.
        """
        return self._iterator.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from where `state_dict` was called, perhaps in another process.

        The next ``iter(loader)`` gives the rest of that epoch.

        Parameters
        ----------
        state : mapping
            What `state_dict` returned. Nothing changes if it does not fit.

        Raises
        ------
        StateMismatchError
            If the state does not fit this loader; the message says in which way.
        ArgumentTypeError
            If it is no mapping.
        """
        self._iterator.load_state_dict(state)

    def restart(self) -> None:
        """Begin the epoch afresh: the same batches come again, from the first one."""
        self._iterator.restart()

    def describe(self, num_epochs: int = 4) -> str:
        """Return a table of what the first epochs read, give, pad and drop."""
        return self._iterator.describe(num_epochs)

    def statistics(self) -> PipelineStatistics:
        """Return what the pipeline has done so far; of several, that of the slowest one."""
        found = [pipeline.statistics() for pipeline in self._pipelines]
        return min(found, key=lambda statistics: statistics.headroom)

    def keras(self) -> Any:
        """Return a `keras.utils.PyDataset` of the batches, for `fit`, `evaluate` and `predict`.

        A batch must be ``(inputs,)``, ``(inputs, targets)`` or ``(inputs, targets, weights)``.

        Raises
        ------
        MissingModuleError
            If Keras 3 is not installed.
        """
        from dali_core.loaders.keras_dataset import make_keras_dataset

        return make_keras_dataset(self)

    def close(self) -> None:
        """End the threads and processes of the pipelines; batches that were given stay valid."""
        for pipeline in self._pipelines:
            pipeline.close()

    def _num_samples(self) -> int:
        if self._reader is None:
            return self._steps * self.batch_size if self._steps is not None else 0
        size: int = self._pipelines[0].reader_meta(self._reader)["epoch_size"]
        return size


def _num_samples(batch: Any) -> int:
    """Return the number of samples of a batch."""
    values = batch.values() if isinstance(batch, dict) else batch
    return len(next(iter(values)))
