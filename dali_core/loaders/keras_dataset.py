"""A data set of Keras 3 that gives the batches of a loader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from dali_core.errors import ArgumentTypeError, MissingModuleError


class _Loader(Protocol):
    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...


def make_keras_dataset(loader: _Loader) -> Any:
    """Return a `keras.utils.PyDataset`, one epoch of which is an epoch of a loader.

    Raises
    ------
    MissingModuleError
        If Keras 3 is not installed.
    """
    try:
        from keras.utils import PyDataset
    except ImportError as error:
        raise MissingModuleError(
            f"Loader.keras: Keras 3 must be installed (got: {error}). Run pip install keras, and "
            "choose its backend by the environment variable KERAS_BACKEND."
        ) from error

    class LoaderDataset(PyDataset):  # type: ignore[misc]
        """Gives the batches of a loader in their order, whichever of an epoch is asked for."""

        def __init__(self) -> None:
            super().__init__()
            self._epoch: Iterator[Any] | None = None

        @property
        def num_batches(self) -> int | None:
            """The number of batches of an epoch; None if only the source knows its end."""
            try:
                return len(loader)
            except ArgumentTypeError:
                return None

        def __getitem__(self, index: int) -> Any:
            """Return the next batch, perhaps of the next epoch."""
            if self._epoch is not None:
                for batch in self._epoch:
                    return batch
            self._epoch = iter(loader)
            return next(self._epoch)

        def on_epoch_end(self) -> None:
            """Have an epoch of the loader begin with the next batch."""
            self._epoch = None

    return LoaderDataset()
