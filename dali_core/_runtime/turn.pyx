# cython: annotation_typing=False
"""Operations that signals do not interrupt."""

import threading
from collections import deque
from queue import Empty, SimpleQueue
from typing import Any

cimport cython


@cython.final
cdef class Turn:
    """A lock that is taken and released by an assignment.

    Python runs handlers of signals after calls, and so also after ``with`` has released a lock: a
    batch that is about to be returned would be lost there. After an assignment it runs none.

    Attributes
    ----------
    is_held : bool
        Whether this thread has it. Setting it to True waits for it, which may be interrupted.
    """

    cdef object lock

    def __init__(self):
        self.lock = threading.RLock()

    @property
    def is_held(self) -> bool:
        return self.lock._is_owned()

    @is_held.setter
    def is_held(self, bint wanted) -> None:
        if wanted:
            self.lock.acquire()
        else:
            self.lock.release()

    @property
    def is_free(self) -> bool:
        """Whether no other thread has it."""
        if not self.lock.acquire(blocking=False):
            return False
        self.lock.release()
        return True

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *error: object) -> None:
        self.lock.release()


@cython.final
cdef class Queues:
    """Queues that get entries by an assignment, and lose their first ones together.

    Parameters
    ----------
    count : int
        How many.
    """

    cdef list queues
    cdef object arrivals

    def __init__(self, int count):
        self.queues = [deque() for _ in range(count)]
        self.arrivals = SimpleQueue()

    def __setitem__(self, size_t number, entry: object) -> None:
        """Append to a queue, and wake what waits for that."""
        self.queues[number].append(entry)
        self.arrivals.put(None)

    def firsts(self) -> list[Any]:
        """Return the first entries, with None for an empty queue."""
        return [queue[0] if queue else None for queue in self.queues]

    def __delitem__(self, all_of_them: object) -> None:
        """Delete the first entry of each queue that has one."""
        for queue in self.queues:
            if queue:
                queue.popleft()

    def wait(self, double seconds) -> None:
        """Wait until something has arrived since the last time."""
        try:
            self.arrivals.get(timeout=seconds)
        except Empty:
            pass

    def clear(self) -> None:
        """Empty all."""
        for queue in self.queues:
            queue.clear()


@cython.final
cdef class _Raised:
    """An exception that a kept call has raised."""

    cdef object error

    def __init__(self, error: Exception) -> None:
        self.error = error


@cython.final
cdef class KeptCalls:
    """Calls whose results are kept, so that what makes them can be interrupted and repeated.

    A call and keeping its result are one piece. One that an interrupt has ended is made once more.
    """

    cdef list results
    cdef Py_ssize_t position
    cdef object key

    def __init__(self):
        self.results = []

    def holds(self, key: object) -> bool:
        """Return whether the calls for something were begun before."""
        return self.key is not None and self.key == key

    def begin(self, key: object) -> None:
        """Begin to make the calls for something, perhaps once more."""
        if not self.holds(key):
            self.results, self.key = [], key
        self.position = 0

    def forget(self) -> None:
        """Release all results."""
        self.results, self.key, self.position = [], None, 0

    def call(self, function: Any, *arguments: Any) -> Any:
        """Call a function, or return or raise again what it has returned or raised before."""
        cdef object result
        if self.position < len(self.results):
            result = self.results[self.position]
        else:
            try:
                result = function(*arguments)
            except Exception as error:
                result = _Raised(error)
            self.results.append(result)
        self.position += 1
        if type(result) is _Raised:
            raise (<_Raised> result).error
        return result
