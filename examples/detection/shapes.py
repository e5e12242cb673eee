"""Draw coloured shapes on textured backgrounds, and describe where they are."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

CLASSES = ("square", "triangle", "ring")

_CORNERS = {"square": 4, "triangle": 3}
_HOLE = 0.5  # radius of the hole of a ring in radii of the ring
_SUPERSAMPLING = 4
_GAP = 8.0  # distance of boxes, in pixels
_ATTEMPTS = 20

Box = tuple[float, float, float, float]
Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Shape:
    """A regular polygon or a ring: its centre and outer radius are in pixels."""

    name: str
    x: float
    y: float
    radius: float
    angle: float
    colour: tuple[int, int, int]

    def corners(self) -> list[tuple[float, float]]:
        """Return the vertices of a polygon."""
        count = _CORNERS[self.name]
        angles = self.angle + 2 * np.pi * np.arange(count) / count
        x, y = self.x + self.radius * np.cos(angles), self.y + self.radius * np.sin(angles)
        return list(zip(x.tolist(), y.tolist(), strict=True))

    def box(self) -> Box:
        """Return the extent of the shape: left, top, right, bottom."""
        if self.name == "ring":
            return (
                *(self.x - self.radius, self.y - self.radius),
                *(self.x + self.radius, self.y + self.radius),
            )
        x, y = zip(*self.corners(), strict=True)
        return min(x), min(y), max(x), max(y)

    def segmentation(self, height: int, width: int) -> Any:
        """Return the mask as COCO stores it: a polygon, or run lengths where there is a hole."""
        if self.name != "ring":
            return [[round(number, 2) for corner in self.corners() for number in corner]]
        y, x = np.mgrid[:height, :width] + 0.5
        distance = np.hypot(x - self.x, y - self.y)
        inside = (distance <= self.radius) & (distance >= self.radius * _HOLE)
        return {"size": [height, width], "counts": _run_lengths(inside)}

    def draw(self, picture: Image.Image) -> None:
        """Draw the shape on a picture that is supersampled."""
        drawing = ImageDraw.Draw(picture)
        if self.name == "ring":
            box = tuple(side * _SUPERSAMPLING for side in self.box())
            width = round(self.radius * (1 - _HOLE) * _SUPERSAMPLING)
            drawing.ellipse((box[0], box[1], box[2], box[3]), outline=self.colour, width=width)
        else:
            corners = [(x * _SUPERSAMPLING, y * _SUPERSAMPLING) for x, y in self.corners()]
            drawing.polygon(corners, fill=self.colour)


@dataclass(frozen=True)
class Scene:
    """A picture, uint8 of shape (height, width, 3), and the shapes in it."""

    picture: Picture
    shapes: list[Shape]


def draw_scene(random: np.random.Generator) -> Scene:
    """Draw one to four shapes, whose boxes do not overlap, on a texture."""
    height, width = int(random.integers(120, 200)), int(random.integers(140, 240))
    shapes: list[Shape] = []
    count = random.integers(1, 5)
    for _ in range(_ATTEMPTS):
        shape = _draw_shape(random, height, width)
        if len(shapes) < count and all(_are_apart(shape.box(), other.box()) for other in shapes):
            shapes.append(shape)
    texture = Image.fromarray(_texture(random, height, width))
    size = width * _SUPERSAMPLING, height * _SUPERSAMPLING
    picture = texture.resize(size, Image.Resampling.BILINEAR)
    for shape in shapes:
        shape.draw(picture)
    return Scene(np.asarray(picture.resize((width, height), Image.Resampling.BOX)), shapes)


def _draw_shape(random: np.random.Generator, height: int, width: int) -> Shape:
    radius = random.uniform(14, 36)
    colour = colorsys.hsv_to_rgb(random.random(), 0.9, random.uniform(0.75, 1))
    return Shape(
        name=str(random.choice(CLASSES)),
        x=random.uniform(radius + 1, width - radius - 1),
        y=random.uniform(radius + 1, height - radius - 1),
        radius=radius,
        angle=random.uniform(0, 2 * np.pi),
        colour=(round(255 * colour[0]), round(255 * colour[1]), round(255 * colour[2])),
    )


def _are_apart(one: Box, other: Box) -> bool:
    return (
        one[0] > other[2] + _GAP
        or other[0] > one[2] + _GAP
        or one[1] > other[3] + _GAP
        or other[1] > one[3] + _GAP
    )


def _texture(random: np.random.Generator, height: int, width: int) -> Picture:
    """Blend two dull colours by waves, stripes or a chequered pattern, and add noise."""
    y, x = np.mgrid[:height, :width]
    angle, length = random.uniform(0, np.pi), random.uniform(5, 16)
    along = (np.cos(angle) * x + np.sin(angle) * y) / length
    across = (np.cos(angle) * y - np.sin(angle) * x) / length
    patterns = (
        0.5 + 0.5 * np.sin(2 * np.pi * (along + 0.4 * np.sin(across))),
        np.where(along % 1 < random.uniform(0.2, 0.8), 0.0, 1.0),
        (np.floor(along) + np.floor(across)) % 2,
    )
    share = patterns[random.integers(len(patterns))][..., None]
    dark, bright = random.uniform(50, 110, 3), random.uniform(120, 200, 3)
    noise = random.normal(0, 8, (height, width, 1))
    return np.clip(dark + (bright - dark) * share + noise, 0, 255).astype(np.uint8)


def _run_lengths(mask: npt.NDArray[np.bool_]) -> list[int]:
    """Return the lengths of runs down the columns; the first one is outside of the mask."""
    values = np.concatenate([[False], mask.ravel(order="F")])
    changes = np.flatnonzero(values[1:] != values[:-1])
    return [int(length) for length in np.diff(np.concatenate([[0], changes, [mask.size]]))]
