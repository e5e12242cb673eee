"""Videos with a folder for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core.loaders.recipes.image_folder import normalized
from dali_core.loaders.recipes.program import call, literal, options
from dali_core.loaders.recipes.settings import Settings


def program(
    settings: Settings,
    root: Any,
    num_frames: int,
    stride: int,
    size: list[int],
    mean: Sequence[float],
    std: Sequence[float],
) -> str:
    """Return the program of a loader for a folder of videos."""
    clips = [
        ("file_root", literal(root, "root")),
        ("sequence_length", str(num_frames)),
        ("stride", str(stride)),
        *options(settings.reader),
        ("name", '"clips"'),
    ]
    steps = [call("clips, labels = fn.readers.video", clips)]
    written = literal(size, "size")
    if settings.train:
        steps += [
            call("anchor, shape = fn.random_crop_generator", ["fn.shapes(clips)[1:]"]),
            call("clips = fn.slice", ["clips", "anchor", "shape", ("axis_names", '"HW"')]),
            call("clips = fn.resize", ["clips", ("size", written)]),
        ]
    else:
        shorter = literal(round(256 / 224 * max(size)), "size")
        steps.append(call("clips = fn.resize", ["clips", ("resize_shorter", shorter)]))
    layout = "CFHW" if settings.target.layout == "CHW" else "FHWC"
    crop = None if settings.train else size
    steps.append(normalized(settings, "clips", mean, std, crop, layout))
    title = f"Clips of class folders, for {'training' if settings.train else 'validation'}."
    return settings.text(title, steps, ["clips", "labels"], files="clips")
