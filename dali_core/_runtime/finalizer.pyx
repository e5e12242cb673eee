# cython: annotation_typing=False
"""Finalisers that lose no Ctrl-C.

Python runs the handlers of signals between any two instructions of the main thread. What a handler
raises while a finaliser in Python runs is printed and forgotten, and what is to be closed stays
open. So a finaliser runs nothing in the main thread: another thread does the work, and the main
thread waits for it without looking for signals. They are handled where the program goes on.
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
    WAIT_LOCK,
)
from posix.unistd cimport getpid

# What was not called yet, the oldest first: calling removes.
_waiting = {}
cdef bint _is_registered = False


cdef class Finalizer:
    """Calls a function once: on demand, when an object is garbage, or when the interpreter ends.

    At the end of the interpreter, newer ones come first. Whoever calls gets what the function
    raises; otherwise it is printed.

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
        cdef _Work work = _Work.__new__(_Work)
        work.function, work.arguments = self._function, self._arguments
        self._function = self._arguments = self._reference = None
        _waiting.pop(id(self), None)
        if work.function is None:
            return
        # A forked child leaves threads alone, and others than the main thread handle no signals.
        is_main = _thread.get_ident() == self._main_thread and getpid() == self._process
        if not (is_main and work.run_elsewhere()):
            work.run()
        if work.error is not None:
            raise work.error

    def _collected(self, reference: object) -> None:
        self()


cdef class _Work:
    """A call, and what it raised."""

    cdef object function
    cdef tuple arguments
    cdef object error
    cdef PyThread_type_lock running

    cdef bint run_elsewhere(self) except -1:
        """Have another thread do it; False if there can be none, as when the interpreter ends."""
        self.running = PyThread_allocate_lock()
        if self.running is NULL:
            return False
        PyThread_acquire_lock(self.running, WAIT_LOCK)
        try:
            _thread.start_new_thread(self.run, ())
        except RuntimeError:
            PyThread_free_lock(self.running)
            self.running = NULL
            return False
        with nogil:
            PyThread_acquire_lock(self.running, WAIT_LOCK)
        PyThread_release_lock(self.running)
        PyThread_free_lock(self.running)
        return True

    def run(self):
        try:
            self.function(*self.arguments)
        except BaseException as error:
            self.error = error
        # What the function held goes here, too: that may run code as well.
        self.function = self.arguments = None
        if self.running is not NULL:
            # Who joins a thread is registered as one; before Python 3.13, for good.
            getattr(threading, "_active", {}).pop(_thread.get_ident(), None)
            PyThread_release_lock(self.running)


def _end() -> None:
    """Call what is left, when the interpreter ends."""
    while _waiting:
        finalizer = _waiting[next(reversed(_waiting))]
        try:
            finalizer()
        except BaseException:
            sys.excepthook(*sys.exc_info())
