"""Steps that fetch the samples whose indices they get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dali_core._readers.fetching import Fetching
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._runtime.step import (
    Step,
    StepContext,
    StepOutput,
    check_samples,
    fill_failed,
)
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.worker_parts import await_parts, forget_frames, join_parts
from dali_core._runtime.workers import FunctionSettings, Produced, WorkerFunction, WorkerPool
from dali_core._types import DALIDataType, to_dali_type
from dali_core.errors import ArgumentTypeError, ArgumentValueError

_MAX_INDICES = 256
"""In a message to a worker."""


class FetchingStep(Step):
    """Fetches the samples whose indices it gets.

    Parameters
    ----------
    fetcher : Fetcher
        Fetches them.
    num_outputs : int or None
        Of how many arrays samples are; None if they are one, alone or in a tuple.
    layout, dtype : object
        Layout and type of all outputs, or lists of one each; see `Format`.
    in_workers : WorkerFunction, optional
        What workers call in the place of the fetcher, with indices and whether to continue after
        a failure; by default this step fetches.
    bytes_per_sample : int
        An estimate for workers; 0 if there is none.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        num_outputs: int | None,
        layout: Any = None,
        dtype: Any = None,
        *,
        in_workers: WorkerFunction | None = None,
        bytes_per_sample: int = 0,
    ) -> None:
        count = num_outputs or 1
        self._fetching = Fetching(fetcher, num_outputs)
        self._layouts = _for_each(layout, "layout", count, "")
        self._dtypes = [
            wanted if wanted is None or isinstance(wanted, DALIDataType) else to_dali_type(wanted)
            for wanted in _for_each(dtype, "dtype", count, None)
        ]
        self._in_workers = in_workers
        self._hint = bytes_per_sample
        self._pool: WorkerPool | None = None

    def use_workers(self, pool: WorkerPool, batch_size: int) -> None:
        """Have samples fetched by workers, which are started next."""
        if self._in_workers is None:
            return
        num_parts = max(1, min(pool.num_workers, batch_size))
        self._part_size = min(-(-batch_size // num_parts), _MAX_INDICES)
        # Results of the batch before may still be in use.
        num_results = 2 * -(-batch_size // self._part_size)
        settings = FunctionSettings(num_results, self._part_size, self._hint)
        self._number = pool.add(self._in_workers, settings)
        self._pool = pool

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Fetch a batch."""
        (batch,) = inputs
        indices = [int(batch.at(place)) for place in range(len(batch))]
        self._fetching.fetcher.expect(context.upcoming)
        try:
            return self._run(context, indices)
        except BaseException as error:
            if self._pool is not None:
                forget_frames(error)
            raise

    def _run(self, context: StepContext, indices: Sequence[int]) -> list[StepOutput]:
        batches = self._batches(indices) if self._pool is None else None
        if batches is not None:
            return [
                StepOutput(batch, layout, origin=0)
                for batch, layout in zip(batches, self._layouts, strict=True)
            ]
        columns: list[list[Any]] = join_parts(
            self._fetched(context, indices),
            self._part_size if self._pool is not None else len(indices),
            context,
        )
        columns = [
            check_samples(context, column, layout, partial(_check, dtype))
            for column, layout, dtype in zip(columns, self._layouts, self._dtypes, strict=True)
        ]
        fill_failed(context, columns)
        return [
            StepOutput(column, layout, origin=0)
            for column, layout in zip(columns, self._layouts, strict=True)
        ]

    def _batches(self, indices: Sequence[int]) -> list[TensorListCPU] | None:
        """Return whole outputs; None if samples have to be fetched one by one."""
        try:
            columns = self._fetching.fetcher.fetch_columns(indices)
            if columns is None or len(columns) != len(self._layouts):
                return None
            batches = [TensorListCPU(column, contiguous=False) for column in columns]
            for dtype, batch in zip(self._dtypes, batches, strict=True):
                _check(dtype, batch)
        except Exception:
            return None
        return batches if all(len(batch) == len(indices) for batch in batches) else None

    def _fetched(self, context: StepContext, indices: Sequence[int]) -> list[Produced]:
        skips_errors = context.failed is not None
        if self._pool is None:
            return [self._fetching(_kept, indices, skips_errors)]
        return await_parts(
            [
                self._pool.submit(
                    self._number, list(indices[start : start + self._part_size]), skips_errors
                )
                for start in range(0, len(indices), self._part_size)
            ],
            context,
        )


class OpenedStep(FetchingStep):
    """Fetches samples of a data set that is opened later.

    Parameters
    ----------
    make_fetcher : callable
        Makes the fetcher for an open data set.
    num_outputs, layout, dtype
        As for `FetchingStep`.
    """

    def __init__(
        self,
        make_fetcher: Callable[[DataSource], Fetcher],
        num_outputs: int | None,
        layout: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(_NotOpen(), num_outputs, layout, dtype)
        self._make_fetcher = make_fetcher
        self._source: DataSource | None = None

    def use_source(self, source: DataSource) -> None:
        """Fetch samples of this data set, with what is in memory if it is the same as before."""
        if self._source is not source:
            self._source = source
            self._fetching.fetcher = self._make_fetcher(source)


class _NotOpen(Fetcher):
    """Stands for the fetcher of a data set that is not open yet."""


def _kept(tensor: TensorCPU) -> TensorCPU:
    return tensor


def _check(dtype: DALIDataType | None, alone: TensorListCPU) -> None:
    if dtype not in (None, alone.dtype):
        raise ArgumentTypeError(
            f"the source must return data with dtype {dtype} (got {alone.dtype}). Convert it, or "
            "change dtype."
        )


def _for_each(value: Any, name: str, count: int, otherwise: Any) -> list[Any]:
    is_list = isinstance(value, (list, tuple))
    if value is None or not is_list:
        return [otherwise if value is None else value] * count
    if len(value) > count:
        raise ArgumentValueError(
            f"{name} must have at most one entry for each of the {count} outputs (got "
            f"{len(value)}). Leave out the others."
        )
    return [*value, *[otherwise] * (count - len(value))]
