"""Sizes below one pixel give what the reference gives; impossible ones are errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import dali_core
from dali_core.errors import DaliCoreError
from tests.conformance.comparing import check, numbers, run

IMAGES = [numbers("uint8", (60, 80, 3)), numbers("uint8", (31, 47, 3)), numbers("uint8", (1, 1, 3))]
TINY = (0.5, 0.3, 0.1, 0.099, 0.01, 1e-6, 1e-30, -0.3, -1e-6)
FILTERS = ("NN", "LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN")

Sized = Callable[[float], dict[str, Any]]
CALLS: dict[str, tuple[str, Sized]] = {
    "resize": ("resize", lambda size: {"size": [size, 7.0]}),
    "resize to a scalar": ("resize", lambda size: {"size": size}),
    "resize_x": ("resize", lambda size: {"resize_x": size}),
    "resize_shorter": ("resize", lambda size: {"resize_shorter": size}),
    "resize_longer": ("resize", lambda size: {"resize_longer": size}),
    "not_smaller": ("resize", lambda size: {"size": [size, 7.0], "mode": "not_smaller"}),
    "not_larger": ("resize", lambda size: {"size": [size, 7.0], "mode": "not_larger"}),
    "max_size": ("resize", lambda size: {"resize_shorter": 5.0, "max_size": abs(size)}),
    "tensor_resize": ("tensor_resize", lambda size: {"sizes": [size, 7.0], "axes": [0, 1]}),
    "scales": ("tensor_resize", lambda size: {"scales": [size, 0.1], "axes": [0, 1]}),
    "resize_crop_mirror": (
        "resize_crop_mirror",
        lambda size: {"size": [size, size], "crop": [1.0, 1.0]},
    ),
}
"""Calls that keep the scale of a size below one pixel."""
OTHERS: dict[str, tuple[str, Sized]] = {
    "crop": ("crop", lambda size: {"crop": [size, size]}),
    "crop_mirror_normalize": ("crop_mirror_normalize", lambda size: {"crop": [size, 2.0]}),
    "rotate": ("rotate", lambda size: {"angle": 10.0, "size": [size, 5.0]}),
    "warp_affine": (
        "warp_affine",
        lambda size: {"matrix": [1.0, 0, 0, 0, 1, 0], "size": [size] * 2},
    ),
    "region": ("resize", lambda size: {"size": 3.0, "roi_start": 0.0, "roi_end": [size, size]}),
    "slice": ("slice", lambda size: {"rel_shape": [size, size], "axes": [0, 1]}),
    "paste": ("paste", lambda size: {"ratio": size, "fill_value": [0]}),
}


@pytest.mark.parametrize("name", CALLS)
def test_sizes_below_one_pixel(name: str) -> None:
    operator, sized = CALLS[name]
    for size, kind in itertools.product(TINY, FILTERS):
        if (name == "scales" and size < 0) or (kind != "LINEAR" and size not in (0.5, 1e-6)):
            continue
        arguments = {**sized(size), "interp_type": f"INTERP_{kind}"}
        check(operator, (IMAGES, "HWC"), tolerance=1, **arguments)


@pytest.mark.parametrize("name", [*CALLS, *OTHERS])
def test_sizes_that_are_no_sizes(name: str) -> None:
    """The reference returns a pixel, or crashes."""
    operator, sized = {**CALLS, **OTHERS}[name]
    nan, infinity = float("nan"), float("inf")
    for size in (nan, infinity, -infinity, 3e9, 1e19, 1e30):
        if name in ("not_larger", "max_size") and size > 1:
            continue  # another limit is lower
        with pytest.raises(DaliCoreError):
            run(dali_core, operator, [(IMAGES, "HWC")], {}, sized(size))
