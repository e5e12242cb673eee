"""`fn.experimental.warp_perspective`, compared with NVIDIA DALI.

Interpolated values differ by one at most, and few of them do. Nearest pixels differ where a
position is between two pixels, up to rounding in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
from tests.conformance.comparing import check_refused, numbers, reference, run

OPERATOR = "experimental.warp_perspective"
MATRIX = np.float32([[0.9, 0.1, 1.3], [-0.2, 1.1, 0.7], [0.004, -0.006, 1]])
BORDERS = ("constant", "replicate", "reflect", "reflect_101", "wrap")
SHAPES = ((9, 12, 3), (30, 17, 3), (4, 40, 3))


def images(dtype: str) -> list[np.ndarray]:
    samples = [numbers("uint8", shape, seed) for seed, shape in enumerate(SHAPES)]
    return [(sample * (1.0 if dtype == "uint8" else 77.0)).astype(dtype) for sample in samples]


def check_near(
    *inputs: Any,
    per_sample: dict[str, Any] | None = None,
    most: float = 1,
    share: float = 0.05,
    **constants: Any,
) -> None:
    """Both give the same, but for differences of at most `most` in a share of all values."""
    (theirs,), (ours,) = (
        run(library, OPERATOR, inputs, per_sample or {}, constants)
        for library in (reference, dali_core)
    )
    assert (ours.layout, ours.dtype) == (theirs.layout, theirs.dtype)
    for mine, expected in zip(ours.samples, theirs.samples, strict=True):
        assert mine.shape == expected.shape
        difference = np.abs(mine.astype(np.float64) - expected)
        assert difference.max() <= most
        assert (difference > 0.5).mean() <= share


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
@pytest.mark.parametrize("filter_type", ["INTERP_NN", "INTERP_LINEAR", "INTERP_CUBIC"])
def test_filters_and_borders(dtype: str, filter_type: str) -> None:
    for border in BORDERS:
        for origin in ("corner", "center"):
            arguments: dict[str, Any] = {
                "matrix": MATRIX.ravel().tolist(),
                "interp_type": filter_type,
                "border_mode": border,
                "pixel_origin": origin,
            }
            if border == "constant":
                arguments["fill_value"] = [10.0, 20.0, 30.0]
            if filter_type == "INTERP_NN":
                check_near((images(dtype), "HWC"), most=65535, share=0.005, **arguments)
            else:
                check_near((images(dtype), "HWC"), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": [5.6, 7.4]},
        {"size": [20, 30], "border_mode": "wrap"},
        {"fill_value": 9},
        {"inverse_map": False},
        {"inverse_map": False, "pixel_origin": "center", "size": [20, 20]},
    ],
    ids=str,
)
def test_arguments(arguments: dict[str, Any]) -> None:
    check_near((images("uint8"), "HWC"), matrix=MATRIX.ravel().tolist(), **arguments)


def test_matrices_of_samples() -> None:
    matrices = [MATRIX * np.float32(scale) for scale in (1, 0.7, 1.3)]
    check_near((images("uint8"), "HWC"), per_sample={"matrix": matrices})
    check_near((images("uint8"), "HWC"), (matrices, ""))
    sizes = [np.float32(size) for size in ([3, 4], [10, 20], [7, 1])]
    check_near((images("uint8"), "HWC"), (matrices, ""), per_sample={"size": sizes})


def test_layouts() -> None:
    matrix = MATRIX.ravel().tolist()
    samples = images("uint8")
    check_near(([sample[..., 0].copy() for sample in samples], "HW"), matrix=matrix)
    planar = [np.ascontiguousarray(sample.transpose(2, 0, 1)) for sample in samples]
    check_near((planar, "CHW"), matrix=matrix, fill_value=3.0)
    check_near((samples, ""), matrix=matrix)
    clips = [np.stack([sample, sample[::-1]]) for sample in samples]
    check_near((clips, "FHWC"), matrix=matrix)
    check_near(([np.stack([plane, plane]) for plane in planar], "FCHW"), matrix=matrix)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"matrix": [1.0, 2.0]},
        {"interp_type": "INTERP_GAUSSIAN"},
        {"interp_type": "INTERP_LANCZOS3"},
        {"border_mode": "other"},
        {"pixel_origin": "other"},
        {"fill_value": [1.0, 2.0]},
    ],
    ids=str,
)
def test_invalid_arguments_raise_in_both(arguments: dict[str, Any]) -> None:
    matrix = {"matrix": MATRIX.ravel().tolist()} if arguments else {}
    check_refused(OPERATOR, (images("uint8"), "HWC"), **{**matrix, **arguments})
    check_refused(OPERATOR, ([np.zeros((3, 3, 1), np.int32)], "HWC"), **matrix)
