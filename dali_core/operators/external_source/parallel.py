"""Sources that run in workers, some batches ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from dali_core._runtime.step import StepContext
from dali_core._runtime.worker_parts import await_parts, join_parts
from dali_core._runtime.workers import FunctionSettings, Task, WorkerPool
from dali_core.errors import ArgumentTypeError, ArgumentValueError, StateMismatchError
from dali_core.operators.external_source.producing import BatchCalls, ItemTaker, SampleCalls
from dali_core.operators.external_source.states import check_items_state

_Parts = list[Task]


class _Key(NamedTuple):
    """The position of a batch, and the number of samples of its epoch before it."""

    epoch: int
    iteration: int
    first_sample: int


class ParallelSource(Protocol):
    """A source of batches for a step."""

    def join(self, pool: WorkerPool, batch_size: int) -> None:
        """Have functions run by these workers."""
        ...

    def take(self, context: StepContext) -> Any:
        """Return the data of a batch, and have those after it computed."""
        ...

    def end_epoch(self) -> None:
        """Get ready for the next epoch."""
        ...

    def state(self) -> Any:
        """Return the state that is needed to continue after the last batch that was given."""
        ...

    def restore(self, state: Any) -> None:
        """Resume from where `state` was called."""
        ...


def is_sample_source(arguments: dict[str, Any], is_iterable: bool) -> bool:
    """Return whether a parallel source gives samples, and check what it must be for that."""
    if arguments.get("source") is None:
        raise ArgumentTypeError(
            "parallel must be False without a source (got True). What is fed in needs no workers."
        )
    if is_iterable and arguments.get("batch") is False:
        raise ArgumentTypeError(
            "batch must be True for an iterable or a generator function with parallel=True (got "
            "False). Have it give batches, or use a callable that takes a types.SampleInfo."
        )
    hint = arguments.get("bytes_per_sample_hint")
    if hint is not None and min(hint) < 1:
        raise ArgumentValueError(f"bytes_per_sample_hint must be positive (got {hint}).")
    return not is_iterable and not arguments.get("batch")


class ParallelCalls:
    """A callable, called for batches or samples by any worker.

    Parameters
    ----------
    source : callable
        The user's.
    arguments : dict
        Checked arguments of `fn.external_source`.
    """

    def __init__(self, source: Callable[[Any], Any], arguments: dict[str, Any]) -> None:
        by_sample = not arguments.get("batch")
        num_outputs = arguments.get("num_outputs")
        self._function: SampleCalls | BatchCalls = (
            SampleCalls(source, num_outputs)
            if by_sample
            else BatchCalls(source, num_outputs, arguments["batch_info"])
        )
        self._by_sample = by_sample
        self._is_tuple = num_outputs is not None
        self._depth = int(arguments["prefetch_queue_depth"])
        self._hint = max(arguments.get("bytes_per_sample_hint") or [0])
        # The batches that workers compute, without a gap.
        self._ahead: deque[tuple[_Key, _Parts]] = deque()

    def join(self, pool: WorkerPool, batch_size: int) -> None:
        """Have the source called by these workers."""
        self._pool = pool
        self._batch_size = batch_size
        num_parts = max(1, min(pool.num_workers, batch_size)) if self._by_sample else 1
        self._part_size = -(-batch_size // num_parts)
        self._starts = range(0, batch_size, self._part_size)
        settings = FunctionSettings(
            num_results=(1 + self._depth) * len(self._starts),
            samples_in_result=self._part_size,
            bytes_per_sample=self._hint,
        )
        self._number = pool.add(self._function, settings)

    def take(self, context: StepContext) -> Any:
        """Return the data of a batch, and have those after it computed."""
        key = _Key(context.epoch, context.iteration, context.first_sample)
        while self._ahead and self._ahead[0][0] != key:
            self._ahead.popleft()
        while len(self._ahead) <= self._depth:
            number = len(self._ahead)
            ahead = _Key(
                key.epoch, key.iteration + number, key.first_sample + number * self._batch_size
            )
            self._ahead.append((ahead, self._submit(ahead, context.failed is not None)))
        # It stays in the queue: after an interrupt, the batch is requested again.
        produced = await_parts(self._ahead[0][1], context)
        columns = join_parts(produced, self._part_size if self._by_sample else None, context)
        return tuple(columns) if self._is_tuple else columns[0]

    def end_epoch(self) -> None:
        """Discard the batches after the end."""
        self._ahead.clear()

    def state(self) -> None:
        """Return None: the numbers of batch and sample are sufficient."""

    def restore(self, state: Any) -> None:
        """Discard the batches that were computed ahead."""
        if state is not None:
            raise StateMismatchError(
                "the source must be one that has a state (a callable with parallel=True has none, "
                f"and got {state!r}). Use the source that the state is from."
            )
        self._ahead.clear()

    def _submit(self, key: _Key, continue_on_error: bool) -> _Parts:
        if not self._by_sample:
            return [self._pool.submit(self._number, key.epoch, key.iteration, continue_on_error)]
        stops = [min(start + self._part_size, self._batch_size) for start in self._starts]
        return [
            self._pool.submit(self._number, *key, start, stop, continue_on_error)
            for start, stop in zip(self._starts, stops, strict=True)
        ]


class ParallelItems:
    """An iterable that one worker goes through.

    Parameters
    ----------
    source : iterable or generator function
        The user's.
    cycle : str
        ``"no"``, ``"quiet"`` or ``"raise"``.
    arguments : dict
        Checked arguments of `fn.external_source`.
    """

    def __init__(self, source: Any, cycle: str, arguments: dict[str, Any]) -> None:
        num_outputs = arguments.get("num_outputs")
        self._function = ItemTaker(source, cycle, num_outputs)
        self._is_tuple = num_outputs is not None
        self._depth = int(arguments["prefetch_queue_depth"])
        self._hint = max(arguments.get("bytes_per_sample_hint") or [0])
        self._cycle = cycle
        self._starts_epoch = False
        self._has_ended = False
        self._state: Any = None
        self._goes_to: tuple[Any] | None = None
        self._ahead: list[Task] = []  # the first is that of `_key`
        self._key: tuple[int, int] | None = None

    def join(self, pool: WorkerPool, batch_size: int) -> None:
        """Have the items taken by one of these workers."""
        self._pool = pool
        settings = FunctionSettings(1 + self._depth, batch_size, self._hint, is_stateful=True)
        self._number = pool.add(self._function, settings)

    def take(self, context: StepContext) -> Any:
        """Return the data of a batch, and have those after it computed."""
        # An interrupted call is repeated: what changes together is assigned, without a call.
        key = context.epoch, context.iteration
        if key != self._key:
            rest = self._ahead if self._key is None else self._ahead[1:]
            self._ahead = rest
            self._key = key
        while len(self._ahead) <= self._depth:
            how = context.failed is not None, self._starts_epoch, self._goes_to
            ahead = [*self._ahead, Task(how)]
            self._ahead = ahead
            self._starts_epoch = False
            self._goes_to = None
        for task in self._ahead:
            self._pool.submit_task(self._number, task)
        (produced,) = await_parts([self._ahead[0]], context)
        self._has_ended = produced.has_ended
        self._state = produced.state
        columns = join_parts([produced], None, context)
        return tuple(columns) if self._is_tuple else columns[0]

    def end_epoch(self) -> None:
        """Start over, if the items have ended and are to be cycled through."""
        # Another source may have ended the epoch, and what was taken ahead is next then.
        if self._has_ended:
            self._forget()
            self._starts_epoch = True
            self._has_ended = False
            if self._cycle == "raise" and self._state is not None:
                has_own = "own" in self._state
                self._state = {**self._state, "exhausted": False} if has_own else None

    def state(self) -> Any:
        """Return the state of the items, as the worker had it after the last batch given."""
        return self._state

    def restore(self, state: Any) -> None:
        """Have the worker go to a state before the next batch."""
        if state is not None:
            check_items_state(state)
        self._forget()
        self._goes_to = (state,)
        self._state = state
        self._starts_epoch = False
        self._has_ended = bool(state and state.get("exhausted"))

    def _forget(self) -> None:
        self._ahead = []
        self._key = None
