"""Checks before a process is forked, and Python's warning about its threads."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator

from dali_core.errors import PipelineStateError

# The driver opens it for CUDA only, not for mere questions about devices.
_CUDA_FILE = "/dev/nvidia-uvm"


def check_may_fork() -> None:
    """Refuse to fork a process that uses CUDA, which does not work in the children of one.

    Raises
    ------
    PipelineStateError
        If it does.
    """
    if _CUDA_FILE in _open_files():
        raise PipelineStateError(
            "Pipeline: processes for parallel sources must be forked before this process uses CUDA "
            "(it does). Call start_py_workers first, or use py_start_method 'forkserver' or "
            "'spawn'."
        )


@contextlib.contextmanager
def without_warning_of_own_threads() -> Iterator[None]:
    """Keep Python from warning of a fork when no Python threads run but those of this library.

    A child inherits the locks that other threads hold, and deadlocks on one that it needs.
    Here it needs none that the library's own threads may hold: it runs the source, which never
    enters a pipeline of its parent, and the C library keeps its own locks in order. Threads of
    native libraries, such as those of BLAS, wait for work without a lock; what they need to do
    for a fork, they register. About threads of the program, nothing is known.
    """
    others = [
        thread
        for thread in threading.enumerate()
        if thread is not threading.current_thread() and not thread.name.startswith("dali_core ")
    ]
    if others:
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        yield


def _open_files() -> set[str]:
    names = set()
    for descriptor in os.listdir("/proc/self/fd"):
        # The descriptor of the folder itself is closed by now.
        with contextlib.suppress(OSError):
            names.add(os.readlink(f"/proc/self/fd/{descriptor}"))
    return names
