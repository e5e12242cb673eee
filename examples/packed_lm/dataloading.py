"""The same documents in padded, bucketed and packed batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.batching import Budget, Pack
from dali_core.pytorch import Loader

from .documents import LETTERS, LONGEST

WAYS = ("padded", "bucketed", "packed")
IGNORED = -100
"""The label of what is not predicted."""


class Batch(NamedTuple):
    """Rows of tokens: a document and padding, or several documents.

    Attributes
    ----------
    tokens, labels : tensor of int64, shape (rows, length)
        Numbers of letters; labels are `IGNORED` at the first one of a document and in the padding.
    segment_ids, position_ids : tensor of int32, shape (rows, length)
        The number of the document in its row, from 1, or 0 for padding; the place in it.
    """

    tokens: torch.Tensor
    labels: torch.Tensor
    segment_ids: torch.Tensor
    position_ids: torch.Tensor


def _letters(documents: Path, order: int) -> DataNode:
    text = fn.readers.text(paths=[str(documents)], random_shuffle=True, seed=order)
    return fn.cast(text, dtype=types.INT64) - ord(LETTERS[0])


@pipeline_def
def padded_pipeline(documents: Path, order: int) -> tuple[DataNode, ...]:
    """Give documents, padded to the longest one of the batch, and masks."""
    tokens, mask, _ = fn.pad_batch(_letters(documents, order))
    return tokens, mask


@pipeline_def
def packed_pipeline(documents: Path, order: int) -> tuple[DataNode, ...]:
    """Give rows of several documents, with their labels, segments and positions."""
    tokens = _letters(documents, order)
    return tuple(fn.pack(tokens, tokens, labels=[1], capacity=LONGEST)[:4])


class Batches:
    """The batches of an epoch for each iteration.

    Parameters
    ----------
    way : {"padded", "bucketed", "packed"}
        Batches of a fixed number of documents in random order; of documents of like length, which
        are padded as well; or of rows that several documents share.
    documents : Path
        A document on each line.
    tokens : int
        About the number of letters in a batch, without the padding of ``"padded"``.
    mean_length : float
        Letters of a document.
    seed : int
        Of the order.
    num_threads : int
        Of the pipeline.
    """

    def __init__(
        self,
        way: str,
        documents: Path,
        *,
        tokens: int,
        mean_length: float,
        seed: int,
        num_threads: int,
    ) -> None:
        settings: dict[str, Any] = {"num_threads": num_threads, "device_id": None}
        if way == "packed":
            pipeline = packed_pipeline(
                documents, seed, batching=Pack(LONGEST), batch_size=tokens // LONGEST, **settings
            )
        elif way == "bucketed":
            pipeline = padded_pipeline(documents, seed, batching=Budget(tokens), **settings)
        else:
            pipeline = padded_pipeline(
                documents, seed, batch_size=max(1, round(tokens / mean_length)), **settings
            )
        self._loader = Loader(pipeline)
        self._is_packed = way == "packed"

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return len(self._loader)

    def __iter__(self) -> Iterator[Batch]:
        for batch in self._loader:
            yield Batch(*batch) if self._is_packed else with_labels(*batch)

    def close(self) -> None:
        """Release the pipeline."""
        self._loader.close()


def with_labels(tokens: torch.Tensor, mask: torch.Tensor) -> Batch:
    """Return a batch of padded documents, one in each row."""
    places = torch.arange(tokens.shape[1], dtype=torch.int32).expand_as(tokens)
    labels = tokens.masked_fill(mask == 0, IGNORED)
    labels[:, 0] = IGNORED
    return Batch(tokens, labels, mask, places * mask)
