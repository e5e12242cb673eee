"""States of pipelines that other processes of the user may read, as ``dali-core top`` does.

With ``DALI_CORE_MONITOR=1``, each running pipeline has a file in a folder of this user, which is
replaced every second. Nothing listens, and no other user can read it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dali_core._cache_files import (
    UntrustedFileError,
    new_file,
    open_file,
    opened_folder,
    reason_of,
)
from dali_core._call.location import warn_user
from dali_core._runtime.thread_start import start_new_thread
from dali_core.errors import ArgumentValueError
from dali_core.monitoring.monitor import program_name
from dali_core.monitoring.snapshot import Snapshot
from dali_core.statistics import PipelineStatistics

VARIABLE = "DALI_CORE_MONITOR"
INTERVAL = 1.0
"""Seconds between two states."""

_LARGEST = 1 << 20  # bytes
_NAME = re.compile(r"([0-9]{1,10})-([0-9]{1,20})-([0-9]{1,6})\.json")
_numbers = itertools.count()


def state_folder() -> Path:
    """Return the folder of the files: in that of the user's session, or else a temporary one."""
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(session) and os.path.isdir(session):
        return Path(session, "dali_core")
    return Path(tempfile.gettempdir(), f"dali_core-{os.geteuid()}")


class Publication:
    """Writes the state of a pipeline each second, in a thread of its own, until it is closed.

    Parameters
    ----------
    read : callable
        Returns the statistics of the pipeline; None if there are none.

    Warns
    -----
    UserWarning
        If there is no safe folder for the file.
    """

    def __init__(self, read: Callable[[], PipelineStatistics | None]) -> None:
        self._read = read
        self._process = os.getpid()
        started = _start_of(self._process)
        self._name = f"{self._process}-{started}-{next(_numbers)}.json"
        self._ending = threading.Event()
        # The thread that writes may collect the pipeline as garbage then, and so close this.
        self._turn = threading.RLock()
        try:
            with _own_folder(make=True):
                pass
        except OSError as error:
            warn_user(
                f"{VARIABLE}: {str(state_folder())!r} must be a folder of this user to which no "
                f"other one may write (got: {reason_of(error)}). The pipeline is not published. "
                "Set XDG_RUNTIME_DIR to another folder.",
                UserWarning,
            )
            return
        start_new_thread(self._publish, "dali_core publication", daemon=True)

    def close(self) -> None:
        """Remove the file, and end; in a forked process nothing is done."""
        if os.getpid() != self._process:
            return
        self._ending.set()
        self._remove()

    def _publish(self) -> None:
        with contextlib.suppress(OSError):
            _remove_abandoned()
        while not self._ending.wait(INTERVAL):
            with self._turn:
                if self._ending.is_set():
                    return
                with contextlib.suppress(OSError):  # the next time, there may be room again
                    self._write()
                if self._ending.is_set():  # closed by this thread, while it wrote
                    self._remove()

    def _remove(self) -> None:
        with self._turn, contextlib.suppress(OSError), _own_folder() as folder:
            os.unlink(self._name, dir_fd=folder)

    def _write(self) -> None:
        statistics = self._read()
        if statistics is None:
            return
        data = Snapshot.of(statistics, program_name(), time.time()).to_json()
        with _own_folder(make=True) as folder:
            descriptor, partial = new_file(f"{self._name}.", folder)
            try:
                with open(descriptor, "wb") as file:
                    file.write(data)
                os.replace(partial, self._name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(partial, dir_fd=folder)
                raise


def published_processes() -> list[int]:
    """Return the processes that publish pipelines."""
    return sorted({process for process, _ in _files()})


def published_states(process: int) -> list[Snapshot]:
    """Return the states of the pipelines of a process, in the order of their starts.

    Parameters
    ----------
    process : int
        Number of the process.

    Raises
    ------
    ArgumentValueError
        If it publishes none, or a file is no state.
    """
    names = [name for number, name in _files() if number == process]
    states = []
    with contextlib.suppress(FileNotFoundError), _own_folder() as folder:
        for name in sorted(names, key=lambda name: int(name.rpartition("-")[2].partition(".")[0])):
            with contextlib.suppress(FileNotFoundError):  # its pipeline has just been closed
                states.append(Snapshot.from_json(_content(name, folder)))
    if not states:
        others = ", ".join(map(str, published_processes())) or "none"
        raise ArgumentValueError(
            f"top: process {process} must publish its pipelines (got none of its; these processes "
            f"do: {others}). Start it with {VARIABLE}=1 in its environment."
        )
    return states


def _content(name: str, folder: int) -> bytes:
    with open(open_file(name, folder), "rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ArgumentValueError(
            f"top: the state of a pipeline must have at most {_LARGEST} bytes (got {name}, which "
            "has more). Remove the file."
        )
    return data


def _files() -> Iterator[tuple[int, str]]:
    """List the files of processes that run, with the numbers of these."""
    try:
        with _own_folder() as folder:
            names = os.listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        found = _NAME.fullmatch(name)
        if found is not None and _start_of(int(found[1])) == int(found[2]):
            yield int(found[1]), name


def _remove_abandoned() -> None:
    """Remove the files of processes that were killed."""
    with _own_folder() as folder:
        for name in os.listdir(folder):
            found = _NAME.match(name)
            if found is not None and _start_of(int(found[1])) != int(found[2]):
                os.unlink(name, dir_fd=folder)


@contextlib.contextmanager
def _own_folder(*, make: bool = False) -> Iterator[int]:
    with opened_folder(state_folder(), make=make) as folder:
        if os.fstat(folder).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise UntrustedFileError("other users may write to it")
        yield folder


def _start_of(process: int) -> int:
    """Return when a process started, in the system's own unit, since numbers are used again."""
    try:
        # The name of the program, which is in parentheses, may have any characters.
        text = Path("/proc", str(process), "stat").read_bytes().rpartition(b")")[2]
        return int(text.split()[19])
    except (OSError, ValueError, IndexError):
        return 0
