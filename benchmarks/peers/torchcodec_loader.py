"""PyTorch's DataLoader with worker processes: torchcodec decodes, torchvision's tensors follow."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import torch
import torchcodec
import torchvision
from torch.utils.data import DataLoader, Dataset
from torchcodec.decoders import decode_jpeg
from torchvision.transforms.v2 import RandomResizedCrop, functional

from . import photo_settings as settings
from .torch_pillow import _Cycle

_SIDE = settings.CROP_SIDE


def versions() -> dict[str, str]:
    """Return the versions of PyTorch, torchcodec and torchvision."""
    return {
        "torch": torch.__version__,
        "torchcodec": torchcodec.__version__,
        "torchvision": torchvision.__version__,
    }


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Run a pipeline forever, with one worker process per thread."""
    loader = DataLoader(
        _Photos(files, _TRANSFORMS[pipeline]),
        batch_sampler=_Cycle(len(files), batch_size),
        num_workers=threads,
        # Whole photos differ in size, so they stay a list.
        collate_fn=list if pipeline == "decode" else None,
    )
    return (len(batch) for batch in loader)


class _Photos(Dataset[torch.Tensor]):
    def __init__(self, files: list[str], transform: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.files = files
        self.transform = transform

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.transform(decode_jpeg(self.files[index]))


def _random_crop(image: torch.Tensor, *, antialias: bool = False) -> torch.Tensor:
    scale, ratio = list(settings.RANDOM_AREA), list(settings.RANDOM_ASPECT_RATIO)
    top, left, height, width = RandomResizedCrop.get_params(image, scale, ratio)
    image = functional.resized_crop(
        image, top, left, height, width, [_SIDE, _SIDE], antialias=antialias
    )
    return _normalise(functional.horizontal_flip(image) if random.random() < 0.5 else image)


def _random_crop_antialias(image: torch.Tensor) -> torch.Tensor:
    return _random_crop(image, antialias=True)


def _centre_crop(image: torch.Tensor) -> torch.Tensor:
    resized = functional.resize(image, [settings.SHORTER_SIDE], antialias=True)
    return _normalise(functional.center_crop(resized, [_SIDE, _SIDE]))


def _normalise(image: torch.Tensor) -> torch.Tensor:
    mean, deviation = list(settings.MEAN), list(settings.STANDARD_DEVIATION)
    result: torch.Tensor = functional.normalize(image.contiguous().float(), mean, deviation)
    return result


_TRANSFORMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "decode": lambda image: image,
    "random_crop": _random_crop,
    "random_crop_antialias": _random_crop_antialias,
    "centre_crop": _centre_crop,
}

PIPELINES = frozenset(_TRANSFORMS)
