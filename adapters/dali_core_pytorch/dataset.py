"""An iterator as a PyTorch dataset, for programs that require a `DataLoader`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch.utils.data import IterableDataset

from dali_core.plugin.base_iterator import BaseIterator


class DALIIterableDataset(IterableDataset[Any]):
    """Wrap an iterator as a dataset for ``DataLoader``, or torchdata's stateful one.

    Pass ``batch_size=None``, since the items are batches already, and no workers: pipelines have
    their own threads, which do not survive a fork.

    Parameters
    ----------
    iterator : BaseIterator
        The iterator.  Its state is that of the dataset.
    """

    def __init__(self, iterator: BaseIterator) -> None:
        self._iterator = iterator

    def __repr__(self) -> str:
        """Create the dataset."""
        return f"<{type(self).__name__} over {self._iterator!r}>"

    def __iter__(self) -> Iterator[Any]:
        """Return the iterator, in a new epoch unless nothing of this one was returned."""
        return iter(self._iterator)

    def __len__(self) -> int:
        """Return the number of batches in the epoch."""
        return len(self._iterator)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the iterator."""
        return self._iterator.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from a state of the iterator."""
        self._iterator.load_state_dict(state)
