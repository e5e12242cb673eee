"""Data sets whose samples call a proxy; in a module, for fresh processes import them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
from torch.utils.data import Dataset, IterableDataset

BAD = 5
"""The sample that is special in some data sets."""


class Numbers(Dataset[Any]):
    """Samples of two numbers, as a proxy returns them, and their index.

    Parameters
    ----------
    proxy : DALIProxy
        Gets an array of two numbers, which are the index.
    size : int
        Number of samples.
    """

    def __init__(self, proxy: Any, size: int = 10) -> None:
        self.proxy = proxy
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.proxy(np.full(2, index, np.float32)), index


class Raising(Numbers):
    """Raises for one sample."""

    kind: type[Exception] = LookupError

    def __getitem__(self, index: int) -> tuple[Any, int]:
        if index == BAD:
            raise self.kind("no such sample")
        return super().__getitem__(index)


class Killed(Numbers):
    """Ends the process at one sample."""

    def __getitem__(self, index: int) -> tuple[Any, int]:
        if index == BAD:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


class Stream(IterableDataset[Any]):
    """The samples of `Numbers`, one after the other."""

    def __init__(self, proxy: Any, size: int = 10) -> None:
        self.numbers = Numbers(proxy, size)

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return (self.numbers[index] for index in range(len(self.numbers)))


def as_list(samples: list[Any]) -> list[Any]:
    """Collate nothing."""
    return samples
