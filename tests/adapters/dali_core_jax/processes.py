"""Starts jobs of several processes on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from tests.hanging import HANG_SECONDS

ROOT = Path(__file__).parents[3]


def run_job(command: Sequence[str], num_processes: int, timeout: float = HANG_SECONDS) -> list[str]:
    """Run a Python program in several processes, and return what each of them printed.

    Each gets ``--coordinator``, ``--processes`` and ``--process``.

    Raises
    ------
    AssertionError
        If one of them fails or takes too long; with the outputs of all.
    """
    with _job(command, num_processes) as (started, outputs, errors):
        _wait(started, time.monotonic() + timeout)
        _end(started)
        texts = [_read(file) for file in outputs]
        codes = [process.returncode for process in started]
        assert codes == [0] * num_processes, "\n".join(
            f"process {index} ended with {code}\n{text}\n{_read(file)}"
            for index, (code, text, file) in enumerate(zip(codes, texts, errors, strict=True))
        )
    return texts


def kill_job(
    command: Sequence[str],
    num_processes: int,
    is_time: Callable[[], bool],
    timeout: float = HANG_SECONDS,
) -> None:
    """Run a program as `run_job` does, and kill the last process at a given time.

    The others are killed afterwards, as a launcher does.
    """
    with _job(command, num_processes) as (started, outputs, errors):
        deadline = time.monotonic() + timeout
        while not is_time():
            codes = [process.poll() for process in started]
            assert codes == [None] * num_processes, [_read(file) for file in (*outputs, *errors)]
            assert time.monotonic() < deadline, [_read(file) for file in (*outputs, *errors)]
            time.sleep(0.001)
        _end(started[::-1])
        assert started[-1].returncode == -signal.SIGKILL


@contextlib.contextmanager
def _job(
    command: Sequence[str], num_processes: int
) -> Iterator[tuple[list[subprocess.Popen[bytes]], list[IO[str]], list[IO[str]]]]:
    """Start processes, whose outputs and errors go to files; kill the remaining ones at the end."""
    paths = [str(ROOT), str(ROOT / "adapters"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with contextlib.ExitStack() as stack:
        coordinator = f"127.0.0.1:{stack.enter_context(_own_port())}"
        outputs = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(num_processes)]
        errors = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(num_processes)]
        started = [
            subprocess.Popen(
                [
                    *(sys.executable, *command, "--coordinator", coordinator),
                    *("--processes", str(num_processes), "--process", str(index)),
                ],
                stdout=outputs[index],
                stderr=errors[index],
                env=environment,
            )
            for index in range(num_processes)
        ]
        try:
            yield started, outputs, errors
        finally:
            _end(started)


def _end(started: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in started:
        process.kill()
        process.wait()


def _wait(started: Sequence[subprocess.Popen[bytes]], deadline: float) -> None:
    """Wait until all processes have ended, one has failed, or the timeout has expired."""
    while time.monotonic() < deadline:
        codes = [process.poll() for process in started]
        if None not in codes:
            return
        if any(codes):
            # The others would wait for it.
            time.sleep(2)
            return
        time.sleep(0.05)


@contextlib.contextmanager
def _own_port() -> Iterator[int]:
    """Return a port that other programs do not get meanwhile; JAX shares it with this socket."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()
