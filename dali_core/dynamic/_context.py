"""Evaluation modes, contexts and threads: the times and places at which calls are computed."""

from __future__ import annotations

import enum
import os
import threading
import weakref
from types import TracebackType
from typing import Any, Protocol

from dali_core._call.location import user_location
from dali_core._runtime.call_executor import CallExecutor
from dali_core.dynamic._checkpoint import Checkpoint
from dali_core.errors import ArgumentTypeError, ArgumentValueError, PipelineStateError

MAX_SLOTS = 2048
"""Operators and chains in one plan of an executor."""
# From how many on those that are computed are forgotten.
_MOST_PENDING = 1024


class _Threads:
    """The threads of the process, and how many there are by default."""

    def __init__(self) -> None:
        self.wanted: int | None = None
        self._executors: dict[tuple[int, int], CallExecutor] = {}

    def executor(self, num_threads: int) -> CallExecutor:
        """Return an executor with so many threads."""
        key = (os.getpid(), num_threads)  # threads do not survive a fork
        found = self._executors.get(key)
        if found is None:  # of two threads that come at the same time, one makes one for nothing
            found = self._executors.setdefault(key, CallExecutor(num_threads, MAX_SLOTS))
        return found


_threads = _Threads()


class Pending(Protocol):
    """A call that can be computed."""

    number: int

    def evaluate(self) -> None:
        """Compute it."""
        ...


class EvalMode(enum.Enum):
    """When calls are computed; each is a context manager for the thread that enters it.

    Results are the same in all modes, and so are errors, except for where they are raised.

    Attributes
    ----------
    deferred, eager
        When a value is needed: everything that it depends on is computed at once, as one program.
    sync_cpu, sync_full
        At the call, for debugging: errors are raised by the line that causes them.
    """

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4

    @classmethod
    def current(cls) -> EvalMode:
        """Return the mode of this thread."""
        return _local.modes[-1] if _local.modes else cls.eager

    def __enter__(self) -> EvalMode:
        _local.modes.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _local.modes.pop()


EvalMode.default = EvalMode.eager  # type: ignore[attr-defined]


class ThreadPool:
    """A number of threads for calls.

    Parameters
    ----------
    num_threads : int, optional
        By default as many as `get_num_threads` returns.
    device_id : int
        Accepted for compatibility.
    """

    def __init__(self, num_threads: int | None = None, *, device_id: int = -1) -> None:
        self.num_threads = get_num_threads() if num_threads is None else _checked(num_threads)


class EvalContext:
    """The threads that compute calls; a context manager for the thread that enters it.

    Parameters
    ----------
    num_threads : int, optional
        Number of threads; by default as many as `get_num_threads` returns.
    device_id : int, optional
        The device for calls with ``device="gpu"``.
    cuda_stream : object, optional
        Accepted for compatibility.
    thread_pool : ThreadPool, optional
        Has the number of threads instead.
    """

    def __init__(
        self,
        *,
        num_threads: int | None = None,
        device_id: int | None = None,
        cuda_stream: Any = None,
        thread_pool: ThreadPool | None = None,
    ) -> None:
        if num_threads is not None and thread_pool is not None:
            raise ArgumentValueError(
                f"EvalContext at {user_location()}: only one of num_threads and thread_pool may be "
                "given (got both). Leave one out."
            )
        self._num_threads = None if num_threads is None else _checked(num_threads)
        self.device_id = device_id
        self.cuda_stream = cuda_stream
        self.thread_pool = thread_pool
        self._thread: int | None = None
        self._entries = 0
        self._pending: list[weakref.ref[Pending]] = []
        self._most_pending = _MOST_PENDING
        self._checkpoint: Checkpoint | None = None

    @staticmethod
    def current() -> EvalContext:
        """Return the context of this thread: the innermost one that it has entered, or its own."""
        return _local.contexts[-1] if _local.contexts else EvalContext.default()

    @staticmethod
    def default() -> EvalContext:
        """Return the thread's own context."""
        if _local.own is None:
            _local.own = EvalContext()
        return _local.own

    @property
    def num_threads(self) -> int:
        """Number of threads that compute calls."""
        if self.thread_pool is not None:
            return self.thread_pool.num_threads
        return get_num_threads() if self._num_threads is None else self._num_threads

    @property
    def checkpoint(self) -> Checkpoint:
        """The context's own `checkpoint.Checkpoint`."""
        if self._checkpoint is None:
            self._checkpoint = Checkpoint()
        return self._checkpoint

    def note(self, call: Pending) -> None:
        """Remember a pending call for `evaluate_all`, for as long as its results are in use."""
        pending = self._pending
        pending.append(weakref.ref(call))
        if len(pending) >= self._most_pending:
            self._pending = [entry for entry in pending if entry() is not None]
            self._most_pending = 2 * len(self._pending) + _MOST_PENDING

    def evaluate_all(self) -> None:
        """Compute all calls of this context whose results are in use, and not computed yet.

        Raises
        ------
        SampleError
            If one of them fails.
        """
        for reference in self._pending:
            call = reference()
            if call is not None:
                call.evaluate()

    def __enter__(self) -> EvalContext:
        thread = threading.get_ident()
        if self._entries and self._thread != thread:
            raise PipelineStateError(
                f"EvalContext at {user_location()}: must be used by one thread at a time (another "
                "one has entered it). Make a context for each thread."
            )
        self._thread = thread
        self._entries += 1
        _local.contexts.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _local.contexts.pop()
        self._entries -= 1

    def executor(self) -> CallExecutor:
        """Return the threads of this context, which contexts with as many share."""
        return _threads.executor(self.num_threads)


class _Local(threading.local):
    def __init__(self) -> None:
        self.modes: list[EvalMode] = []
        self.contexts: list[EvalContext] = []
        self.own: EvalContext | None = None


_local = _Local()


def get_num_threads() -> int:
    """Return how many threads compute calls by default.

    That is what `set_num_threads` has set, else the environment variable ``DALI_NUM_THREADS``, else
    the number of processors that this process may use.
    """
    if _threads.wanted is not None:
        return _threads.wanted
    text = os.environ.get("DALI_NUM_THREADS", "")
    if text.isdecimal() and int(text) > 0:
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_threads(num_threads: int | None) -> None:
    """Set how many threads compute calls by default.

    Parameters
    ----------
    num_threads : int or None
        The number; None for that of the environment or of the processors.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is no positive integer.
    """
    _threads.wanted = None if num_threads is None else _checked(num_threads)


def _checked(num_threads: Any) -> int:
    where = f"num_threads at {user_location()}"
    if isinstance(num_threads, bool) or not isinstance(num_threads, int):
        raise ArgumentTypeError(
            f"{where}: must be an integer (got {num_threads!r}, a {type(num_threads).__name__}). "
            "Pass a number of threads."
        )
    if not 1 <= num_threads <= 4096:
        raise ArgumentValueError(
            f"{where}: must be from 1 to 4096 (got {num_threads}). Pass a number of threads."
        )
    return num_threads
