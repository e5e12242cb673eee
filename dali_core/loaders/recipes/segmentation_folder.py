"""Images with a mask each, in two folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core.loaders.recipes.image_folder import normalized
from dali_core.loaders.recipes.program import Argument, call, literal, options
from dali_core.loaders.recipes.settings import Settings


def program(
    settings: Settings,
    images: Any,
    masks: Any,
    size: list[int],
    mean: Sequence[float],
    std: Sequence[float],
) -> str:
    """Return the program of a loader for images and masks."""
    before = call(
        "IMAGES, MASKS = paired_files",
        [literal(images, "images"), literal(masks, "masks")],
        depth=0,
    )
    written = literal(size, "size")
    nearest = ("interp_type", "types.INTERP_NN")
    readers = [
        call(f"{name}_files, _ = fn.readers.file", [("files", files), *options(settings.reader)])
        for name, files in (("image", "IMAGES"), ("mask", "MASKS"))
    ]
    steps = [
        *readers,
        "    images = fn.decoders.image(image_files)",
        call("masks = fn.decoders.image", ["mask_files", ("output_type", "types.GRAY")]),
    ]
    if settings.train:
        window: list[Argument] = [
            "fn.shapes(images)",
            ("random_area", "[0.25, 1.0]"),
        ]
        place: list[Argument] = ["anchor", "shape", ("axes", "[0, 1]")]
        steps += [
            "    # The same window and the same side for both.",
            call("anchor, shape = fn.random_crop_generator", window),
            "    mirror = fn.random.coin_flip()",
            call("images = fn.slice", ["images", *place]),
            call("masks = fn.slice", ["masks", *place]),
        ]
    steps += [
        call("images = fn.resize", ["images", ("size", written)]),
        call("masks = fn.resize", ["masks", ("size", written), nearest]),
    ]
    if settings.train:
        steps.append(call("masks = fn.flip", ["masks", ("horizontal", "mirror")]))
    steps += [
        normalized(settings, "images", mean, std, None, mirror="mirror"),
        call(
            "masks = fn.cast",
            [call("fn.squeeze", ["masks", ("axes", "[2]")], depth=0), ("dtype", "types.INT64")],
        ),
    ]
    title = f"Images and their masks, for {'training' if settings.train else 'validation'}."
    return settings.text(
        title,
        steps,
        ["images", "masks"],
        before=before,
        files="image_files",
        helpers=["paired_files"],
    )
