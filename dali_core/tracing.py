"""Traces of what pipelines do, for https://ui.perfetto.dev and chrome://tracing."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dali_core._atomic_files import write_whole
from dali_core._execution.nvtx_ranges import NVTX
from dali_core._execution.tracing import TRACER
from dali_core._extras import install_command
from dali_core.errors import ArgumentValueError, MissingModuleError, PipelineStateError

__all__ = ["merge", "nvtx_ranges", "trace"]


@contextmanager
def trace(filename: str | os.PathLike[str]) -> Iterator[None]:
    """Write what all pipelines of the process do meanwhile to a file.

    Perfetto and chrome://tracing show it: a row for each native thread, with the operators that it
    ran for which sample of which batch and what it waited for; a row for the threads that read
    files ahead; one for Python functions and devices; and one for the consumer thread.
    A pipeline on a device has a row for its stream, with each kernel and each group of copies.
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
        write_whole(path, json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}))


def merge(
    ours: str | os.PathLike[str],
    theirs: str | os.PathLike[str],
    filename: str | os.PathLike[str],
) -> None:
    """Put a trace of `trace` and one of ``torch.profiler`` into one file, aligned by wall clock.

    Times of PyTorch's traces are relative to ``baseTimeNanoseconds``, which they have since PyTorch
    2.3, and so are those of the result. Traces that are not relative to anything, as those of
    `trace` are, can be merged, too. The rows of our pipelines come after those of PyTorch.

    Parameters
    ----------
    ours : path
        What `trace` has written.
    theirs : path
        What ``torch.profiler.profile.export_chrome_trace`` has written, not compressed.
    filename : path
        JSON file to write. It may be one of the others.

    Raises
    ------
    ArgumentValueError
        If one of the files is no such trace.

    Examples
    --------
    >>> with torch.profiler.profile() as profiler, dali_core.trace("loader.json"):
    ...     train()
    >>> profiler.export_chrome_trace("training.json")
    >>> dali_core.tracing.merge("loader.json", "training.json", "both.json")
    """
    merged, added = _loaded(theirs), _loaded(ours)
    # Microseconds. Base times are large, and differences are exact only as integers.
    shift = (added.get("baseTimeNanoseconds", 0) - merged.get("baseTimeNanoseconds", 0)) / 1e3
    numbers = [event["pid"] for event in merged["traceEvents"] if _is_number(event.get("pid"))]
    last = max(numbers, default=0)
    for event in added["traceEvents"]:
        moved = {"ts": event["ts"] + shift} if "ts" in event else {}
        merged["traceEvents"].append({**event, **moved, "pid": last + event["pid"]})
    write_whole(filename, json.dumps(merged))


@contextmanager
def nvtx_ranges() -> Iterator[None]:
    """Mark what pipelines do in threads of Python with NVTX ranges, for Nsight Systems.

    In the domain ``dali_core`` there are ranges for each call that starts or takes a batch, for
    each call of a Python function or source, and for the work that the host does to start a batch
    on a device. Native operators have no ranges: their threads never run Python; `trace` shows
    them.

    Raises
    ------
    MissingModuleError
        If the package nvtx is not installed.
    PipelineStateError
        If ranges are being marked already.

    Examples
    --------
    >>> with dali_core.tracing.nvtx_ranges():
    ...     train()
    """
    try:
        module = importlib.import_module("nvtx")
    except ImportError as error:
        raise MissingModuleError(
            f"nvtx_ranges needs the package nvtx (got none). Run {install_command('nvtx')}.",
            name="nvtx",
        ) from error
    if NVTX.module is not None:
        raise PipelineStateError(
            "nvtx_ranges: one such block must be entered at a time (got one within another). Leave "
            "the other block first."
        )
    NVTX.module = module
    try:
        yield
    finally:
        NVTX.module = None


def _loaded(filename: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        document = json.loads(Path(filename).read_bytes())
        if not all(isinstance(event, dict) for event in document["traceEvents"]):
            raise TypeError("an event is no object")
    except (ValueError, TypeError, KeyError) as error:
        raise ArgumentValueError(
            f"merge: the files must be traces in JSON (got {os.fspath(filename)!r}: "
            f"{type(error).__name__}: {error}). Pass those of dali_core.trace and torch.profiler."
        ) from error
    return dict(document)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
