"""`fn.debayer`, compared with NVIDIA DALI.

All algorithms give the same bits but vng_ocv: few of its values differ, by one level.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
from tests.conformance.comparing import check, check_refused, numbers, reference, run

POSITIONS = ((0, 0), (0, 1), (1, 0), (1, 1))
SHAPES = ((2, 2), (2, 8), (8, 2), (4, 4), (6, 20), (8, 8), (30, 44))


def images(dtype: str, *dims: int) -> list[np.ndarray]:
    return [numbers(dtype, shape + dims, seed) for seed, shape in enumerate(SHAPES)]


@pytest.mark.parametrize("algorithm", ["bilinear_ocv", "edgeaware_ocv", "gray_ocv"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_same_bits(algorithm: str, dtype: str) -> None:
    for position in POSITIONS:
        arguments: dict[str, Any] = {"blue_position": position, "algorithm": algorithm}
        check("debayer", (images(dtype), "HW"), **arguments)
        check("debayer", (images(dtype, 1), "HWC"), **arguments)
    check("debayer", (images(dtype), ""), blue_position=1, algorithm=algorithm)
    check("debayer", (images(dtype, 1), ""), blue_position=[0], algorithm=algorithm)


def test_gradients() -> None:
    for position in POSITIONS:
        inputs = [(images("uint8"), "HW")]
        constants = {"blue_position": position, "algorithm": "vng_ocv"}
        (theirs,), (ours,) = (
            run(library, "debayer", inputs, {}, constants) for library in (reference, dali_core)
        )
        for mine, expected in zip(ours.samples, theirs.samples, strict=True):
            difference = np.abs(mine.astype(int) - expected)
            assert difference.max() <= 1
            assert (difference > 0).mean() < 0.02


def test_positions_of_samples_and_frames() -> None:
    samples = images("uint8")
    positions = [np.int32(POSITIONS[i % 4]) for i in range(len(samples))]
    check("debayer", (samples, "HW"), per_sample={"blue_position": positions})
    clips = [np.stack([image, image[::-1]]) for image in samples]
    check("debayer", (clips, "FHW"), blue_position=(0, 1))
    check("debayer", ([clip[..., None] for clip in clips], "FHWC"), blue_position=(1, 0))


@pytest.mark.parametrize(
    ("image", "layout", "arguments"),
    [
        (np.zeros((8, 8, 3), np.uint8), "HWC", {}),
        (np.zeros((1, 8, 8), np.uint8), "CHW", {}),
        (np.zeros((7, 8), np.uint8), "HW", {}),
        (np.zeros((8, 8), np.float32), "HW", {}),
        (np.zeros((8, 8), np.int16), "HW", {}),
        (np.zeros((8, 8), np.uint16), "HW", {"algorithm": "vng_ocv"}),
        (np.zeros((8, 8), np.uint8), "HW", {"algorithm": "default_npp"}),
        (np.zeros((8, 8), np.uint8), "HW", {"algorithm": "other"}),
        (np.zeros((8, 8), np.uint8), "HW", {"blue_position": (0, 2)}),
    ],
)
def test_invalid_arguments_raise_in_both(
    image: np.ndarray, layout: str, arguments: dict[str, Any]
) -> None:
    check_refused("debayer", ([image], layout), **{"blue_position": (0, 0), **arguments})
