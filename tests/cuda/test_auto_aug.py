"""Augmentations of samples on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_results_equal_the_host() -> None:
    names = (
        *("brightness", "color", "posterize", "solarize", "solarize_add", "invert", "identity"),
        *("rotate", "shear_x", "shear_y", "translate_x_no_shape", "sharpness", "equalize"),
        "auto_contrast",
    )
    run_program("auto_aug/results_equal_the_host", arguments=[names, 2 * len(names)])


def test_rejects_host_only_augmentations() -> None:
    run_program("auto_aug/rejects_host_only_augmentations")
