"""Shows how many of several files have been read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

_SEVERAL = 16  # files, from which on progress is shown

T = TypeVar("T")


def with_progress(
    results: Iterable[T],
    total: int,
    progress: bool | None,
    *,
    unit: str,
    title: str = "Index",
    initial: int = 0,
) -> Iterator[T]:
    """Return the results, with a bar where tqdm is installed, and else a line for each tenth.

    Parameters
    ----------
    results : iterable
        A result for each file.
    total : int
        Number of files, with those that were read before.
    progress : bool, optional
        Whether to show the progress; by default on terminals, for several files.
    unit : str
        What the files are.
    title : str
        What is being done with them.
    initial : int
        Number of files that were read before.
    """
    # None shows the bar on terminals only.
    hidden = None if progress is None and total >= _SEVERAL else not progress
    try:
        from tqdm import tqdm
    except ImportError:
        if hidden or (hidden is None and not sys.stderr.isatty()):
            return iter(results)
        return _with_lines(results, total, f"{unit}s", title, initial)

    class Bar(tqdm):  # type: ignore[misc]
        # A thread that watches bars would stay, and disturb forks.
        monitor_interval = 0

    return iter(Bar(results, total=total, unit=unit, desc=title, disable=hidden, initial=initial))


def _with_lines(
    results: Iterable[T], total: int, units: str, title: str, initial: int
) -> Iterator[T]:
    for number, result in enumerate(results, initial + 1):
        if 10 * number // total > 10 * (number - 1) // total:
            print(f"{title}: {number} of {total} {units}", file=sys.stderr)
        yield result
