"""Worker side of `fn.external_source`: calls the source, and makes tensors of its data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._runtime.step import StepContext
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.workers import WHOLE, Keep, Produced
from dali_core._types import BatchInfo, SampleInfo
from dali_core.errors import ArgumentTypeError
from dali_core.operators.external_source.states import Items


class SampleCalls:
    """Calls a source for some samples of a batch.

    Parameters
    ----------
    source : callable
        Takes a `SampleInfo`.
    num_outputs : int or None
        Of how many items its tuples are; None if it gives no tuples.
    """

    def __init__(self, source: Callable[[SampleInfo], Any], num_outputs: int | None) -> None:
        self.source = source
        self._num_outputs = num_outputs

    def __call__(
        self,
        keep: Keep,
        epoch: int,
        iteration: int,
        first_of_batch: int,
        start: int,
        stop: int,
        continue_on_error: bool,
    ) -> Produced:
        """Make the samples from number `start` to `stop`, or to the first that fails."""
        columns: list[list[Any]] = [[] for _ in range(self._num_outputs or 1)]
        failures: dict[int, BaseException] = {}
        for i in range(start, stop):
            try:
                data = self.source(SampleInfo(first_of_batch + i, i, iteration, epoch))
                parts = split_outputs(data, self._num_outputs) if self._num_outputs else (data,)
                row: Sequence[Any] = [keep(tensor) for tensor in map(TensorCPU, parts)]
            except StopIteration:
                return Produced(columns, failures, has_ended=True)
            except BaseException as error:
                failures[i - start] = error
                if not continue_on_error or not isinstance(error, Exception):
                    return Produced(columns, failures)
                row = [None] * len(columns)
            for column, kept in zip(columns, row, strict=True):
                column.append(kept)
        return Produced(columns, failures)


class BatchCalls:
    """Calls a source for batches.

    Parameters
    ----------
    source : callable
        Takes the number of the batch, or a `BatchInfo`.
    num_outputs : int or None
        Of how many items its tuples are; None if it gives no tuples.
    batch_info : bool
        Whether it takes a `BatchInfo`.
    """

    def __init__(
        self, source: Callable[[Any], Any], num_outputs: int | None, batch_info: bool
    ) -> None:
        self.source = source
        self._num_outputs = num_outputs
        self._batch_info = batch_info

    def __call__(self, keep: Keep, epoch: int, iteration: int, continue_on_error: bool) -> Produced:
        """Make a batch."""
        argument = BatchInfo(iteration, epoch) if self._batch_info else iteration
        return _batch(lambda: self.source(argument), self._num_outputs, keep, continue_on_error)


class ItemTaker:
    """Takes batches from an iterable.

    Parameters
    ----------
    source : iterable or generator function
        The user's.
    cycle : str
        ``"no"``, ``"quiet"`` or ``"raise"``.
    num_outputs : int or None
        Of how many entries its tuples are; None if it gives no tuples.
    """

    def __init__(self, source: Any, cycle: str, num_outputs: int | None) -> None:
        self.source = source
        self._cycle = cycle
        self._items: Items | None = None
        self._num_outputs = num_outputs

    def __call__(
        self, keep: Keep, continue_on_error: bool, starts_epoch: bool, state: tuple[Any] | None
    ) -> Produced:
        """Make the next batch, after going to a state if one is given."""
        items = self._items
        if items is None:
            items = self._items = Items(self.source, self._cycle)
        if state is not None:
            items.restore(state[0])
        if starts_epoch:
            items.end_epoch()
        context = StepContext(0, 0, 0, 0, bool)
        produced = _batch(lambda: items.take(context), self._num_outputs, keep, continue_on_error)
        produced.state = items.state()
        return produced


def split_outputs(data: Any, num_outputs: int) -> Sequence[Any]:
    """Return the items of the outputs: of a tuple, an array, or what else they are found in."""
    got = type(data).__name__
    try:
        size = len(data) if hasattr(data, "__len__") else num_outputs
        got = f"{got} of {size}" if hasattr(data, "__len__") else got
        if size == num_outputs:
            return [data[number] for number in range(num_outputs)]
        cause = None
    except (TypeError, LookupError) as error:
        cause = error
    raise ArgumentTypeError(
        f"the source must return a tuple with an item for each of the {num_outputs} outputs (got a "
        f"{got})."
    ) from cause


def _batch(
    fetch: Callable[[], Any], num_outputs: int | None, keep: Keep, continue_on_error: bool
) -> Produced:
    failures: dict[int, BaseException] = {}
    try:
        data = fetch()
        parts = split_outputs(data, num_outputs) if num_outputs else (data,)
        return Produced(
            [_column(part, keep, continue_on_error, failures) for part in parts], failures
        )
    except StopIteration:
        return Produced(has_ended=True)
    except BaseException as error:
        return Produced(failures={WHOLE: error})


def _column(
    data: Any, keep: Keep, continue_on_error: bool, failures: dict[int, BaseException]
) -> list[Any]:
    if not isinstance(data, (tuple, list)):
        return [keep(tensor) for tensor in TensorListCPU(data)]
    column: list[Any] = []
    for number, sample in enumerate(data):
        try:
            column.append(keep(TensorCPU(sample)))
        except Exception as error:
            if not continue_on_error:
                raise
            failures.setdefault(number, error)
            column.append(None)
    return column
