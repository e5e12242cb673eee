# cython: annotation_typing=False
"""Finalisers that lose no Ctrl-C.

Python runs the handlers of signals between any two instructions of the main thread. What a handler
raises while a finaliser in Python runs is printed and forgotten, and what is to be closed stays
open. So a finaliser runs nothing in the main thread: another thread does the work, and the main
thread waits for it without looking for signals. They are handled where the program continues.

Garbage may be collected between any two instructions, also while the thread holds a lock that the
work needs: one of `threading`, without which no thread ends, or one of the program. In the first
case the thread does not wait, in the second the wait is bounded.
"""

import _thread
import atexit
import os
import sys
import threading
import weakref

from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
    PY_LOCK_ACQUIRED,
    PyLockStatus,
    WAIT_LOCK,
)
from posix.unistd cimport getpid

cdef extern from "Python.h" nogil:
    PyLockStatus PyThread_acquire_lock_timed(
        PyThread_type_lock lock, long long microseconds, int interruptible
    )

# How long the collection of garbage waits; microseconds. -1: without a limit.
cdef long long MAX_WAIT = 10_000_000
cdef long long FOREVER = -1

# What was not called yet, the oldest first: calling removes.
_waiting = {}
cdef bint _is_registered = False


cdef class Finalizer:
    """Calls a function once: on demand, when an object is garbage, or when the interpreter ends.

    In a forked child it does nothing. At the end of the interpreter, newer ones come first. What
    the function raises is raised in the caller, if there is one; otherwise it is printed.

    Parameters
    ----------
    owner : object
        The function is called when this is garbage.
    function : callable
        What is called. It must not refer to `owner`.
    *arguments
        What it is called with.
    """

    cdef object _function
    cdef tuple _arguments
    cdef object _reference
    cdef object _main_thread
    cdef int _process

    def __init__(self, owner: object, function: Callable[..., object], *arguments: Any):
        global _is_registered
        if not _is_registered:
            atexit.register(_end)
            _is_registered = True
        self._function = function
        self._arguments = arguments
        self._main_thread = threading.main_thread().ident
        self._process = os.getpid()
        self._reference = weakref.ref(owner, self._collected)
        _waiting[id(self)] = self

    def __call__(self) -> None:
        """Call the function, unless that was done before."""
        self._call(is_garbage=False)

    def _collected(self, reference: object) -> None:
        self._call(is_garbage=True)

    cdef int _call(self, bint is_garbage) except -1:
        cdef _Work work = _Work.__new__(_Work)
        work.function, work.arguments = self._function, self._arguments
        self._function = self._arguments = self._reference = None
        _waiting.pop(id(self), None)
        if work.function is None:
            return 0
        # All that is to be closed is the parent's, such as threads, processes and files.
        if getpid() != self._process:
            return 0
        # Others than the main thread handle no signals.
        is_main = _thread.get_ident() == self._main_thread
        if is_garbage and _holds_lock_of_threads():
            is_done = work.run_elsewhere(0)
        else:
            is_done = is_main and work.run_elsewhere(MAX_WAIT if is_garbage else FOREVER)
        if not is_done:
            work.run()
        if not work.is_abandoned and work.error is not None:
            raise work.error
        return 0


cdef bint _holds_lock_of_threads() except -1:
    """Return whether this thread holds the lock that each thread takes when it begins and ends."""
    lock = getattr(threading, "_active_limbo_lock", None)
    is_owned = getattr(lock, "_is_owned", None)
    return is_owned is not None and is_owned()


cdef class _Work:
    """A call, and what it raised."""

    cdef object function
    cdef tuple arguments
    cdef object error
    cdef bint is_abandoned  # no thread waits for it any more
    cdef PyThread_type_lock running

    def __dealloc__(self):
        if self.running is not NULL:
            PyThread_free_lock(self.running)

    cdef bint run_elsewhere(self, long long max_wait) except -1:
        """Have another thread do it, and wait for that; microseconds.

        Returns False if there can be no other thread, as when the interpreter ends.
        """
        cdef bint is_done
        self.running = PyThread_allocate_lock()
        if self.running is NULL:
            return False
        PyThread_acquire_lock(self.running, WAIT_LOCK)
        try:
            _thread.start_new_thread(self.run, ())
        except RuntimeError:
            PyThread_release_lock(self.running)
            return False
        with nogil:
            is_done = PyThread_acquire_lock_timed(self.running, max_wait, 0) == PY_LOCK_ACQUIRED
        if is_done:
            PyThread_release_lock(self.running)
        self.is_abandoned = not is_done and self.function is not None
        return True

    def run(self):
        # Garbage is also collected in threads that others have started without `threading`.
        registered = getattr(threading, "_active", {})
        is_registered = _thread.get_ident() in registered
        try:
            self.function(*self.arguments)
        except BaseException as error:
            self.error = error
        # What the function held goes here, too: that may run code as well.
        self.function = self.arguments = None
        if self.is_abandoned and self.error is not None:
            sys.excepthook(type(self.error), self.error, self.error.__traceback__)
        if not is_registered:
            # A thread that joins another is registered; before Python 3.13, permanently.
            registered.pop(_thread.get_ident(), None)
        if self.running is not NULL:
            PyThread_release_lock(self.running)


def _end() -> None:
    """Call what is left, when the interpreter ends."""
    while _waiting:
        finalizer = _waiting[next(reversed(_waiting))]
        try:
            finalizer()
        except BaseException:
            sys.excepthook(*sys.exc_info())
