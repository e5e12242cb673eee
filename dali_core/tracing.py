"""Traces of what pipelines do, for https://ui.perfetto.dev and chrome://tracing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dali_core._execution.tracing import TRACER
from dali_core.errors import PipelineStateError

__all__ = ["trace"]


@contextmanager
def trace(filename: str | os.PathLike[str]) -> Iterator[None]:
    """Write what all pipelines of the process do meanwhile to a file.

    Perfetto and chrome://tracing show it: a row for each native thread, with the operators that it
    ran for which sample of which batch and what it waited for; a row for the threads that read
    files ahead; one for Python functions and devices; and one for the thread that takes batches.
    Times are those of the wall clock, in microseconds since 1970.

    Of each thread at most a million entries are kept.

    Parameters
    ----------
    filename : path
        JSON file to write. It is replaced at once, when the block ends without a failure to write.

    Raises
    ------
    PipelineStateError
        If a trace is being written already.

    Examples
    --------
    >>> with dali_core.trace("run.json"):
    ...     for _ in range(20):
    ...         pipeline.run()
    """
    path = Path(filename)
    if not TRACER.start():
        raise PipelineStateError(
            f"trace: one trace must be written at a time (got {os.fspath(filename)!r} within "
            "another). Leave the other block first."
        )
    try:
        path.open("ab").close()  # so that a wrong path is found before the time is spent
    except OSError:
        TRACER.stop()
        raise
    try:
        yield
    finally:
        events = TRACER.stop()
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            with open(part, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
