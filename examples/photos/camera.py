"""Render a surface as a photo."""

from __future__ import annotations

import colorsys

import numpy as np
import numpy.typing as npt

from .surfaces import Plane, Surface, pixels

_PALETTE_STEPS = 1024


def take(random: np.random.Generator, surface: Surface) -> npt.NDArray[np.uint8]:
    """Render a surface with random light, lens and exposure.

    Parameters
    ----------
    random : numpy.random.Generator
        Draws palette, light and camera. They do not depend on the scene, so that colours contain
        little information about the class.
    surface : Surface
        The surface.

    Returns
    -------
    uint8 array of shape (height, width, 3)
    """
    position = np.clip(surface.material, 0, 1) * np.float32(_PALETTE_STEPS - 1)
    colour = _palette(random)[position.astype(np.int16)]
    light = _light(random, surface.relief) * _lens(random, *surface.relief.shape)
    picture = colour * light[:, :, None]
    exposure = random.uniform(0.42, 0.62) / max(0.05, float(picture[::4, ::4].mean()))
    # Towards the same mean for all: brightness must not reveal the class.
    picture *= np.float32(exposure**0.8 * 255)
    grain = random.standard_normal(light.shape, dtype=np.float32) * np.float32(
        random.uniform(2, 12)
    )
    picture += grain[:, :, None]
    return np.clip(picture, 0, 255).astype(np.uint8)


def _palette(random: np.random.Generator) -> npt.NDArray[np.float32]:
    """Blend five related colours, dark and light, into a table."""
    hue = random.random()
    spread = random.choice([0.03, 0.1, 0.3])
    value = np.linspace(random.uniform(0.08, 0.25), random.uniform(0.8, 1.0), 5)
    value = value[::-1] if random.random() < 0.4 else value
    colours = [
        colorsys.hsv_to_rgb((hue + random.normal(0, spread)) % 1, random.beta(1.6, 2.6), level)
        for level in value
    ]
    steps = np.linspace(0, 4, _PALETTE_STEPS)
    channels = [np.interp(steps, np.arange(5), channel) for channel in zip(*colours, strict=True)]
    return np.stack(channels, axis=1).astype(np.float32)


def _light(random: np.random.Generator, relief: Plane) -> Plane:
    """Shade a relief by one distant lamp (Lambert's cosine law) and the light of the sky."""
    azimuth, height = random.uniform(0, 2 * np.pi), random.uniform(0.5, 1.2)
    down = np.diff(relief, axis=0, append=relief[-1:])
    across = np.diff(relief, axis=1, append=relief[:, -1:])
    facing = (
        np.float32(np.sin(height))
        - np.float32(np.cos(height) * np.cos(azimuth)) * across
        - np.float32(np.cos(height) * np.sin(azimuth)) * down
    )
    facing /= np.sqrt(across * across + down * down + 1)
    ambient = random.uniform(0.2, 0.45)
    return np.float32(ambient) + np.float32(1 - ambient) * np.clip(facing, 0, 1)


def _lens(random: np.random.Generator, height: int, width: int) -> Plane:
    """Darken towards the corners, and light one side a little more than the other."""
    row, column = pixels(height, width)
    y, x = row / height - np.float32(0.5), column / width - np.float32(0.5)
    slant = random.uniform(-0.4, 0.4, 2)
    corner = np.float32(random.uniform(0, 0.9)) * (y * y + x * x)
    return (1 + np.float32(slant[0]) * y + np.float32(slant[1]) * x) * (1 - corner)
