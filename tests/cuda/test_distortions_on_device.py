"""Noise and artefacts of compression on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_shot_noise() -> None:
    """Means of all three algorithms, in an odd number of elements."""
    run("distortions_on_device/shot_noise")


def test_jpeg_distortion() -> None:
    """Extents that are no multiples of blocks, and rows too short to interpolate."""
    run("distortions_on_device/jpeg_distortion")
