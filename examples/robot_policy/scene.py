"""A gripper and a cube in a box of the side 1, seen from above and from the side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Image = npt.NDArray[np.uint8]

SIDE = 48  # of the pictures, in pixels
CAMERAS = {"observation.images.top": (0, 1), "observation.images.side": (0, 2)}
"""The coordinates that each camera shows, from left to right and from top to bottom."""

FPS = 10
LARGEST_STEP = 0.06
REACHED = 0.08

_CUBE, _GRIPPER, _GROUND = (220, 60, 50), (60, 120, 230), (235, 232, 225)


def start(random: np.random.Generator) -> tuple[Array, Array]:
    """Return places of the gripper and of the cube, which are not close to each other."""
    while True:
        gripper, cube = random.uniform(0.12, 0.88, (2, 3)).astype(np.float32)
        if np.linalg.norm(gripper - cube) > 0.4:
            return gripper, cube


def expert(gripper: Array, cube: Array) -> Array:
    """Return the step of a teacher who sees where the cube is: straight to it."""
    way = cube - gripper
    return np.asarray(way * min(1.0, LARGEST_STEP / max(float(np.linalg.norm(way)), 1e-6)))


def move(gripper: Array, step: Array) -> Array:
    """Return where a step leads, within the box."""
    length = max(float(np.linalg.norm(step)), 1e-6)
    return np.clip(gripper + step * min(1.0, LARGEST_STEP / length), 0, 1).astype(np.float32)


def picture(gripper: Array, cube: Array, camera: str) -> Image:
    """Draw what a camera sees: (SIDE, SIDE, 3) uint8."""
    axes = list(CAMERAS[camera])
    y, x = (np.mgrid[:SIDE, :SIDE] + 0.5) / SIDE
    image = np.empty((SIDE, SIDE, 3), np.uint8)
    image[:] = _GROUND
    across, down = cube[axes]
    image[np.maximum(abs(x - across), abs(y - down)) < 0.08] = _CUBE
    across, down = gripper[axes]
    image[np.hypot(x - across, y - down) < 0.06] = _GRIPPER
    return image
