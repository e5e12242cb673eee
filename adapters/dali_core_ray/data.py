"""Pipelines in Ray Data: as a stage, and as a source of data sets."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from dali_core.errors import ArgumentKeyError, ArgumentTypeError, ArgumentValueError
from dali_core.plugin.base_iterator import LastBatchPolicy
from dali_core.plugin.iterator_arguments import check_output_map
from dali_core_ray.adapter import adapter
from dali_core_ray.producer import (
    Batch,
    BatchProducer,
    Definition,
    ProducerOptions,
    State,
    check_count,
    make_pipeline,
)


class PipelineStage:
    """A pipeline for `ray.data.Dataset.map_batches`, built once in each actor.

    Pass the class and ``fn_constructor_kwargs``. The pipeline has `external_source` operators
    without sources, which take columns; batches are divided into as many samples as it takes.

    Parameters
    ----------
    definition : callable
        Returns the pipeline, without arguments.
    output_map : list of str
        Column for each output. Samples of different shapes are a column of tensors, too.
    columns : mapping of str to str, optional
        Column for each input of the pipeline; by default that of the same name. Columns of bytes
        become arrays of uint8.
    keep : sequence of str, optional
        Columns that are passed on unchanged.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `definition` returns no pipeline, or `output_map` does not fit it.

    Notes
    -----
    Random operators number the samples that an actor has got, which Ray deals out as actors are
    free: use `PipelineDatasource` or `RayLoader` for numbers that do not depend on that.
    """

    def __init__(
        self,
        definition: Definition,
        output_map: Sequence[str],
        columns: Mapping[str, str] | None = None,
        keep: Sequence[str] = (),
    ) -> None:
        self._names = check_output_map(output_map)
        self._pipeline = make_pipeline(definition, self._names, "PipelineStage")
        self._pipeline.build()
        self._columns = {name: name for name in self._pipeline.input_names} | dict(columns or {})
        if isinstance(keep, str) or set(keep) & set(self._names):
            raise ArgumentValueError(
                f"PipelineStage: keep must be a list of columns other than the outputs (got "
                f"{keep!r} beside {self._names}). Rename outputs in output_map."
            )
        self._keep = list(keep)
        unknown = set(self._columns) - set(self._pipeline.input_names)
        if unknown or not self._columns:
            raise ArgumentValueError(
                f"PipelineStage: columns must be for inputs of the pipeline (got "
                f"{sorted(unknown) or 'a pipeline without inputs'}). Its inputs: "
                f"{list(self._pipeline.input_names)}. Name them in fn.external_source(name=...)."
            )

    def __call__(self, batch: Mapping[str, Any]) -> Batch:
        """Run the pipeline on a batch of rows.

        Parameters
        ----------
        batch : mapping of str to numpy.ndarray
            A column each, rows along the first axis.

        Returns
        -------
        dict of str to numpy.ndarray
            The outputs, and the columns to keep.
        """
        for column in (*self._columns.values(), *self._keep):
            if column not in batch:
                raise ArgumentKeyError(
                    f"PipelineStage: the data set must have a column {column!r} (got "
                    f"{', '.join(map(repr, batch))}). Pass columns={{input: column}}."
                )
        inputs = {
            name: [_as_array(sample, column) for sample in batch[column]]
            for name, column in self._columns.items()
        }
        num_rows, size = len(next(iter(inputs.values()))), self._pipeline.max_batch_size
        parts: list[list[Any]] = [[] for _ in self._names]
        starts = deque(range(0, num_rows, size))
        num_started = 0
        try:
            while starts or num_started:
                while starts and num_started < 2:
                    start = starts.popleft()
                    self._pipeline.schedule_batch(
                        **{name: rows[start : start + size] for name, rows in inputs.items()}
                    )
                    num_started += 1
                num_started -= 1
                outputs = self._pipeline.outputs()
                for part, output in zip(parts, outputs, strict=True):
                    part.extend(adapter.represent(output, "list", len(output)))
        finally:
            self._discard(num_started)
        made = {name: _column(part) for name, part in zip(self._names, parts, strict=True)}
        return {**{name: batch[name] for name in self._keep}, **made}

    def _discard(self, num_batches: int) -> None:
        """Discard the batches in flight after an error, so that the next call gets its own."""
        for _ in range(num_batches):
            try:
                self._pipeline.outputs()
            except Exception:  # noqa: S112  # the first error is raised
                continue


class PipelineDatasource(Datasource):  # type: ignore[misc]
    """The samples of one epoch of a pipeline, for `ray.data.read_datasource`.

    Parallel read tasks compute consecutive batches each. The rows are those of an iterator over the
    pipeline in one process, also in their order if Ray keeps it
    (``DataContext.execution_options.preserve_order``).

    Parameters
    ----------
    definition : callable
        Returns the pipeline, without arguments.
    output_map : list of str
        Column for each output.
    reader_name : str
        Name of the reader that epochs follow.
    epoch : int, optional
        Which epoch to read.
    last_batch_policy : LastBatchPolicy, optional
        What to do with the last batch; PARTIAL by default, so that no row is there twice.
    output_types : sequence of str, optional
        For each output ``"dense"``, or ``"list"`` for samples of different shapes.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If an argument is wrong, or the pipeline, which is also built here.
    """

    def __init__(
        self,
        definition: Definition,
        output_map: Sequence[str],
        *,
        reader_name: str,
        epoch: int = 0,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.PARTIAL,
        output_types: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        where = "PipelineDatasource"
        self._options = ProducerOptions(
            definition, check_output_map(output_map), reader_name, last_batch_policy, output_types
        )
        self._epoch = check_count(where, "epoch", epoch, 0)
        producer = BatchProducer(self._options, where)
        self._epochs, self._state = producer.open()

    def estimate_inmemory_data_size(self) -> int | None:
        """Return None: it is not known before batches are computed."""
        return None

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: Any = None,
    ) -> list[ReadTask]:
        """Return tasks that compute consecutive batches, `parallelism` of them if there are."""
        length = self._epochs.num_given(self._epoch)
        count = max(1, min(parallelism, length))
        bounds = [length * number // count for number in range(count + 1)]
        return [
            ReadTask(
                functools.partial(_read, self._options, self._state, self._epoch, first, stop),
                BlockMetadata(
                    num_rows=sum(
                        self._epochs.num_valid(self._epoch, batch)[0]
                        for batch in range(first, stop)
                    ),
                    size_bytes=None,
                    exec_stats=None,
                ),
                per_task_row_limit=per_task_row_limit,
            )
            for first, stop in itertools.pairwise(bounds)
        ]


def _read(
    options: ProducerOptions, state: State, epoch: int, first: int, stop: int
) -> Iterator[Any]:
    """Compute batches as blocks of Ray Data."""
    producer = BatchProducer(options, "PipelineDatasource")
    producer.open(state)
    for batch, _ in producer.read(epoch, first, stop):
        if isinstance(batch, Exception):
            raise batch
        columns = {
            name: _column(column) if isinstance(column, list) else column
            for name, column in batch.items()
        }
        yield BlockAccessor.batch_to_block(columns)


def _as_array(value: Any, column: str) -> np.ndarray[Any, Any]:
    array = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ArgumentTypeError(
            f"PipelineStage: column {column!r} must have bytes, or arrays of numbers (got "
            f"{value!r:.60}). Convert or filter it before."
        )
    return array


def _column(samples: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Return samples as one array, of objects if their shapes differ."""
    if len({sample.shape for sample in samples}) <= 1:
        return np.stack(samples) if samples else np.empty(0)
    column = np.empty(len(samples), object)
    column[:] = samples
    return column
