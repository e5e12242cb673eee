"""Threads that answer the reads of native threads."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from dali_core._runtime.remote_reads import RemoteReads
from dali_core._runtime.thread_start import start_new_thread
from dali_core._storage.failures import problem_of


class ReadThreads:
    """Answers reads, with as many threads as there are reads at a time.

    Parameters
    ----------
    reads : RemoteReads
        What native threads ask for.
    read : callable
        Returns the bytes of a part of an object: of a URL, an offset and a size.
    max_threads : int
        How many threads may answer at a time.
    """

    def __init__(
        self, reads: RemoteReads, read: Callable[[str, int, int], Any], max_threads: int
    ) -> None:
        self._reads = reads
        self._read = read
        self._max_threads = max_threads
        self._lock = threading.Lock()
        self._num_threads = 0
        self._num_idle = 0

    def start(self) -> None:
        """Begin to answer. What threads of before do not yet know, they need not."""
        self._reads.resume()
        with self._lock:
            self._add()

    def stop(self) -> None:
        """Fail all reads at once; threads end as soon as their requests do."""
        self._reads.interrupt()

    def _add(self) -> None:
        # They are not joined: a request may take as long as its deadline allows.
        start_new_thread(self._serve, "dali_core storage", daemon=True)
        self._num_threads += 1
        self._num_idle += 1

    def _serve(self) -> None:
        try:
            while (request := self._reads.next()) is not None:
                with self._lock:
                    self._num_idle -= 1
                    if self._num_idle == 0 and self._num_threads < self._max_threads:
                        with contextlib.suppress(RuntimeError):  # those that there are answer all
                            self._add()
                try:
                    data = self._read(request.url, request.offset, request.size)
                    self._reads.answer(request, data)
                except BaseException as error:  # of any kind: a thread waits for an answer
                    self._reads.fail(request, problem_of(request.url, error))
                finally:
                    del request
                    with self._lock:
                        self._num_idle += 1
        finally:
            with self._lock:
                self._num_threads -= 1
                self._num_idle -= 1
