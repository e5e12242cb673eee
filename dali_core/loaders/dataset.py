"""What training programs ask the data set of a loader for."""

from __future__ import annotations

from typing import Protocol


class _Classes(Protocol):
    @property
    def classes(self) -> list[str]: ...

    @property
    def class_to_idx(self) -> dict[str, int]: ...


class LoadedDataset:
    """The samples of a loader, of which only the number and the classes are known.

    Parameters
    ----------
    num_samples : int
        Samples of an epoch, of all shards together.
    loader : object
        Knows the classes.
    """

    def __init__(self, num_samples: int, loader: _Classes) -> None:
        self._num_samples = num_samples
        self._loader = loader

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._num_samples

    @property
    def classes(self) -> list[str]:
        """Names of the classes, in the order of their indices."""
        return self._loader.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The index of each class, by its name."""
        return self._loader.class_to_idx
