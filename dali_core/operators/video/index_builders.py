"""Builds many indices at once, in processes of their own: a hostile file ends one of them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Sequence
from typing import BinaryIO, cast

from dali_core._progress_bar import with_progress
from dali_core._runtime.thread_start import map_in_threads
from dali_core.operators.video.backends import (
    missing_decoder,
    seconds_of_request,
    worker_command,
)
from dali_core.operators.video.worker.indexing import IS_INDEX, read_message, write_message
from dali_core.operators.video.worker.packed_index import PackedIndex


def build_indices(
    paths: Sequence[str], *, progress: bool | None, descriptors: Sequence[int] = ()
) -> list[PackedIndex | str]:
    """Return the index of each file, or what is wrong with the file.

    Parameters
    ----------
    paths
        Files.
    progress
        Whether to show how many files have been read; see `open_indices`.
    descriptors
        What workers inherit, under the same numbers: files in `/proc/self/fd`.

    Raises
    ------
    MissingModuleError
        PyAV is not installed.
    """
    command = worker_command("index")
    if not command:
        raise missing_decoder()
    command.append(str(seconds_of_request()))
    num_workers = max(1, min(len(paths), len(os.sched_getaffinity(0))))
    builders = _Builders(command, descriptors)
    results = map_in_threads(builders.build, paths, num_workers, builders.close)
    return list(with_progress(results, len(paths), progress, unit="video"))


class _Builders:
    """A worker for each thread that asks."""

    def __init__(self, command: list[str], descriptors: Sequence[int]) -> None:
        self._command = command
        self._descriptors = tuple(descriptors)
        self._idle: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def build(self, path: str) -> PackedIndex | str:
        worker = self._take()
        answer = None
        with contextlib.suppress(OSError):  # a pipe that is closed at the other end
            write_message(cast(BinaryIO, worker.stdin), os.fsencode(os.path.abspath(path)))
            answer = read_message(cast(BinaryIO, worker.stdout))
        if not answer:
            return _how_it_ended(_end(worker))
        with self._lock:
            self._idle.append(worker)
        if answer[:1] == IS_INDEX:
            return PackedIndex.from_bytes(answer[1:])
        return answer[1:].decode("utf-8", "replace")

    def close(self) -> None:
        while self._idle:
            _end(self._idle.pop())

    def _take(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return subprocess.Popen(  # noqa: S603
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=self._descriptors,
        )


def _end(worker: subprocess.Popen[bytes]) -> int:
    for stream in (worker.stdin, worker.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    return worker.wait()


def _how_it_ended(code: int) -> str:
    import signal

    if -code in (signal.SIGALRM, signal.SIGPROF):
        return "reading it takes more time than a file of its size is worth"
    # That of the dynamic loader.
    why = ", for want of a library that it was built with" if code == 127 else ""
    return f"the process that reads it breaks down, with code {code}{why}"
