"""`fn.tensor_resize`, compared with NVIDIA DALI."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.comparing import check, check_refused, numbers

SHAPES = ((3, 4, 5), (7, 5, 6), (4, 9, 3))
CASES: list[dict[str, Any]] = [
    {"sizes": [6, 8, 10]},
    {"sizes": [6, 8, 10], "antialias": False},
    {"sizes": 6},
    {"sizes": [6, 8], "axes": [0, 1]},
    {"sizes": [6, 8], "axes": [-1, 0]},
    {"sizes": [7, 2], "axes": [2, 1]},
    {"sizes": [6, 8], "axis_names": "HW"},
    {"sizes": [6, 8], "axis_names": "DW"},
    {"sizes": [6, 0, 0]},
    {"sizes": [6, 3, 0]},
    {"sizes": [6, 0, 0], "mode": "stretch"},
    {"sizes": [6, 8, 10], "mode": "not_larger"},
    {"sizes": [6, 8, 10], "mode": "not_smaller", "max_size": 9},
    {"sizes": [6.4, 8.5, 9.6]},
    {"sizes": [6.4, 8.5, 9.6], "size_rounding": "ceil"},
    {"sizes": [6.4, 8.5, 9.6], "size_rounding": "truncate", "subpixel_scale": False},
    {"scales": [2, 1.5, 1]},
    {"scales": [2.3], "axes": [0]},
    {"scales": [2.3], "axes": [0], "size_rounding": "truncate"},
    {"scales": [1.3], "axes": [-1], "size_rounding": "ceil"},
    {"scales": [1.3], "axes": [-1], "alignment": 0.0},
    {"scales": [1.3], "axes": [-1], "alignment": 1.0},
    {"scales": [1.3, 1.3, 0.7], "alignment": [0, 0.5, 1]},
    {"scales": [1.3, 1.3, 0.7], "alignment": 0.25, "subpixel_scale": False},
    {"scales": [-2, 1, 1]},
    {"scales": [0, 2, 1]},
    {"sizes": [-6, 4, 4]},
    {"sizes": [7], "axes": [-1], "roi_start": [1], "roi_end": [3]},
    {"sizes": [7], "axes": [-1], "roi_start": [3], "roi_end": [1]},
    {"sizes": [7], "axes": [1], "roi_start": [0.1], "roi_end": [0.7], "roi_relative": True},
    {"scales": [2.2], "axes": [0], "roi_start": [0.5], "roi_end": [2.5]},
    {"scales": [2.2], "axes": [0], "roi_start": [0.5], "roi_end": [2.5], "alignment": 0.0},
    {"sizes": [2, 2, 2], "interp_type": "INTERP_CUBIC"},
    {"sizes": [5, 5, 5], "interp_type": "INTERP_LANCZOS3"},
    {"sizes": [2, 9, 2], "min_filter": "INTERP_TRIANGULAR", "mag_filter": "INTERP_GAUSSIAN"},
    {"sizes": [2, 2, 2], "minibatch_size": 4, "temp_buffer_hint": 10},
]


def samples(dtype: str) -> list[np.ndarray]:
    return [numbers(dtype, shape) for shape in SHAPES]


@pytest.mark.parametrize("arguments", CASES, ids=str)
def test_floats(arguments: dict[str, Any]) -> None:
    check("tensor_resize", (samples("float32"), "DHW"), tolerance=2e-3, **arguments)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16"])
def test_integers(dtype: str) -> None:
    for arguments in CASES[:4]:
        check("tensor_resize", (samples(dtype), ""), tolerance=1, **arguments)
        check("tensor_resize", (samples(dtype), ""), tolerance=1, dtype="FLOAT", **arguments)
    check("tensor_resize", (samples(dtype), ""), sizes=[6, 8, 10], interp_type="INTERP_NN")


def test_numbers_of_dimensions() -> None:
    for shape, sizes in (
        ((5,), [9]),
        ((9,), [4]),
        ((4, 5), [3, 3]),
        ((1, 4, 5, 3), [1, 3, 3, 3]),
        ((2, 2, 4, 5, 2), [2, 2, 6, 6, 2]),
        ((2, 2, 4, 5, 2), [2, 3, 4, 6, 2]),
    ):
        check("tensor_resize", ([numbers("float32", shape)], ""), sizes=sizes, tolerance=2e-3)
    clip = [numbers("float32", (3, 4, 5, 2))]
    for arguments in ({"axes": [1, 2]}, {"axes": [0, 1]}, {"axis_names": "HW"}):
        check("tensor_resize", (clip, "FHWC"), sizes=[3, 6], tolerance=2e-3, **arguments)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("sizes", [np.float32([6, 8, 2]), np.float32([2, 2, 2]), np.float32([9, 1, 1])]),
        ("scales", [np.float32([2, 0.4, 1]), np.float32([1, 1, 1]), np.float32([1.2, 3, 1])]),
    ],
)
def test_values_of_samples(name: str, values: list[np.ndarray]) -> None:
    check("tensor_resize", (samples("float32"), ""), per_sample={name: values}, tolerance=2e-3)


def test_regions_of_samples() -> None:
    region = {
        "roi_start": [np.float32([1]), np.float32([0.5]), np.float32([3])],
        "roi_end": [np.float32([3]), np.float32([2.5]), np.float32([0])],
        "alignment": [np.float32([0]), np.float32([0.3]), np.float32([1])],
    }
    check(
        "tensor_resize",
        (samples("float32"), ""),
        per_sample=region,
        scales=[1.7],
        axes=[0],
        tolerance=2e-3,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"sizes": [1, 2, 3], "scales": [1, 1, 1]},
        {"sizes": [6, 8, 10], "dtype": "UINT8"},
        {"scales": [2, 2], "axes": [0, 0]},
        {"sizes": [2], "axes": [0], "axis_names": "H"},
        {"sizes": [2], "axis_names": "X"},
        {"sizes": [2, 2]},
        {"sizes": [2], "axes": [0], "roi_start": [1]},
        {"sizes": [2], "axes": [0], "mode": "other"},
        {"sizes": [2], "axes": [0], "size_rounding": "floor"},
    ],
    ids=str,
)
def test_invalid_arguments_raise_in_both(arguments: dict[str, Any]) -> None:
    check_refused("tensor_resize", (samples("float32"), "DHW"), **arguments)
    check_refused("tensor_resize", ([np.zeros((2, 2, 2, 2), np.float32)], ""), sizes=[3, 3, 3, 3])
