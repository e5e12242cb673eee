"""Scenes with separate objects: bokeh, flowers, marbles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .surfaces import Plane, Surface, fractal_noise, pixels, smooth_step


def bokeh(random: np.random.Generator, height: int, width: int) -> Surface:
    """Blur points of light far behind the focus into translucent discs."""
    material = random.uniform(0.1, 0.35) + 0.2 * fractal_noise(
        random, height, width, (2, 2), octaves=2
    )
    size = random.uniform(0.045, 0.13)
    count = int(random.uniform(0.08, 0.3) / size**2)
    for window, distance, radius in _discs(
        random, (height, width), count, (size * 0.8, size * 1.3)
    ):
        disc = smooth_step(distance, radius, radius * 0.94 - 1)
        rim = 1 + 0.35 * smooth_step(distance, 0.7 * radius, radius)
        material[window] += np.float32(random.uniform(0.08, 0.4)) * disc * rim
    return Surface(material, np.zeros((height, width), np.float32))


def flowers(random: np.random.Generator, height: int, width: int) -> Surface:
    """Open flowers with pointed or round petals above blurred leaves."""
    leaves = fractal_noise(random, height, width, (5, 5), octaves=4, persistence=0.6)
    material = random.uniform(0.1, 0.4) + 0.18 * leaves
    relief = leaves * np.float32(min(height, width) * 0.02)
    petals = int(random.integers(5, 13))
    count = int(random.integers(1, 8))
    size = 0.46 / np.sqrt(count)
    petal_tone, heart_tone = random.permutation(
        [random.uniform(0.55, 0.75), random.uniform(0.85, 1)]
    )
    for window, distance, radius in _discs(
        random, (height, width), count, (size * 0.75, size * 1.25)
    ):
        angle = _angle(distance.shape, random.uniform(0, 6.3))
        lobe = np.abs(np.cos(angle * np.float32(petals / 2)))
        shape = np.float32(0.35) + np.float32(0.65) * lobe ** np.float32(random.uniform(0.35, 0.9))
        reach = distance / (radius * shape)
        petal = smooth_step(reach, 1.0, 1.0 - min(0.5, 2.5 / radius))
        heart = smooth_step(distance / radius, 0.26, 0.2)
        tone = np.float32(petal_tone) - np.float32(0.25) * (1 - lobe) - 0.12 * distance / radius
        tone = tone + heart * (np.float32(heart_tone) - tone)
        material[window] += petal * (tone - material[window])
        height_map = radius * (0.12 * lobe * np.clip(1.2 - reach, 0, 1) + 0.1 * heart)
        relief[window] += petal * (height_map + 0.05 * radius - relief[window])
    return Surface(material, relief)


def marbles(random: np.random.Generator, height: int, width: int) -> Surface:
    """Roll balls onto a cloth, each with its shadow and a swirl of its own."""
    cloth = fractal_noise(random, height, width, (30, 30), octaves=3, persistence=0.7)
    folds = fractal_noise(random, height, width, (2, 2), octaves=2)
    material = random.uniform(0.2, 0.8) + 0.06 * cloth + 0.12 * folds
    relief = folds * np.float32(min(height, width) * 0.02) + cloth * np.float32(0.4)
    count = int(random.integers(2, 10))
    size = 0.36 / np.sqrt(count)
    swirl = fractal_noise(random, height, width, (6, 6), octaves=3) * np.float32(0.18)
    for window, distance, reach in _discs(random, (height, width), count, (size * 0.7, size * 1.2)):
        radius = reach / 1.25
        inside = np.clip(radius - distance, 0, 1)
        shadow = smooth_step(distance / radius, 1.25, 0.9)
        material[window] -= 0.35 * shadow * material[window]
        tone = np.float32(random.uniform(0.15, 0.95)) + swirl[window]
        material[window] += inside * (tone - material[window])
        dome = np.sqrt(np.clip(radius * radius - distance * distance, 0, None))
        relief[window] += inside * (dome * np.float32(0.8) - relief[window])
    return Surface(material, relief)


def _discs(
    random: np.random.Generator,
    shape: tuple[int, int],
    count: int,
    sizes: tuple[float, float],
) -> Iterator[tuple[tuple[slice, slice], Plane, float]]:
    """Place discs, and return the window, the distances and the radius of each.

    ``sizes`` are the smallest and largest radius relative to the shorter side. The window is the
    square around the disc, inside the picture; distances are from its centre to each of its pixels.
    """
    height, width = shape
    unit = min(shape)
    for _ in range(count):
        radius = min(max(3, int(unit * random.uniform(*sizes))), (unit - 1) // 2)
        y = int(random.integers(radius, height - radius))
        x = int(random.integers(radius, width - radius))
        row, column = pixels(2 * radius + 1, 2 * radius + 1)
        distance = np.hypot(row - np.float32(radius), column - np.float32(radius))
        window = (slice(y - radius, y + radius + 1), slice(x - radius, x + radius + 1))
        yield window, distance, float(radius)


def _angle(shape: tuple[int, ...], turn: float) -> Plane:
    row, column = pixels(shape[0], shape[1])
    centre = np.float32((shape[0] - 1) / 2)
    return np.arctan2(row - centre, column - centre) + np.float32(turn)
