"""Scenes with a sky: clouds, mountains, towers."""

from __future__ import annotations

import numpy as np

from .surfaces import Plane, Surface, enlarge, fractal_noise, pixels, smooth_step


def clouds(random: np.random.Generator, height: int, width: int) -> Surface:
    """Pile soft clouds in a sky."""
    across = random.uniform(1.5, 3.5)
    density = fractal_noise(random, height, width, (random.uniform(2, 4), across), octaves=7)
    cover = random.uniform(-0.3, 0.1)
    cloud = smooth_step(density, cover, cover + random.uniform(0.7, 1.2))
    sky = _sky(random, height, width)
    bright = random.uniform(0.75, 1)
    soft = enlarge(density[:: height // 16, :: width // 16], height, width)
    return Surface(
        material=sky + cloud * (bright - sky) - 0.1 * cloud * soft,
        relief=np.float32(min(height, width) * 0.08) * cloud * soft,
    )


def mountains(random: np.random.Generator, height: int, width: int) -> Surface:
    """Stand jagged ridges behind each other, the farther the paler."""
    row, _ = pixels(height, width)
    material = _sky(random, height, width)
    relief = np.zeros((height, width), np.float32)
    layers = int(random.integers(2, 6))
    near = random.uniform(0.0, 1.0)
    top, bottom = random.uniform(0.15, 0.4), random.uniform(0.6, 0.85)
    rock = fractal_noise(random, height, width, (6, 10), octaves=6, persistence=0.65)
    far = float(material.mean())
    for layer in range(layers):
        depth = (layer + 1) / layers
        line = _ridge(random, width, random.uniform(1.5, 4)) * (0.22 - 0.1 * depth)
        horizon = height * (top + (bottom - top) * layer / layers + line)
        mask = np.clip(row - horizon[None, :], 0, 1)
        tone = far + (near - far) * depth + 0.22 * depth * rock
        material += mask * (tone - material)
        relief += mask * (rock * np.float32(0.03 * depth * min(height, width)) - relief)
    return Surface(material, relief)


def towers(random: np.random.Generator, height: int, width: int) -> Surface:
    """Build a skyline of blocks with rows of windows."""
    material = _sky(random, height, width)
    relief = np.zeros((height, width), np.float32)
    row, column = pixels(height, width)
    unit = min(height, width)
    lit = random.uniform(0.25, 0.75)
    front, glass = random.permutation([random.uniform(0, 0.35), random.uniform(0.65, 1)])
    count = int(random.integers(4, 10))
    stain = fractal_noise(random, height, width, (3, 3), octaves=4) * np.float32(0.06)
    for order in range(count):
        breadth = unit * random.uniform(0.16, 0.42)
        left = random.uniform(-0.1, 1.0) * width
        roof = height * (random.uniform(0.05, 0.5) + 0.25 * order / count)
        lane, floor = breadth / int(random.integers(3, 7)), unit * random.uniform(0.05, 0.1)
        first, last = max(0, int(left)), min(width, int(left + breadth))
        start = int(roof)
        if last - first < 2:
            continue
        block = (slice(start, height), slice(first, last))
        x = (column[:, first:last] - np.float32(left)) / np.float32(lane)
        y = (row[start:] - np.float32(roof)) / np.float32(floor)
        pane = smooth_step(np.abs(x % 1 - 0.5), 0.38, 0.3) * smooth_step(
            np.abs(y % 1 - 0.5), 0.36, 0.28
        )
        lights = random.random((64, 64), dtype=np.float32)
        on = lights[np.floor(y).astype(np.int32) & 63, np.floor(x).astype(np.int32) & 63] < lit
        wall = np.float32(front + random.uniform(-0.1, 0.1)) + stain[block]
        material[block] = wall + pane * np.where(on, np.float32(glass) - wall, np.float32(0.12))
        relief[block] = np.float32(order * 2) - pane * np.float32(0.02 * unit)
    return Surface(material, relief)


def _sky(random: np.random.Generator, height: int, width: int) -> Plane:
    """Shade from one height to another, with a slight slant."""
    ends = random.uniform(0.1, 0.9, (2, 1)) + random.uniform(-0.1, 0.1, (2, 2))
    return enlarge(ends.astype(np.float32), height, width).copy()


def _ridge(random: np.random.Generator, width: int, peaks: float) -> Plane:
    """Draw a jagged line: noise in one dimension, folded so that it comes to points."""
    noise = fractal_noise(random, 2, width, (2, peaks), octaves=8, persistence=0.52)[0]
    return np.abs(noise) * np.float32(-2) + np.float32(1)
