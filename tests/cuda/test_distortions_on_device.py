"""Noise and artefacts of compression on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_shot_noise() -> None:
    """Means of all three algorithms, in an odd number of elements."""
    run(
        """
for dtype in ("uint8", "int16", "float16", "float32", "float64"):
    for factor in (1e-9, 0.5, 12.0):
        compare(lambda x: fn.noise.shot(x, factor=factor), [made([(401,), (1,), (0,)], dtype)])
"""
    )


def test_jpeg_distortion() -> None:
    """Extents that are no multiples of blocks, and rows too short to interpolate."""
    run(
        """
shapes = [(1, 1), (2, 5), (3, 4), (9, 6), (16, 16), (17, 31), (50, 3), (33, 48), (0, 7)]
qualities = [np.int32(x) for x in (1, 10, 49, 50, 75, 96, 100, 30, 60)]
(found,) = compare(
    lambda image: fn.jpeg_compression_distortion(image, quality=fed(qualities, None)),
    [made([(*shape, 3) for shape in shapes])],
    "HWC",
)
assert (found[7] != made([(*shape, 3) for shape in shapes])[7]).any()
compare(
    lambda clip: fn.jpeg_compression_distortion(clip, quality=20),
    [made([(3, 20, 9, 3), (1, 8, 8, 3)])],
    "FHWC",
)
"""
    )
