"""The batches that remain of an iterator's epoch, which a loop would skip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def rest_of_epoch(iterator: Any) -> Iterator[Any]:
    """Yield the next batches up to the end of the epoch."""
    while True:
        try:
            batch = next(iterator)
        except StopIteration:
            return
        yield batch
