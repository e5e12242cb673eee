"""Runs programs in separate processes, with a hard timeout: a hang is a failure."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.hanging import HANG_SECONDS

# Less than the program may take: it says what it has waited for in vain.
PRELUDE = (
    f"WAIT_SECONDS = {HANG_SECONDS // 2}"
    + """
import faulthandler, gc, os, signal, sys, threading, time, warnings
faulthandler.enable()
# Programs that a shell starts in the background inherit that Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from dali_core import Pipeline, fn
from dali_core.errors import PipelineStateError, SampleError, WorkerError
ROOT = sys.argv[1]

def numbers(iteration):
    return [np.int64(10 * iteration + i) for i in range(3)]

def make(source=numbers, function=lambda x: x, **arguments):
    with Pipeline(3, 2, None, **arguments) as pipeline:
        data, labels = fn.readers.file(file_root=ROOT)
        number = fn.python_function(fn.external_source(source), function=function)
        pipeline.set_outputs(number, labels, data)
    return pipeline

def native(**arguments):
    with Pipeline(3, 2, None, **arguments) as pipeline:
        pipeline.set_outputs(*reversed(fn.readers.file(file_root=ROOT, random_shuffle=True)))
    return pipeline

def first(outputs):
    return int(outputs[0].at(0).ravel()[0])

def num_threads():
    return len(os.listdir("/proc/self/task"))

def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

THREADS_BEFORE = num_threads()  # libraries have some of their own

def threads_left():
    # A thread that was joined may show up for a moment.
    deadline = time.monotonic() + WAIT_SECONDS
    while num_threads() > THREADS_BEFORE and time.monotonic() < deadline:
        time.sleep(0.001)
    return num_threads() - THREADS_BEFORE
"""
)


def command_for(root: Path, program: str) -> list[str]:
    # Unbuffered: in a forked child, unflushed output of the parent would be written twice. Forking
    # a process with threads is what some of these programs are about.
    options = ["-u", "-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    return [sys.executable, *options, "-c", PRELUDE + textwrap.dedent(program), str(root)]


@contextlib.contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a program; one that hangs prints its stack, and it is killed after the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        hangs = threading.Timer(HANG_SECONDS, process.send_signal, [signal.SIGABRT])
        hangs.start()
        try:
            yield process
        finally:
            hangs.cancel()
            process.kill()


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return the output of a program until it ends."""
    output, errors = process.communicate(timeout=2 * HANG_SECONDS)
    if process.returncode == -signal.SIGABRT:
        pytest.fail(f"the program hangs\n{output}\n{errors}")
    return output, errors


def run(root: Path, program: str, status: int = 0) -> str:
    """Run a program, check its exit status, and return its output."""
    with started(command_for(root, program), stderr=subprocess.PIPE) as process:
        output, errors = finish(process)
    assert process.returncode == status, output + errors
    if status == 0:
        assert errors == "", errors
    return output


def interrupt(root: Path, program: str) -> tuple[int, str]:
    """Run a program, send it Ctrl-C once it prints "ready", and return exit status and output."""
    with started(command_for(root, program), stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        output, _ = finish(process)
    return process.returncode, output


ASYNC = pytest.mark.parametrize("exec_async", [True, False], ids=["async", "inline"])
