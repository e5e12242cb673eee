"""One loop over a loader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self

Batch = TypeVar("Batch")


class Loop(Iterator[Batch]):
    """The batches of an epoch, from the first one on or where a state has resumed.

    Parameters
    ----------
    take : callable
        Returns the next batch, or raises StopIteration at the end of the epoch.
    """

    def __init__(self, take: Callable[[], Batch]) -> None:
        self._take = take
        self._is_over = False

    def __iter__(self) -> Self:
        """Return the loop itself, which continues."""
        return self

    def __next__(self) -> Batch:
        """Return the next batch, or raise StopIteration for good."""
        if self._is_over:
            raise StopIteration
        try:
            return self._take()
        except StopIteration:
            self._is_over = True
            raise
