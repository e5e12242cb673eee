"""Batches of a pipeline as dictionaries of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from dali_core.plugin import pytorch

READER = "Reader"
"""Name of the reader whose samples make an epoch."""

Batch = dict[str, torch.Tensor]


class Loader:
    """Batches of a pipeline as dictionaries of tensors: one epoch for each iteration."""

    def __init__(self, pipeline: Any, names: Sequence[str]) -> None:
        self._iterator = pytorch.DALIGenericIterator(
            pipeline,
            list(names),
            reader_name=READER,
            last_batch_policy=pytorch.LastBatchPolicy.PARTIAL,
            auto_reset=True,
        )

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return len(self._iterator)

    def __iter__(self) -> Iterator[Batch]:
        for (batch,) in self._iterator:
            yield batch
