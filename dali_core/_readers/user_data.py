"""Data sets of the user: any object with a length and a method that takes indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._readers.fetching import Fetching
from dali_core._readers.protocol import FetchedSource
from dali_core._runtime.workers import Keep, Produced
from dali_core.errors import ArgumentTypeError

_ONE = ("fetch", "__getitem__")
_MANY = ("fetch_many", "__getitems__")


class UserData(FetchedSource):
    """A data set of the user, whose methods are looked up here only.

    Parameters
    ----------
    source : object
        The data set.

    Raises
    ------
    ArgumentTypeError
        If it has no length, or gives no samples by index.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self._one, self._many = _method(source, _ONE), _method(source, _MANY)
        if not hasattr(source, "__len__") or self._one is self._many is None:
            raise ArgumentTypeError(
                "source must have __len__, and fetch or __getitem__ that take an index (got "
                f"{source!r:.100}). Add them, or use fn.external_source for other sources."
            )

    def __len__(self) -> int:
        return len(self._source)

    def fetch(self, index: int) -> Any:
        """Return a sample, from the method for one if there is such a method."""
        return super().fetch(index) if self._one is None else self._one(index)

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any] | None:
        """Return samples, from the method for several if there is such a method."""
        if self._many is None:
            return None
        samples: Sequence[Any] = self._many(list(indices))
        return samples


def _method(source: Any, names: Sequence[str]) -> Callable[[Any], Any] | None:
    # Data sets may set a method to None that they have not.
    found = (getattr(source, name, None) for name in names)
    return next((method for method in found if method is not None), None)


class FetchingInWorkers:
    """Fetches samples of a data set of the user in a worker.

    Parameters
    ----------
    source : object
        The data set, which processes may get in a packed form; see `WorkerFunction`.
    num_outputs : int or None
        As for `Fetching`.
    """

    def __init__(self, source: Any, num_outputs: int | None) -> None:
        self.source = source
        self._num_outputs = num_outputs

    def __call__(self, keep: Keep, indices: Sequence[int], skips_errors: bool) -> Produced:
        """Fetch samples, as `Fetching` does."""
        return Fetching(UserData(self.source), self._num_outputs)(keep, indices, skips_errors)
