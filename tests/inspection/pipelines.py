"""Pipelines whose samples the tests look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dali_core import Pipeline, fn, pipeline_def, types

SCRIPT = "<script>alert(1)<b> & \"q\" 'a'.png"
"""A name of a file that a page must escape."""


def make_images(folder: Path, count: int = 7) -> Path:
    """Write small images of different sizes; the last has a name that must be escaped."""
    random = np.random.default_rng(1)
    (folder / "images" / "a").mkdir(parents=True)
    for number in range(count):
        pixels = random.integers(0, 256, (40 + number, 50, 3), np.uint8)
        name = SCRIPT if number == count - 1 else f"{number}.png"
        Image.fromarray(pixels).save(folder / "images" / "a" / name)
    return folder / "images"


def boxes_of(info: types.SampleInfo) -> np.ndarray:
    """Return boxes in fractions of the image, which depend on the sample."""
    return np.random.default_rng(info.idx_in_epoch).uniform(0.1, 0.4, (3, 4)).astype(np.float32)


def sound_of(info: types.SampleInfo) -> np.ndarray:
    """Return a tone."""
    return np.sin(np.arange(600) * (0.1 + 0.01 * info.idx_in_epoch)).astype(np.float32)


def halved(array: np.ndarray) -> np.ndarray:
    """Write into the array that a function of a pipeline gets, which is allowed."""
    array //= 2
    return array


def everything(images: Path, **options: Any) -> Pipeline:
    """Make a pipeline with a fused chain, a branch, random numbers, Python, boxes and sounds."""

    @pipeline_def(
        **{"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 5, **options},
        enable_conditionals=True,
    )
    def define():
        encoded, label = fn.readers.file(file_root=str(images), name="files", random_shuffle=True)
        boxes = fn.external_source(boxes_of, batch=False, name="given_boxes")
        image = fn.decoders.image_random_crop(encoded, name="decoded")
        image = fn.resize(image, size=[30, 40], name="resized")
        mirror = fn.random.coin_flip(dtype=types.BOOL, name="mirror")
        boxes = fn.bb_flip(boxes, horizontal=fn.cast(mirror, dtype=types.INT32), name="boxes")
        if mirror:
            image = fn.flip(image, name="flipped")
        normal = fn.crop_mirror_normalize(
            image, crop=[24, 32], dtype=types.FLOAT, mean=[127.0], std=[60.0], name="normal"
        )
        sound = fn.external_source(sound_of, batch=False, name="sound")
        spectrum = fn.spectrogram(sound, nfft=64, window_length=64, window_step=16, name="spectrum")
        dark = fn.python_function(image, function=halved, output_layouts="HWC", name="dark")
        clip = fn.stack(image, dark, image, axis=0, axis_name="F", name="clip")
        mask = fn.cast(image[:, :, :1] > 127, dtype=types.INT32, name="mask")
        noise = fn.random.uniform(range=[0.0, 1.0], name="noise")
        return normal, label, boxes, sound, spectrum, dark, clip, mask, noise

    return define()
