"""Data sets of the user: any object with a length and a method that takes indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.fetching import Fetching
from dali_core._readers.protocol import FetchedSource
from dali_core._runtime.workers import Keep, Produced
from dali_core.errors import ArgumentTypeError, ArgumentValueError

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

    @property
    def lengths(self) -> NDArray[np.int64] | None:
        """What the data set has as `lengths`, an attribute or a method; None if it has neither.

        Integers of 64 bits are not copied: they may be mapped from a file.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If that is not an integer from 0 on for each sample, or a row of them.
        """
        given = getattr(self._source, "lengths", None)
        if callable(given):
            given = given()
        if given is None:
            return None
        lengths = np.asarray(given)
        if lengths.ndim not in (1, 2) or (lengths.size and lengths.dtype.kind not in "iu"):
            raise ArgumentTypeError(
                "source.lengths must be an array of integers with one or two dimensions, or return "
                f"one (got {lengths.dtype} with {lengths.ndim} dimensions). Convert it."
            )
        if len(lengths) != len(self):
            raise ArgumentValueError(
                f"source.lengths must have an entry for each of the {len(self)} samples (got "
                f"{len(lengths)}). Leave it out if lengths are not known."
            )
        if lengths.size and (lengths.min() < 0 or lengths.max() >= 2**63):
            number = int(np.nonzero((lengths < 0) | (lengths >= 2**63))[0][0])
            raise ArgumentValueError(
                "source.lengths must consist of 64-bit integers from 0 on (got "
                f"{lengths[number]} for sample {number}). Correct it."
            )
        return lengths.astype(np.int64, copy=False)

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
