"""resize_crop_mirror like NVIDIA DALI: to one grey level, or 1e-4 of floats' range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.comparing import check, check_refused, numbers, reference, run

EXTENTS = {"F": 3, "D": 5, "H": 23, "W": 31, "C": 3}


def samples_of(layout: str, dtype: str = "uint8") -> tuple[list[np.ndarray], str]:
    """Make samples of two shapes."""
    shape = [EXTENTS[letter] for letter in layout]
    height = layout.index("H")
    taller = [*shape[:height], shape[height] + 20, *shape[height + 1 :]]
    return [numbers(dtype, shape), numbers(dtype, taller)], layout


def check_image(layout: str, kind: str = "uint8", **arguments: Any) -> None:
    in_floats = kind == "float32" or arguments.get("dtype") == "FLOAT"
    largest = 600.0 if kind in ("uint8", "float32") else 7e4
    tolerance = 1e-4 * largest if in_floats else 1
    check("resize_crop_mirror", samples_of(layout, kind), tolerance=tolerance, **arguments)


# The reference mirrors other axes than documented if height and width are not the first ones.
@pytest.mark.parametrize(
    ("layout", "mirror"),
    [*(("HWC", i) for i in range(4)), ("CHW", 0), ("FHWC", 0), ("FCHW", 0), ("CFHW", 0)],
)
@pytest.mark.parametrize(
    "arguments",
    [
        {"size": (20, 30), "crop": (9, 11)},
        {"size": (20.3, -30.1), "crop": (19.7, 5.2), "crop_pos_x": 0.3, "crop_pos_y": 0.9},
        {"size": (60, 70), "crop": (50, 0), "rounding": "truncate", "crop_pos_y": 0.55},
        {"resize_x": 50, "crop_w": 21, "crop_h": 13},
        {"resize_y": -50, "resize_x": 11, "crop_w": 9, "crop_h": 13},
        {"resize_shorter": 17.5, "crop": (12, 13)},
        {"resize_longer": 40, "crop": (8, 7), "subpixel_scale": False},
        {"size": (20, 30), "mode": "not_smaller", "crop": (20, 30)},
        {"size": (40, 30), "mode": "not_larger", "max_size": 25, "crop": (6, 7)},
        {"size": (20, 0), "mode": "stretch"},
        {"size": (20, 30), "crop": (25, 41)},
        {"size": (20, 30), "crop": (25, 5), "crop_pos_y": 0.1},
        {
            "size": (20, 30),
            "crop": (9, 11),
            "roi_start": (5, 20),
            "roi_end": (15, 3),
        },
        {
            "size": (20, 30),
            "roi_start": (0.1, 0.2),
            "roi_end": (0.8, 0.7),
            "roi_relative": True,
        },
    ],
)
def test_images(layout: str, mirror: int, arguments: dict[str, Any]) -> None:
    check_image(layout, mirror=mirror, **arguments)


@pytest.mark.parametrize(
    ("layout", "mirror"), [*(("DHWC", i) for i in range(8)), ("CDHW", 0), ("FDHWC", 0)]
)
def test_volumes(layout: str, mirror: int) -> None:
    check_image(layout, size=(4, 15, 40), crop=(3, 7, 31), mirror=mirror)
    check_image(layout, resize_z=9, crop=(7, 31), mirror=mirror)
    sides = {"crop_d": 2, "crop_w": 5, "crop_h": 6, "crop_pos_z": 1.0}
    check_image(layout, size=(4, 15, 40), mirror=mirror, **sides)


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("interp_type", ["LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN"])
def test_filters(interp_type: str, antialias: bool) -> None:
    # No pixel is exactly at the edge of a Gaussian, where the last bit determines whether it
    # counts.
    for size in ((56, 70), (12, 14), (56, 14)):
        for argument in ("interp_type", "min_filter", "mag_filter"):
            filters: dict[str, Any] = {argument: f"INTERP_{interp_type}", "antialias": antialias}
            check_image("HWC", "float32", size=size, crop=(9, 10), mirror=1, **filters)
            check_image("HWC", size=size, crop=(9, 10), mirror=2, **filters)


def test_nearest_neighbour() -> None:
    # Ties depend on the last bit of a coordinate: these sizes have none.
    for size in ((58, 73), (11, 13), (61, 13)):
        check_image("HWC", size=size, crop=(9, 10), mirror=3, interp_type="INTERP_NN")


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32"])
def test_types(dtype: str) -> None:
    check_image("HWC", dtype, size=(40, 17), crop=(30, 11))
    check_image("CHW", dtype, size=(40, 17), crop=(30, 11), dtype="FLOAT")


def test_per_sample() -> None:
    pair = samples_of("HWC")
    check(
        "resize_crop_mirror",
        pair,
        per_sample={
            "size": [np.float32([9, 10]), np.float32([40, 30])],
            "crop": [np.float32([5, 6]), np.float32([11, 30])],
            "crop_pos_x": [np.float32(0.1), np.float32(0.9)],
            "mirror": [np.int32(1), np.int32(2)],
        },
        tolerance=1,
    )


def test_data_without_layout() -> None:
    for layout in ("HWC", "FHWC", "FDHWC"):
        samples, _ = samples_of(layout)
        size = (3, 9, 8) if "D" in layout else (9, 8)
        check("resize_crop_mirror", (samples, ""), size=size, crop=(4, 5), tolerance=1)


def test_without_effect() -> None:
    check_image("HWC", size=9, minibatch_size=3, temp_buffer_hint=100)


@pytest.mark.parametrize(
    "arguments",
    [
        {"crop": (5, 5)},
        {"size": 9, "resize_x": 5},
        {"size": 9, "crop": 5},
        {"size": 9, "crop_w": 5},
        {"size": 9, "crop_d": 5},
        {"size": 9, "crop": (5, 5), "crop_pos_x": 1.1},
        {"size": 9, "rounding": "up"},
        {"size": 9, "mode": "squeeze"},
        {"size": 9, "roi_start": (1, 1)},
        {"size": 9, "dtype": "INT32"},
    ],
)
def test_invalid_arguments_raise_in_both(arguments: dict[str, Any]) -> None:
    check_refused("resize_crop_mirror", samples_of("HWC"), **arguments)


def test_antialiasing_matters() -> None:
    arguments = {"size": (5, 6), "crop": (4, 4)}
    for library in (reference, dali_core):
        (smooth,) = run(library, "resize_crop_mirror", [samples_of("HWC")], {}, arguments)
        (sharp,) = run(
            library,
            "resize_crop_mirror",
            [samples_of("HWC")],
            {},
            {**arguments, "antialias": False},
        )
        assert np.abs(smooth.samples[0].astype(int) - sharp.samples[0]).max() > 20
