"""Points, boxes and anchors on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_coord_transform_of_frames() -> None:
    run("points_on_device/coord_transform_of_frames")


def test_box_encoder_anchors() -> None:
    """As many anchors as threads take turns for, with boxes that overlap equally."""
    run("points_on_device/box_encoder_anchors")
