"""Runs programs in processes that are forked from one that has imported the library."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

# Set for the first process. Threads of numpy's libraries would not exist in the others.
ALONE = {"OPENBLAS_NUM_THREADS": "1"}


class _Forker:
    """A process of ``forker.py``."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._busy = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", f"{__package__}.forker"],
            env={**os.environ, **ALONE, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self._end)

    def run(
        self,
        program: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        timeout: float,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program; see the function."""
        assert self._process.stdin
        assert self._process.stdout
        with tempfile.TemporaryDirectory() as folder, self._busy:
            output = [Path(folder, name) for name in ("stdout", "stderr")]
            for path in output:
                path.touch()
            request = {
                "program": program,
                "command": list(command),
                "environment": dict(environment),
                "timeout": timeout,
                "output": [str(path) for path in output],
            }
            with contextlib.suppress(BrokenPipeError):
                print(json.dumps(request), file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
            if not answer:
                _forker.cache_clear()
                raise AssertionError("the process that forks others ended; the next starts another")
            texts = [path.read_text("utf-8", "replace") for path in output]
        status = json.loads(answer)
        if status is None:
            raise subprocess.TimeoutExpired(program, timeout, *texts)
        return subprocess.CompletedProcess(program, status, *texts)

    def _end(self) -> None:
        self._process.communicate()


_forker = functools.cache(lambda variables: _Forker(dict(variables)))


def run(
    program: str,
    command: Sequence[str],
    variables: Mapping[str, str],
    environment: Mapping[str, str],
    timeout: float,
) -> subprocess.CompletedProcess[str]:
    """Run a program.

    Parameters
    ----------
    program : str
        Its source.
    command : sequence of str
        Its file, or ``-c``, and its arguments.
    variables : mapping
        Environment variables that the dynamic linker and the interpreter read at their start.
    environment : mapping
        Further ones.
    timeout : float
        Timeout in seconds.

    Raises
    ------
    subprocess.TimeoutExpired
        If it runs for longer; it is killed then.
    """
    forker = _forker(tuple(sorted(variables.items())))
    environment = {**os.environ, **ALONE, **variables, **environment}
    return forker.run(program, command, environment, timeout)
