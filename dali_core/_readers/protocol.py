"""The protocol of data sets: what readers, samplers and native code may ask of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._storage import Storage

Upcoming = Callable[[int], NDArray[np.int64]]
"""Returns the indices that are fetched after the batch, at most so many."""


class DataSource(ABC):
    """A data set whose samples are numbered from 0 on, as it is when a pipeline is built.

    Every listing derives from it, and everything that is ever asked of one is declared here with a
    default. None of them is wrapped: what reads URLs is an attribute, see `storage`.

    Attributes
    ----------
    storage : Storage or None
        What reads the paths of the data set that are URLs; None if there are none.
    """

    storage: Storage | None = None

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    @property
    def labels(self) -> Sequence[int] | None:
        """The label of each sample; None if they are known only when samples are read."""
        return None

    @property
    def lengths(self) -> Sequence[int] | None:
        """The length of each sample, such as its number of tokens; None if that is not known."""
        return None

    @property
    def blocks(self) -> Sequence[int] | None:
        """The number of samples in each part that is read as a whole; None without such parts."""
        return None

    def native_arguments(self) -> dict[str, Any]:
        """Return what native code needs to read a sample by its index."""
        return {}


class Fetcher(ABC):
    """Fetches samples of a data set in Python; one thread at a time uses it.

    One of `fetch` and `fetch_many` must be overridden. An exception makes the sample a bad one; if
    `fetch_many` raises one, each sample of the batch is fetched by itself.
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.fetch is Fetcher.fetch and cls.fetch_many is Fetcher.fetch_many:
            raise TypeError(f"{cls.__name__} must have fetch or fetch_many. Add one of them.")

    def fetch(self, index: int) -> Any:
        """Return a sample: an array, or a tuple of as many as there are outputs."""
        (sample,) = self.fetch_many([index])
        return sample

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return a sample for each index."""
        return [self.fetch(index) for index in indices]

    def expect(self, upcoming: Upcoming) -> None:
        """Learn, before a batch is fetched, how to find out what is fetched after it."""
        return


class FetchedSource(DataSource, Fetcher):
    """A data set that fetches its samples itself, since it keeps nothing between two batches."""
