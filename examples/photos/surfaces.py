"""Building blocks of scenes: surfaces, coordinates on them, and noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

Plane = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Surface:
    """A colour and a height for every pixel.

    Attributes
    ----------
    material : float32 array of shape (height, width)
        Position in the palette, 0 to 1.
    relief : float32 array of shape (height, width)
        Height above the ground, in pixels.
    """

    material: Plane
    relief: Plane


Scene = Callable[[np.random.Generator, int, int], Surface]


def pixels(height: int, width: int) -> tuple[Plane, Plane]:
    """Return the row and the column of every pixel, as arrays that broadcast to (height, width)."""
    return (
        np.arange(height, dtype=np.float32)[:, None],
        np.arange(width, dtype=np.float32)[None, :],
    )


def fractal_noise(
    random: np.random.Generator,
    height: int,
    width: int,
    cells: tuple[float, float],
    *,
    octaves: int = 5,
    persistence: float = 0.5,
) -> Plane:
    """Sum octaves of smooth random values.

    Parameters
    ----------
    random : numpy.random.Generator
        Draws the values.
    height, width : int
        Size of the result in pixels.
    cells : (float, float)
        How many independent values the coarsest octave has down and across. Unequal densities
        result in streaks.
    octaves : int
        Number of octaves; each is twice as fine as the one before.
    persistence : float
        Amplitude of an octave relative to the one before.

    Returns
    -------
    float32 array of shape (height, width)
        Values of mean 0, mostly within -1 and 1.
    """
    total: Plane | None = None
    amplitude, weight = 1.0, 0.0
    for octave in range(octaves):
        rows = min(height, max(2, round(cells[0] * 2**octave)))
        columns = min(width, max(2, round(cells[1] * 2**octave)))
        values = random.uniform(-1, 1, (rows, columns)).astype(np.float32) * amplitude
        # Added at its own resolution: all octaves together cost little more than the last.
        total = values if total is None else enlarge(total, rows, columns) + values
        weight += amplitude * amplitude
        amplitude *= persistence
        if rows == height and columns == width:
            break
    assert total is not None
    # A sum of independent octaves spreads like the root of its summed squares.
    return enlarge(total, height, width) * np.float32(1.3 / np.sqrt(weight))


def enlarge(values: Plane, height: int, width: int) -> Plane:
    """Interpolate an array to a larger size with smooth cubics."""
    if values.shape == (height, width):
        return values
    picture = Image.fromarray(values).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(picture, dtype=np.float32)


def smooth_step(values: Plane, start: float, end: float) -> Plane:
    """Rise from 0 at ``start`` to 1 at ``end`` with level ends."""
    position = np.clip((values - np.float32(start)) / np.float32(end - start), 0, 1)
    return position * position * (3 - 2 * position)


def cell_values(random: np.random.Generator, *indices: npt.NDArray[np.int32]) -> Plane:
    """Return one random value in 0 to 1 for each cell of a grid, by its integer coordinates."""
    table = random.random(4096, dtype=np.float32)
    address = sum(
        index * prime for index, prime in zip(indices, (73_856_093, 19_349_663), strict=True)
    )
    return table[np.bitwise_and(np.bitwise_xor(address, address >> 7), 4095)]


def ground(
    random: np.random.Generator,
    height: int,
    width: int,
    repeats: float,
    *,
    max_turn: float,
    warp: float,
) -> tuple[Plane, Plane]:
    """Lay coordinates on a plane that is turned, tilted away from the camera and bent a little.

    Parameters
    ----------
    random : numpy.random.Generator
        Draws turn, tilt and bends.
    height, width : int
        Size of the picture in pixels.
    repeats : float
        How many units of the coordinates fit into the shorter side.
    max_turn : float
        Largest turn to either side, in radians.
    warp : float
        Strength of the bends, in units of the coordinates.

    Returns
    -------
    (across, down) : float32 arrays of shape (height, width)
    """
    turn = random.uniform(-max_turn, max_turn)
    tilt = random.uniform(-0.35, 0.35, 2)
    scale = repeats / min(height, width)
    row, column = pixels(height, width)
    y = (row - height / 2) * np.float32(scale)
    x = (column - width / 2) * np.float32(scale)
    distance = 1 + (y * np.float32(tilt[0]) + x * np.float32(tilt[1])) * np.float32(1.2 / repeats)
    across = (np.float32(np.cos(turn)) * x - np.float32(np.sin(turn)) * y) / distance
    down = (np.float32(np.sin(turn)) * x + np.float32(np.cos(turn)) * y) / distance
    across += fractal_noise(random, height, width, (3, 3), octaves=3) * np.float32(warp)
    down += fractal_noise(random, height, width, (3, 3), octaves=3) * np.float32(warp)
    offset = random.uniform(-50, 50, 2)
    return across + np.float32(offset[0]), down + np.float32(offset[1])
