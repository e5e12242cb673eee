"""The data set of a loader, as far as training programs ask for it."""

from __future__ import annotations

from typing import Protocol

from dali_core.errors import ArgumentTypeError


class _Classes(Protocol):
    @property
    def classes(self) -> list[str]: ...

    @property
    def class_to_idx(self) -> dict[str, int]: ...


class LoadedDataset:
    """The samples of a loader, of which only the number and the classes are known.

    Parameters
    ----------
    num_samples : int or None
        Samples of all shards together, if that is known.
    loader : object
        Knows the classes.
    """

    def __init__(self, num_samples: int | None, loader: _Classes) -> None:
        self._num_samples = num_samples
        self._loader = loader

    def __len__(self) -> int:
        """Return the number of samples, of all shards together.

        Raises
        ------
        ArgumentTypeError
            If only a source knows it.
        """
        if self._num_samples is None:
            raise ArgumentTypeError(
                "len(loader.dataset): a reader must say how many samples there are (there is "
                "none). Read the data set with one of fn.readers."
            )
        return self._num_samples

    @property
    def classes(self) -> list[str]:
        """Names of the classes, in the order of their indices."""
        return self._loader.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The index of each class, by its name."""
        return self._loader.class_to_idx
