"""An iterator as a data set of PyTorch, for programs that insist on a `DataLoader`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch.utils.data import IterableDataset

from dali_core.plugin.base_iterator import BaseIterator


class DALIIterableDataset(IterableDataset[Any]):
    """Give the batches of an iterator to a ``DataLoader``, or to torchdata's stateful one.

    Pass ``batch_size=None``, for these are batches already, and no workers: pipelines have threads
    of their own, which do not survive a fork.

    Parameters
    ----------
    iterator : BaseIterator
        The iterator.  Its state is that of the data set.
    """

    def __init__(self, iterator: BaseIterator) -> None:
        self._iterator = iterator

    def __repr__(self) -> str:
        """Describe the iterator."""
        return f"<{type(self).__name__} over {self._iterator!r}>"

    def __iter__(self) -> Iterator[Any]:
        """Return the iterator, in a new epoch if the last one is over."""
        return iter(self._iterator)

    def __len__(self) -> int:
        """Return the number of batches in the epoch."""
        return len(self._iterator)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the iterator."""
        return self._iterator.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of the iterator."""
        self._iterator.load_state_dict(state)
