# cython: annotation_typing=False
"""Signals whose handlers wait for the end of a block.

Handlers of signals run in the main thread, between any two instructions. The standard library runs
code there whose exceptions are printed and discarded, such as the hooks around a fork, so a
KeyboardInterrupt is lost. Blocking signals with `pthread_sigmask` does not help: another thread
receives the signal, and Python runs the handler in the main thread all the same. So the handlers
are replaced during the block by one in C that records the signals; they are raised again at its
end.
"""

import _signal
import threading

from libc.signal cimport raise_


cdef class DeferredSignals:
    """A block in which no handler in Python runs; what has come meanwhile is handled after it.

    In other threads than the main one, which run no handlers, it does nothing.
    """

    cdef dict handlers
    cdef list arrived
    cdef object recorder

    def __cinit__(self):
        self.handlers, self.arrived = {}, []

    def __enter__(self) -> DeferredSignals:
        if threading.current_thread() is not threading.main_thread():
            return self
        self.recorder = self._record
        try:
            for number in _signal.valid_signals():
                handler = _signal.getsignal(number)
                if callable(handler):
                    # What has come before is handled in there.
                    _signal.signal(number, self.recorder)
                    self.handlers[number] = handler
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """End the block: in a forked child, where it was not left."""
        self._restore()
        arrived, self.arrived = self.arrived, []
        for number in arrived:
            raise_(number)

    def _record(self, int number, frame: object) -> None:
        self.arrived.append(number)

    cdef int _restore(self) except -1:
        error = None
        while self.handlers:
            number, handler = self.handlers.popitem()
            # A child may have chosen another one meanwhile.
            while _signal.getsignal(number) is self.recorder:
                try:
                    _signal.signal(number, handler)
                except BaseException as raised:  # by the handler of a signal that comes right now
                    error = raised
        if error is not None:
            raise error
        return 0
