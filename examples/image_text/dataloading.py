"""Rows of documents: tokens of their images, and their captions, by one plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.batching import Pack, Planned
from dali_core.pytorch import Loader

from .documents import Documents

TOKEN = 16
"""Height and width of an image token in pixels."""
RULE: dict[str, Any] = {
    "patch": TOKEN // 2,
    "merge": 2,
    "min_pixels": 32 * 32,
    "max_pixels": 80 * 80,
}


class Step(NamedTuple):
    """The documents of a step.

    Attributes
    ----------
    patches : tensor of float32, shape (tokens, TOKEN * TOKEN * 3)
        Of all images, one after the other.
    offsets : tensor of int32, shape (images + 1,)
        Where images begin.
    grids : tensor of int32, shape (images, 2)
        Their tokens along height and width.
    image_numbers : tensor of int32, shape (images,)
        Number of each image in the data set.
    letters, segment_ids : tensor of int32, shape (letters,)
        Of all captions: numbers of letters, and for each its document in the step, from 1.
    """

    patches: torch.Tensor
    offsets: torch.Tensor
    grids: torch.Tensor
    image_numbers: torch.Tensor
    letters: torch.Tensor
    segment_ids: torch.Tensor


@pipeline_def
def tokens_pipeline(files: list[Path]) -> tuple[DataNode, ...]:
    """Give the tokens of images, by their headers alone."""
    encoded, number = fn.readers.file(
        files=[str(file) for file in files], pad_last_batch=True, name="images"
    )
    _, tokens = fn.image_tokens(fn.peek_image_shape(encoded), **RULE)
    return tokens, number


@pipeline_def
def images_pipeline(files: list[Path], order: int, shuffle: bool) -> tuple[DataNode, ...]:
    """Give the tokens of the images of a step, flat, with offsets, grids and numbers."""
    encoded, number = fn.readers.file(
        files=[str(file) for file in files], random_shuffle=shuffle, seed=order
    )
    size, _ = fn.image_tokens(fn.peek_image_shape(encoded), **RULE)
    image = fn.resize(fn.decoders.image(encoded), size=size)
    image = fn.cast(image, dtype=types.FLOAT) / 127.5 - 1.0
    grid = size // TOKEN
    side, channels = fn.constant(idata=[TOKEN]), fn.constant(idata=[3])
    shape = fn.cat(grid[0:1], side, grid[1:2], side, channels)
    patches = fn.transpose(fn.reshape(image, shape=shape, layout=""), perm=[0, 2, 1, 3, 4])
    patches = fn.reshape(patches, shape=[-1, TOKEN * TOKEN * 3])
    patches, grids, numbers, _, _, offsets, *_ = fn.pack(patches, grid, number, per_segment=[1, 2])
    return patches, offsets, grids, numbers


@pipeline_def
def captions_pipeline(captions: Path, order: int, shuffle: bool) -> tuple[DataNode, ...]:
    """Give the captions of a step, one after the other."""
    text = fn.readers.text(paths=[str(captions)], random_shuffle=shuffle, seed=order)
    letters, segment_ids, *_ = fn.pack(fn.cast(text, dtype=types.INT32))
    return letters, segment_ids


def count_tokens(documents: Documents, num_threads: int) -> npt.NDArray[np.int64]:
    """Return the tokens of each document: those of its images, and the letters of its caption."""
    found = np.zeros(len(documents.images), np.int64)
    pipeline = tokens_pipeline(
        documents.images, batch_size=64, num_threads=num_threads, device_id=None
    )
    with pipeline:
        for _ in range(-(-len(found) // 64)):
            tokens, numbers = (batch.as_array() for batch in pipeline.run())
            found[numbers[:, 0]] = tokens
    ends = np.cumsum([0, *found])
    last = np.cumsum(documents.counts)
    letters = [len(line) for line in documents.captions.read_text().splitlines()]
    lengths: npt.NDArray[np.int64] = ends[last] - ends[last - documents.counts] + letters
    return lengths


class Steps:
    """The steps of an epoch for each iteration, of as many documents as have room.

    Parameters
    ----------
    documents : Documents
        The documents.
    tokens : int
        Most tokens of a step.
    num_threads, seed : int
        Of the pipelines, and of the order.
    shuffle : bool
        Whether the order is random.
    """

    def __init__(
        self,
        documents: Documents,
        *,
        tokens: int,
        num_threads: int,
        seed: int = 0,
        shuffle: bool = True,
    ) -> None:
        lengths = count_tokens(documents, num_threads)
        rule = Pack(tokens)
        self.plan = rule.plan(lengths, seed=seed, shuffle=shuffle)

        def settings(batching: Planned) -> dict[str, Any]:
            return {"num_threads": num_threads, "device_id": None, "batching": batching}

        images = images_pipeline(
            documents.images,
            seed,
            shuffle,
            **settings(rule.windows(lengths=lengths, list_sizes=documents.counts)),
        )
        captions = captions_pipeline(
            documents.captions, seed, shuffle, **settings(rule.windows(lengths=lengths))
        )
        self._loaders = Loader(images), Loader(captions)

    def __len__(self) -> int:
        """Return the number of steps in an epoch."""
        return len(self._loaders[0])

    def __iter__(self) -> Iterator[Step]:
        for images, captions in zip(*self._loaders, strict=True):
            patches, offsets, grids, numbers, *text = (batch[0] for batch in (*images, *captions))
            yield Step(patches, offsets, grids, numbers[:, 0], *text)

    def close(self) -> None:
        """Release the pipelines."""
        for loader in self._loaders:
            loader.close()
