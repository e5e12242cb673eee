"""Images with a folder for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core.loaders.recipes.program import Argument, call, literal, options
from dali_core.loaders.recipes.settings import Settings

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
"""Of the colours of ImageNet, between 0 and 1, as most models expect them."""

_MARGIN = 256 / 224
"""For validation images are resized to so many times the crop, as is usual for ImageNet."""


def program(
    settings: Settings, root: Any, size: list[int], mean: Sequence[float], std: Sequence[float]
) -> str:
    """Return the program of a loader for a folder of images."""
    files = [("file_root", literal(root, "root")), *options(settings.reader), NAME]
    steps = [
        call("files, labels = fn.readers.file", files),
        *decoded(settings, size),
        normalized(settings, "images", mean, std, None if settings.train else size),
    ]
    title = f"Images of class folders, for {'training' if settings.train else 'validation'}."
    return settings.text(title, steps, ["images", "labels"])


NAME = ("name", '"files"')
"""The keyword that names the reader."""


def decoded(settings: Settings, size: list[int]) -> list[str]:
    """Return steps that decode files and resize the images, with random crops for training."""
    if settings.train:
        return [
            "    images = fn.decoders.image_random_crop(files)",
            call("images = fn.resize", ["images", ("size", literal(size, "size"))]),
        ]
    shorter = round(_MARGIN * max(size))
    return [
        "    images = fn.decoders.image(files)",
        call("images = fn.resize", ["images", ("resize_shorter", literal(shorter, "size"))]),
    ]


def normalized(
    settings: Settings,
    name: str,
    mean: Sequence[float],
    std: Sequence[float],
    crop: list[int] | None,
    layout: str | None = None,
    mirror: str = "fn.random.coin_flip()",
) -> str:
    """Return the step that normalises images, crops them to the centre and flips them."""
    arguments: list[Argument] = [name]
    if crop is not None:
        arguments.append(("crop", literal(crop, "size")))
    if settings.train:
        arguments.append(("mirror", mirror))
    arguments += [
        ("mean", scaled(mean, "mean")),
        ("std", scaled(std, "std")),
        ("dtype", "types.FLOAT"),
        ("output_layout", literal(layout or settings.target.layout, "layout")),
    ]
    return call(f"{name} = fn.crop_mirror_normalize", arguments)


def scaled(values: Sequence[float], name: str) -> str:
    """Return numbers between 0 and 1 as those of bytes."""
    written = literal([float(value) for value in values], name)
    return f"[{', '.join(f'{one} * 255' for one in written[1:-1].split(', '))}]"
