"""Draw moving scenes: text that glides over textures and gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

_SUPERSAMPLING = 2
_MARGIN = 2.0  # side of a canvas in sides of the picture
_SYLLABLES = (
    "ba",
    "cor",
    "de",
    "fi",
    "gra",
    "ho",
    "ir",
    "ka",
    "lum",
    "mo",
    "net",
    "po",
    "ra",
    "sy",
)

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Path:
    """How a layer moves: each attribute is a value at the start and its change per frame."""

    x: tuple[float, float]
    y: tuple[float, float]
    angle: tuple[float, float]
    zoom: tuple[float, float]

    def at(self, frame: int) -> tuple[float, float, float, float]:
        """Return x and y in pixels, the angle in radians and the zoom at a frame."""
        x, y, angle, zoom = (
            start + change * frame for start, change in (self.x, self.y, self.angle, self.zoom)
        )
        return x, y, angle, max(zoom, 0.5)


class MovingScene:
    """A texture or gradient with shapes, and text in front of it; each moves independently.

    Parameters
    ----------
    random : numpy.random.Generator
        Draws all parameters of the scene.
    height, width : int
        Size of the frames.
    """

    def __init__(self, random: np.random.Generator, height: int, width: int) -> None:
        self._size = width * _SUPERSAMPLING, height * _SUPERSAMPLING
        canvas = tuple(int(side * _MARGIN) for side in self._size)
        background = Image.fromarray(_texture(random, canvas[1], canvas[0]))
        _draw_shapes(random, background)
        self._layers = [
            (background, _draw_path(random, speed=1.2)),
            (_draw_text(random, canvas), _draw_path(random, speed=2.0)),
        ]

    def frame(self, number: int) -> Picture:
        """Draw a frame: uint8 of shape (height, width, 3)."""
        (background, path), (text, text_path) = self._layers
        picture = self._moved(background, path, number)
        moved = self._moved(text, text_path, number)
        picture.paste(moved, mask=moved.getchannel("A"))
        small = tuple(side // _SUPERSAMPLING for side in self._size)
        return np.asarray(picture.resize(small, Image.Resampling.BOX))

    def _moved(self, canvas: Image.Image, path: Path, number: int) -> Image.Image:
        x, y, angle, zoom = path.at(number)
        cosine, sine = np.cos(angle) / zoom, np.sin(angle) / zoom
        width, height = self._size
        middle_x = canvas.width / 2 + x * _SUPERSAMPLING
        middle_y = canvas.height / 2 + y * _SUPERSAMPLING
        matrix = (
            *(cosine, -sine, middle_x - cosine * width / 2 + sine * height / 2),
            *(sine, cosine, middle_y - sine * width / 2 - cosine * height / 2),
        )
        return canvas.transform(
            self._size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR
        )


def _draw_path(random: np.random.Generator, speed: float) -> Path:
    return Path(
        x=(random.uniform(-10, 10), random.uniform(-speed, speed)),
        y=(random.uniform(-10, 10), random.uniform(-speed, speed)),
        angle=(random.uniform(-0.2, 0.2), random.uniform(-0.004, 0.004)),
        zoom=(random.uniform(0.9, 1.3), random.uniform(-0.003, 0.003)),
    )


def _texture(random: np.random.Generator, height: int, width: int) -> Picture:
    """Blend two colours by a gradient, waves, or a chequered or woven pattern."""
    y, x = np.mgrid[:height, :width].astype(np.float32) / _SUPERSAMPLING
    angle = random.uniform(0, np.pi)
    along = np.cos(angle) * x + np.sin(angle) * y
    across = np.cos(angle) * y - np.sin(angle) * x
    length = random.uniform(6, 22)
    first, second = along / length, across / (length * random.uniform(0.6, 1.7))
    patterns = (
        lambda: along / width * _SUPERSAMPLING + 0.5,
        lambda: 0.5 + 0.5 * np.sin(2 * np.pi * (first + 0.4 * np.sin(second))),
        lambda: ((np.floor(first) + np.floor(second)) % 2).astype(np.float32),
        lambda: np.where(first % 1 < 0.15, 0.0, np.where(second % 1 < 0.2, 0.25, 0.9)),
        lambda: 0.5 + 0.25 * np.sin(2 * np.pi * first) + 0.25 * np.sin(2 * np.pi * second),
    )
    share = np.clip(patterns[random.integers(len(patterns))](), 0, 1)[..., None]
    dark, bright = random.uniform(10, 130, 3), random.uniform(110, 245, 3)
    return (dark + (bright - dark) * share).astype(np.uint8)


def _draw_shapes(random: np.random.Generator, canvas: Image.Image) -> None:
    drawing = ImageDraw.Draw(canvas)
    for _ in range(random.integers(6, 14)):
        x, y = random.uniform(0, canvas.width), random.uniform(0, canvas.height)
        radius = random.uniform(6, 30) * _SUPERSAMPLING
        colour = tuple(int(value) for value in random.integers(0, 256, 3))
        corners = int(random.integers(3, 8))
        if corners == 7:
            drawing.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
        else:
            turn = random.uniform(0, 360)
            drawing.regular_polygon((x, y, radius), corners, rotation=turn, fill=colour)


def _draw_text(random: np.random.Generator, size: tuple[int, ...]) -> Image.Image:
    """Write lines of words on a transparent canvas."""
    canvas = Image.new("RGBA", (size[0], size[1]))
    drawing = ImageDraw.Draw(canvas)
    y = 0.0
    while y < size[1]:
        height = random.uniform(9, 22) * _SUPERSAMPLING
        font = ImageFont.load_default(height)
        colour = tuple(
            int(value)
            for value in random.choice([random.integers(0, 70, 3), random.integers(190, 256, 3)])
        )
        line = " ".join(_word(random) for _ in range(16))
        drawing.text((random.uniform(-60, 0), y), line, fill=(*colour, 255), font=font)
        y += height * random.uniform(1.3, 2.6)
    return canvas


def _word(random: np.random.Generator) -> str:
    if random.random() < 0.2:
        return str(random.integers(10, 9999))
    word = "".join(random.choice(_SYLLABLES, int(random.integers(1, 4))))
    return word.capitalize() if random.random() < 0.3 else word
