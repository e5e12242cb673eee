"""Photos and videos for programs of the documentation, and pictures of their results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from dali_core._display import coloring
from examples.photos.camera import take
from examples.photos.dataset import SCENES

CLASSES = {"city": "towers", "flowers": "flowers"}
HEIGHT, WIDTH = 160, 240


def photo(scene: str, number: int) -> np.ndarray:
    """Draw a photo: (height, width, 3) uint8."""
    random = np.random.default_rng([number, list(CLASSES.values()).index(scene) ^ 1])
    return take(random, SCENES[scene](random, HEIGHT, WIDTH))


def make_photos(folder: Path, per_class: int = 4) -> None:
    """Make the folder `photos` that programs of the documentation read."""
    for name, scene in CLASSES.items():
        target = folder / "photos" / name
        target.mkdir(parents=True)
        for number in range(per_class):
            Image.fromarray(photo(scene, number)).save(target / f"{number}.jpg", quality=95)


def first_photo() -> np.ndarray:
    """Return the first photo of the current folder: (height, width, 3) uint8."""
    first = min(Path("photos").glob("*/*"))
    with Image.open(first) as image:
        return np.asarray(image.convert("RGB"))


def size_of(path: Path) -> tuple[int, int]:
    """Return the width and the height of a picture."""
    with Image.open(path) as image:
        return image.size


def make_videos(folder: Path, num_frames: int = 40) -> None:
    """Make the folder `videos` that programs of the documentation read: a camera that pans.

    There are two videos of each class: 25 frames a second in H.264, and an uneven rate in VP9.
    """
    from fractions import Fraction
    from typing import Any

    import av

    height, width = HEIGHT * 3 // 4, WIDTH * 2 // 3
    for name, scene in CLASSES.items():
        target = folder / "videos" / name
        target.mkdir(parents=True)
        for encoder, suffix, number in (("libx264", "mp4", 0), ("libvpx-vp9", "webm", 1)):
            still = photo(scene, number)
            with av.open(str(target / f"{number}.{suffix}"), "w") as output:
                options = {"threads": "1", "crf": "20"}
                stream: Any = output.add_stream(encoder, rate=25, options=options)
                stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
                stream.codec_context.time_base = Fraction(1, 1000)
                time = 0
                for i in range(num_frames):
                    x, y = 2 * i, i
                    part = still[y : y + height, x : x + width]
                    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(part), format="rgb24")
                    frame.pts, frame.time_base = time, Fraction(1, 1000)
                    time += 40 if number == 0 else 20 + 20 * (i % 4)
                    output.mux(stream.encode(frame))
                output.mux(stream.encode(None))


def save_picture(array: np.ndarray, path: Path) -> None:
    """Save an image of any type, the frames of a clip in a row, a sound, or its spectrogram.

    Numbers are scaled as `Pipeline.show` does it. Of powers, decibels are shown.
    """
    if array.ndim > 2:
        shown, _ = coloring.photo(array if array.ndim == 3 else np.concatenate(list(array), axis=1))
    elif 1 in (array.ndim, *array.shape[1:]):
        shown = coloring.waveform(array.ravel())
    else:
        is_power = array.min() >= 0
        values = 10 * np.log10(np.maximum(array, array.max() * 1e-6)) if is_power else array
        small, _ = coloring.heat_map(values)
        size = (WIDTH, HEIGHT)
        shown = np.asarray(Image.fromarray(small).resize(size, Image.Resampling.NEAREST))
    Image.fromarray(shown).save(path, quality=85)
