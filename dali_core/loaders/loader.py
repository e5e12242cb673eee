"""The loader that the frameworks share."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

from dali_core._display.outline import Outline
from dali_core.adapters import Adapter
from dali_core.errors import ArgumentTypeError, PipelineStateError
from dali_core.loaders.converter import LoaderConverter
from dali_core.loaders.dataset import LoadedDataset
from dali_core.loaders.epochs import (
    is_planned,
    iterator_arguments,
    leading_reader,
    num_kept,
    pad_epochs,
    sized_epochs,
)
from dali_core.loaders.loop import Loop
from dali_core.loaders.options import (
    ARGUMENTS_ELSEWHERE,
    LAST_BATCH_RULES,
    LastBatch,
    check_is_made,
    check_last_batch,
    check_steps,
)
from dali_core.loaders.outputs import class_outputs, label_names, output_names
from dali_core.loaders.placement import Placement
from dali_core.plugin.base_iterator import BaseIterator
from dali_core.plugin.iterator_arguments import check_pipelines
from dali_core.plugin.loader_uses import LoaderUses

if TYPE_CHECKING:
    from typing_extensions import Self, TypeVar

    from dali_core.batching.planned_step import PlannedStep
    from dali_core.pipeline import Pipeline
    from dali_core.statistics import PipelineStatistics

    Batch = TypeVar("Batch", default=Any)
else:
    from typing import TypeVar

    Batch = TypeVar("Batch")


_logger = logging.getLogger("dali_core")


class _Iterator(BaseIterator):
    """The iterator of a loader, whose epochs are the same under `dali_core.compat`.

    Loaders have padded the readers, and were told what to do with the last batch.
    """

    _finds_reader = _warns_of_losses = False

    @property
    def _follows_reference(self) -> bool:
        return False


class BaseLoader(LoaderUses, Generic[Batch]):
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

    Attributes
    ----------
    adapter : Adapter
        Converts batches to arrays of the framework; a subclass says it.
    placement : type
        The subclass of `Placement` for these, likewise.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ArgumentConflictError
        If arguments contradict each other or the pipeline.
    """

    adapter: ClassVar[Adapter]
    placement: ClassVar[type[Placement]]
    _arguments_elsewhere: ClassVar[Mapping[str, str]] = {
        **LoaderUses._arguments_elsewhere,
        **ARGUMENTS_ELSEWHERE,
    }
    _instead_of_array = "Take the arrays of its batches; for Keras, model.fit(loader.keras())."

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
        check_is_made(pipeline)
        self._last_batch = check_last_batch(last_batch)
        self._steps = check_steps(steps_per_epoch)
        self._pipelines = check_pipelines(pipeline)
        self._names = output_names(self._pipelines[0], names)
        is_strict = labels != "auto"
        converter = LoaderConverter(
            self.adapter,
            self.placement(device),
            label_names(labels, self._names)
            if is_strict
            else class_outputs(self._pipelines[0], self._names),
            is_strict=is_strict,
            channels_last=channels_last,
            as_dict=as_dict,
        )
        if self._steps is None:
            pad_epochs(self._pipelines, self._last_batch)
        self._code: str | None = None
        self._reader = leading_reader(self._pipelines[0], reader)
        self._iterator = _Iterator(
            self._pipelines,
            self._names,
            converter,
            output_types=output_types,
            prepare_first_batch=prepare_first_batch,
            **(
                iterator_arguments(self._pipelines, self._reader, self._last_batch)
                if self._steps is None
                else sized_epochs(self._pipelines, self._steps)
            ),
        )
        epochs = self._iterator.epochs
        self._drops_of_source = self._last_batch == "drop" and epochs is None
        self._limit: int | None = None
        if epochs is not None and self._steps is None:
            self._limit = num_kept(epochs, self._last_batch, len(self._pipelines))
        self._num_loops = 0

    def __iter__(self) -> Iterator[Batch]:
        """Begin an epoch, and return an iterator over its batches.

        The rest of an epoch that was left is not given any more. After `load_state_dict` and
        `skip` the epoch continues where that has set it.
        """
        self._begin()
        return Loop(functools.partial(self._take, self._num_loops))

    def _begin(self) -> None:
        """Begin an epoch, and end all loops."""
        self._num_loops += 1
        iter(self._iterator)
        if self._is_at_limit:  # resumed at the end of an epoch
            self._discard_rest()
            iter(self._iterator)

    def _take(self, loop: int) -> Batch:
        """Return the next batch of a loop."""
        if loop != self._num_loops:
            raise PipelineStateError(
                "Loader: a loop over it must be the last one that was begun (another one was "
                "begun since). Use a loader for each of several loops at a time."
            )
        if self._is_at_limit:
            self._discard_rest()
            raise StopIteration
        batch: Batch = next(self._iterator)
        if self._drops_of_source:
            while _num_samples(batch) < self.batch_size:
                batch = next(self._iterator)
        return batch

    @property
    def _is_at_limit(self) -> bool:
        return self._limit is not None and self._iterator.num_returned >= self._limit

    def _discard_rest(self) -> None:
        """Take the batches of the epoch that are dropped, and start those of the next one."""
        while True:
            try:
                next(self._iterator)
            except StopIteration:
                return
            except Exception as error:
                # It is not raised, since the batch would not have been returned.
                _logger.debug("a batch that is dropped has failed: %s", error)

    def __len__(self) -> int:
        """Return the number of batches of an epoch.

        Raises
        ------
        ArgumentTypeError
            If only a source knows when it ends.
        """
        return len(self._iterator) if self._limit is None else self._limit

    def __bool__(self) -> bool:
        """Be true, also where `len` is not known."""
        return True

    def __repr__(self) -> str:
        """Describe what is loaded, and how far."""
        what = f"names={self._names}, batch_size={self.batch_size}"
        how = f"last_batch={self._last_batch!r}"
        if self._steps is not None:
            how = f"steps_per_epoch={self._steps}"
        given, length = self._iterator.num_returned, ""
        if self._iterator.epochs is not None:
            given, length = min(given, len(self)), f" of {len(self)}"
        place = f"epoch {self.epoch}, {given}{length} batches given"
        return f"<{type(self).__name__} {what}, {how}: {place}>"

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
    def step(self) -> PlannedStep | None:
        """Samples and tokens of the batch that was given last, and the tokens of all processes.

        It is known from the lengths, without communication. None before the first batch of an
        epoch, and where batches are not divided by lengths.
        """
        return self._iterator.step

    @property
    def steps_per_epoch(self) -> int | None:
        """Number of batches of an epoch, if it was given."""
        return self._steps

    def code(self) -> str:
        """Return the program that a function such as `image_folder` has made the loader of.

        Raises
        ------
        ArgumentTypeError
            If the loader was made of a pipeline.
        """
        if self._code is None:
            raise ArgumentTypeError(
                "code(): the loader must come from a function such as image_folder (it was made of "
                "a pipeline, whose program is yours)."
            )
        return self._code

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
        self._num_loops += 1

    @property
    def epoch(self) -> int:
        """Number of the epoch whose batches are given, from 0."""
        return self._iterator.epoch

    def set_epoch(self, epoch: int) -> None:
        """Have the next loop go through an epoch, as samplers of PyTorch do.

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
            If there is a source in Python, which cannot go there.
        """
        self._num_loops += 1
        self._iterator.set_epoch(epoch)

    def skip(self, num_batches: int) -> None:
        """Leave out the first batches of the next loop, without computing them.

        Parameters
        ----------
        num_batches : int
            How many. After `load_state_dict` they are counted from where that resumes.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If it is no such number.
        PipelineStateError
            If there is a source in Python, which cannot skip batches.
        """
        self._begin()
        self._iterator.skip(num_batches)

    def restart(self) -> None:
        """Have the next loop go through this epoch again, from its first batch."""
        self._num_loops += 1
        self._iterator.restart()

    def describe(self, num_epochs: int = 4) -> str:
        """Say what an epoch is, above a table of what the first ones read, give, pad and drop."""
        if self._steps is not None:
            rule = "the data set is read over and over, in full batches"
        else:
            rule = LAST_BATCH_RULES[self._last_batch]
        table = self._iterator.describe(num_epochs)
        if (epochs := self._iterator.epochs) is not None:
            shown = epochs if self._limit is None else epochs.schedule.plan
            table = shown.describe(num_epochs)
        most = "at most " if is_planned(self._pipelines[0]) else ""
        head = f"Loader: {self._num_batches()} of {most}{self.batch_size} samples; {rule}."
        return Outline(f"{head}\n{table}")

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

    def _num_batches(self) -> str:
        known = self._steps is not None or self._reader is not None
        return f"{len(self)} batches" if known else "batches"

    def _num_samples(self) -> int | None:
        """Return the number of samples of the data set, if it is known."""
        if self._reader is None:
            return None
        size: int = self._pipelines[0].reader_meta(self._reader)["epoch_size"]
        return size


def _num_samples(batch: Any) -> int:
    """Return the number of samples of a batch."""
    values = batch.values() if isinstance(batch, dict) else batch
    return len(next(iter(values)))
