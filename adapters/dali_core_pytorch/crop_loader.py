"""PyTorch's own way to random crops of image files, which `dali-core bench` compares with."""

from __future__ import annotations

import importlib.util
import math
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

_AREA = (0.08, 1.0)
_ASPECT_RATIO = (3 / 4, 4 / 3)
_ENDLESS = 2**40


def loader_name() -> str | None:
    """Return what is compared with, with versions; None if nothing decodes images."""
    from importlib.metadata import version

    for package, distribution in (("torchvision", "torchvision"), ("PIL", "pillow")):
        if importlib.util.find_spec("PIL") and importlib.util.find_spec(package):
            return f"torch {torch.__version__} DataLoader, {distribution} {version(distribution)}"
    return None


def open_batches(
    files: Sequence[str], num_workers: int, batch_size: int, side: int
) -> Iterator[int]:
    """Yield the sizes of batches of random crops, forever.

    Parameters
    ----------
    files : sequence of str
        Image files.
    num_workers : int
        Processes.
    batch_size : int
        Images in a batch.
    side : int
        Height and width of the crops in pixels.
    """
    # Threads of other libraries may be running, with which a process must not be forked.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # PyTorch, once for all
    dataset = _Crops(files, side)
    loader = DataLoader(
        dataset,
        batch_size=batch_size,
        sampler=RandomSampler(dataset, replacement=True, num_samples=_ENDLESS),
        num_workers=num_workers,
        multiprocessing_context=context,
    )
    return (len(batch) for batch in loader)


class _Crops(Dataset[torch.Tensor]):
    def __init__(self, files: Sequence[str], side: int) -> None:
        self._files = files
        self._side = side
        self._crop: Callable[[Any], Any] | None = None

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> torch.Tensor:
        from PIL import Image

        if self._crop is None:
            self._crop = _crop_of(self._side)
        try:
            with Image.open(self._files[index]) as picture:
                pixels = np.array(self._crop(picture.convert("RGB")))
        except OSError:  # a bad file; the pipeline has another image in its place, too
            return self[(index + 1) % len(self)]
        return torch.from_numpy(pixels)


def _crop_of(side: int) -> Callable[[Any], Any]:
    if importlib.util.find_spec("torchvision"):
        from torchvision.transforms import RandomResizedCrop

        crop: Callable[[Any], Any] = RandomResizedCrop(side, _AREA, _ASPECT_RATIO)
        return crop
    generator = np.random.default_rng()
    return lambda picture: _crop_with_pillow(picture, side, generator)


def _crop_with_pillow(picture: Any, side: int, generator: np.random.Generator) -> Any:
    from PIL import Image

    area = picture.width * picture.height * generator.uniform(*_AREA)
    lowest, highest = map(math.log, _ASPECT_RATIO)
    ratio = math.exp(generator.uniform(lowest, highest))
    width = min(picture.width, max(1, round(math.sqrt(area * ratio))))
    height = min(picture.height, max(1, round(math.sqrt(area / ratio))))
    left = int(generator.integers(picture.width - width + 1))
    top = int(generator.integers(picture.height - height + 1))
    box = (left, top, left + width, top + height)
    return picture.resize((side, side), Image.Resampling.BILINEAR, box)
