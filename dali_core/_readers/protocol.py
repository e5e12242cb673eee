"""The protocol of data sets: what readers, samplers and native code may ask of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._storage import Storage
from dali_core.errors import ArgumentTypeError

Upcoming = Callable[[int], NDArray[np.int64]]
"""Returns the indices that are fetched after the batch, at most so many."""


class DataSource(ABC):
    """A data set whose samples are numbered from 0 on, as it is when a pipeline is built.

    Every listing derives from it, and everything that is ever asked of one is declared here, with
    a default. No data set is wrapped in another one, which might forget a member: what reads its
    URLs is an attribute.

    Attributes
    ----------
    storage : Storage or None
        What reads those paths for native code that are URLs; None if none are.
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
    def class_names(self) -> Sequence[str] | None:
        """The name of each label, in the order of the labels; None if labels have no names."""
        return None

    @property
    def lengths(self) -> NDArray[np.int64] | None:
        """The length of each sample; None if that is known only when samples are read.

        It is a number of tokens, or whatever else the user's data set counts; where samples are
        parts of files, the number of bytes there. Several kinds of lengths, such as tokens and
        images, are the columns of an array of the shape (samples, kinds).
        """
        return None

    @property
    def blocks(self) -> Sequence[int] | None:
        """The number of samples in each part that is read as a whole; None without such parts."""
        return None

    @property
    def fingerprint(self) -> str:
        """A short text that changes with the listing; the empty text if there is none.

        States have it, and are refused by a data set with another one. Make it of names, sizes and
        versions, and of no folder, so that a copy of the data set elsewhere has the same.
        """
        return ""

    def native_arguments(self) -> dict[str, Any]:
        """Return what native code needs to read a sample by its index."""
        return {}


@dataclass(frozen=True)
class Numbered(DataSource):
    """A data set of which only the number of samples is known.

    Attributes
    ----------
    length : int
        How many there are.
    """

    length: int

    def __len__(self) -> int:
        return self.length


class Fetcher(ABC):  # noqa: B024 (either of its methods may be the one that is overridden)
    """Fetches samples in Python; one thread at a time uses it.

    One of `fetch` and `fetch_many` must be overridden. Any exception that they raise makes bad
    samples.
    """

    def fetch(self, index: int) -> Any:
        """Return a sample: an array, or a tuple of as many as there are outputs."""
        samples = self.fetch_many([index])
        if samples is None:
            raise NotImplementedError(f"{type(self).__name__} must have fetch or fetch_many.")
        if len(samples) != 1:
            raise ArgumentTypeError(
                f"the source must return a sample for each index (got {len(samples)} for one)."
            )
        return samples[0]

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any] | None:
        """Return a sample for each index; None to have each fetched by itself.

        They are also fetched one by one after an exception, to find out which are bad.
        """
        return None

    def fetch_columns(self, indices: Sequence[int]) -> Sequence[Any] | None:
        """Return an array for each output whose first dimension is the batch, or a list of arrays.

        That costs less than samples one by one. After an exception they are fetched in that way, as
        they are if it returns None, the default.
        """
        return None

    def expect(self, upcoming: Upcoming) -> None:
        """Learn, before a batch is fetched, how to find out what is fetched after it."""
        return


class FetchedSource(DataSource, Fetcher):
    """A data set that fetches its samples itself, and keeps nothing between two batches."""
