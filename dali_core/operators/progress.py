"""Shows how many of several files have been read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

_SEVERAL = 16  # files, from which on a bar is shown

T = TypeVar("T")


def with_progress(
    results: Iterable[T], total: int, progress: bool | None, *, unit: str
) -> Iterator[T]:
    """Return the results, with a bar where tqdm is installed.

    Parameters
    ----------
    results : iterable
        A result for each file.
    total : int
        Number of files.
    progress : bool, optional
        Whether to show the bar; by default on terminals, for several files.
    unit : str
        What the files are.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        return iter(results)
    # None shows the bar on terminals only.
    hidden = None if progress is None and total >= _SEVERAL else not progress
    return iter(tqdm(results, total=total, unit=unit, desc="Index", disable=hidden))
