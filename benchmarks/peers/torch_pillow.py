"""PyTorch's DataLoader with worker processes that decode and resize with Pillow."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator

import numpy as np
import PIL
import torch
from PIL import Image, ImageOps
from torch.utils.data import DataLoader, Dataset

from . import photo_settings as settings

Box = tuple[float, float, float, float]
Transform = Callable[[Image.Image], torch.Tensor]

_SIZE = (settings.CROP_SIDE, settings.CROP_SIDE)
_SCALE = (1 / torch.tensor(settings.STANDARD_DEVIATION))[:, None, None]
_OFFSET = (-torch.tensor(settings.MEAN) / torch.tensor(settings.STANDARD_DEVIATION))[:, None, None]


def versions() -> dict[str, str]:
    """Return the versions of PyTorch and Pillow."""
    return {"torch": torch.__version__, "pillow": PIL.__version__}


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


class _Cycle:
    """The indices of the files in order, repeated forever, in batches."""

    def __init__(self, num_files: int, batch_size: int) -> None:
        self.num_files = num_files
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[list[int]]:
        numbers = itertools.cycle(range(self.num_files))
        while True:
            yield list(itertools.islice(numbers, self.batch_size))


class _Photos(Dataset[torch.Tensor]):
    def __init__(self, files: list[str], transform: Transform) -> None:
        self.files = files
        self.transform = transform

    def __getitem__(self, index: int) -> torch.Tensor:
        with Image.open(self.files[index]) as picture:
            return self.transform(ImageOps.exif_transpose(picture).convert("RGB"))


def _decode(picture: Image.Image) -> torch.Tensor:
    return torch.from_numpy(np.array(picture))


def _random_crop(picture: Image.Image) -> torch.Tensor:
    # Pillow's resize always antialiases; its transform interpolates bilinearly.
    box = _draw_box(picture.width, picture.height)
    return _flip_and_normalise(
        picture.transform(_SIZE, Image.Transform.EXTENT, box, Image.Resampling.BILINEAR)
    )


def _random_crop_antialias(picture: Image.Image) -> torch.Tensor:
    box = _draw_box(picture.width, picture.height)
    return _flip_and_normalise(picture.resize(_SIZE, Image.Resampling.BILINEAR, box))


def _centre_crop(picture: Image.Image) -> torch.Tensor:
    scale = settings.SHORTER_SIDE / min(picture.size)
    size = (round(picture.width * scale), round(picture.height * scale))
    picture = picture.resize(size, Image.Resampling.BILINEAR)
    left, top = (size[0] - settings.CROP_SIDE) // 2, (size[1] - settings.CROP_SIDE) // 2
    return _normalise(
        picture.crop((left, top, left + settings.CROP_SIDE, top + settings.CROP_SIDE))
    )


def _draw_box(width: int, height: int) -> Box:
    """Draw a box of random area and aspect ratio; after ten that do not fit, use the centre."""
    lowest, highest = (math.log(ratio) for ratio in settings.RANDOM_ASPECT_RATIO)
    for _ in range(10):
        area = width * height * random.uniform(*settings.RANDOM_AREA)
        ratio = math.exp(random.uniform(lowest, highest))
        box_width, box_height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < box_width <= width and 0 < box_height <= height:
            left, top = random.randint(0, width - box_width), random.randint(0, height - box_height)
            return left, top, left + box_width, top + box_height
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    return left, top, left + side, top + side


def _flip_and_normalise(picture: Image.Image) -> torch.Tensor:
    if random.random() < 0.5:
        picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return _normalise(picture)


def _normalise(picture: Image.Image) -> torch.Tensor:
    planes = torch.from_numpy(np.array(picture)).permute(2, 0, 1).contiguous()
    return torch.addcmul(_OFFSET, planes.float(), _SCALE)


_TRANSFORMS: dict[str, Transform] = {
    "decode": _decode,
    "random_crop": _random_crop,
    "random_crop_antialias": _random_crop_antialias,
    "centre_crop": _centre_crop,
}

PIPELINES = frozenset(_TRANSFORMS)
