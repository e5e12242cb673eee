"""Warps, compared with NVIDIA DALI.

Interpolated pixels are within one grey level, and few of them differ at all: the reference
accumulates coordinates along a row, ours computes each. Nearest-neighbour pixels differ only if
their coordinate is between two pixels up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from tests.operators.warping import linear, source_coordinates

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

SIZES = {"H": 71, "W": 613, "C": 3, "F": 2, "D": 5}
MATRICES = [
    [1, 0, 0, 0, 1, 0],
    [1, 0, 3, 0, 1, -2],
    [0.9, 0.05, 3.3, -0.05, 0.9, 4.7],
    [0.5, 0, 0, 0, 0.5, 0],
    [2, 0, 0, 0, 2, 0],
    [-1, 0, 613, 0, -1, 71],
    [0.123, 0.4, -30.1, -0.02, 1.7, 0.2],
]
VOLUME_MATRICES = [
    [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0],
    [0.9, 0.02, 0.03, 3.3, -0.05, 0.9, 0.1, 4.7, 0.001, 0.01, 0.8, 0.17],
    [-1, 0, 0, 613, 0, 0, 14, 0.3, 0, 0.07, 0, 0.1],
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"fill_value": 42.6},
    {"interp_type": "INTERP_NN"},
    {"interp_type": "INTERP_NN", "fill_value": 42.6},
    {"size": (90.5, 301)},
    {"size": (3, 700), "fill_value": 300.0},
]
TYPES = ["uint8", "int16", "int32", "float32"]
# The reference converts to and from float32 only.
TYPE_PAIRS = [
    *((dtype, dtype) for dtype in TYPES),
    *((dtype, "float32") for dtype in TYPES[:-1]),
    *(("float32", dtype) for dtype in TYPES[:-1]),
]
Call = tuple[str, dict[str, Any]]


def dali_name(dtype: str) -> str:
    return {"float32": "FLOAT"}.get(dtype, dtype.upper())


def image(layout: str, dtype: str = "uint8", channels: int = 3, seed: int = 0) -> np.ndarray:
    """Return numbers from 0 to 255 that vary over some pixels, and some noise."""
    random = np.random.default_rng(seed)
    shape = [{**SIZES, "C": channels}[letter] for letter in layout or "HWC"]
    smooth = random.normal(size=shape).cumsum(-2)
    smooth += random.normal(size=shape)
    return np.clip(smooth * 15 + 128, 0, 255).astype(dtype)


def run(
    library: Any, sample: np.ndarray, layout: str, calls: Sequence[Call]
) -> list[tuple[np.ndarray, str]]:
    """Return the output and its layout for each call, all of one pipeline.

    Strings are names of types; arrays are per-sample arguments, and may be in a pair with a layout.
    """
    pipeline = library.Pipeline(batch_size=1, num_threads=1, device_id=None, seed=1)

    def source(value: np.ndarray, layout: str = "") -> Any:
        keywords = {"layout": layout} if layout else {}
        dense = np.ascontiguousarray(value) if value.ndim else value
        return library.fn.external_source(source=lambda: [dense], **keywords)

    def converted(value: Any) -> Any:
        if isinstance(value, str):
            return getattr(library.types, value)
        if isinstance(value, np.ndarray):
            return source(value)
        if isinstance(value, tuple) and isinstance(value[0], np.ndarray):
            return source(*value)
        return value

    with pipeline:
        data = source(sample, layout)
        outputs = []
        for name, arguments in calls:
            keywords = {key: converted(value) for key, value in arguments.items()}
            inputs = [keywords.pop("input")] if "input" in keywords else []
            outputs.append(getattr(library.fn, name)(data, *inputs, **keywords))
        pipeline.set_outputs(*outputs)
    pipeline.build()
    return [(np.array(batch.at(0)), batch.layout()) for batch in pipeline.run()]


def check(sample: np.ndarray, layout: str, calls: Sequence[Call], least_equal: float) -> None:
    """Run both libraries and compare; `least_equal` is the required fraction of equal numbers."""
    expected, ours = (run(lib, sample, layout, calls) for lib in (reference, dali_core))
    for call, mine, theirs in zip(calls, ours, expected, strict=True):
        assert (mine[0].dtype, mine[0].shape, mine[1]) == (
            theirs[0].dtype,
            theirs[0].shape,
            theirs[1],
        ), call
        difference = np.abs(mine[0].astype(np.float64) - theirs[0])
        if call[1].get("interp_type") == "INTERP_NN":
            check_nearest(call, difference, sample.shape)
        elif mine[0].dtype == np.float32:
            assert difference.max() <= 0.25, call
        else:
            assert difference.max() <= 1, call
            assert (difference == 0).mean() >= least_equal, (call, (difference == 0).mean())


def check_nearest(call: Call, difference: np.ndarray, shape: tuple[int, ...]) -> None:
    """Differences only occur where a coordinate is between two pixels up to rounding."""
    assert (difference > 0).mean() < 0.01, call
    if "matrix" not in call[1] or difference.ndim != 3:
        return
    between = np.abs(
        np.mod(source_coordinates(call[1]["matrix"], difference.shape[:2]) + 0.5, 1) - 0.5
    )
    assert between[(difference > 0).any(-1)].min(-1, initial=0).max(initial=0) < 1e-3, call


@pytest.mark.parametrize("layout", ["HWC", "FHWC", ""])
def test_warp_affine(layout: str) -> None:
    calls = [
        ("warp_affine", {"matrix": matrix, **options}) for matrix in MATRICES for options in OPTIONS
    ]
    calls += [("warp_affine", {"matrix": MATRICES[2], "inverse_map": False})]
    check(image(layout), layout, calls, 0.97)


@pytest.mark.parametrize("layout", ["DHWC", "FDHWC"])
def test_warp_affine_of_volumes(layout: str) -> None:
    calls = [
        ("warp_affine", {"matrix": matrix, **options})
        for matrix in VOLUME_MATRICES
        for options in [*OPTIONS[:4], {"size": (2, 30, 40)}]
    ]
    check(image(layout), layout, calls, 0.97)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
def test_channels(channels: int) -> None:
    calls = [("warp_affine", {"matrix": MATRICES[2], **options}) for options in OPTIONS]
    check(image("HWC", channels=channels), "HWC", calls, 0.97)


@pytest.mark.parametrize("source", TYPES)
def test_types(source: str) -> None:
    calls = [
        ("warp_affine", {"matrix": MATRICES[2], "dtype": dali_name(target), **options})
        for one, target in TYPE_PAIRS
        for options in OPTIONS[:4]
        if one == source
    ]
    check(image("HWC", source), "HWC", calls, 0.97)


def test_ours_is_nearer_to_the_exact_value() -> None:
    sample = image("HWC", "float32")
    matrix = MATRICES[2]
    call: Call = ("warp_affine", {"matrix": matrix})
    exact = linear(sample, source_coordinates(np.float32(matrix), sample.shape[:2]), None)
    (theirs, _), (ours, _) = (
        run(library, sample, "HWC", [call])[0] for library in (reference, dali_core)
    )
    assert np.abs(ours - exact).max() < 0.01
    assert np.abs(ours - exact).mean() < np.abs(theirs - exact).mean()


def test_output_dtype() -> None:
    calls: list[Call] = [
        ("warp_affine", {"matrix": MATRICES[2], "output_dtype": "FLOAT"}),
        ("rotate", {"angle": 3.0, "output_dtype": "FLOAT"}),
    ]
    with pytest.warns(DeprecationWarning, match="output_dtype"):
        check(image("HWC"), "HWC", calls, 0.97)


def test_matrices_and_sizes_that_come_with_the_sample() -> None:
    matrix = np.float32(MATRICES[2]).reshape(2, 3)
    calls: list[Call] = [
        ("warp_affine", {"matrix": matrix}),
        ("warp_affine", {"input": matrix}),
        ("warp_affine", {"input": matrix, "inverse_map": False, "fill_value": 1.0}),
        ("warp_affine", {"input": matrix, "size": np.float32([50.9, 60])}),
        ("warp_affine", {"input": matrix, "size": np.int32([50, 60])}),
        ("rotate", {"angle": np.float32(33), "size": np.float32([50.9, 60])}),
    ]
    check(image("HWC"), "HWC", calls, 0.97)


def test_matrices_and_angles_for_each_frame() -> None:
    matrices = np.float32([MATRICES[2], MATRICES[3]]).reshape(2, 2, 3)
    angles = np.float32([10, 100])
    calls: list[Call] = [
        ("warp_affine", {"matrix": (matrices, "F**")}),
        ("warp_affine", {"input": (matrices, "F**")}),
        ("warp_affine", {"matrix": (matrices[:1], "F**")}),
        ("rotate", {"angle": (angles, "F")}),
        ("rotate", {"angle": (angles, "F"), "keep_size": True}),
        ("rotate", {"angle": (angles[:1], "F"), "fill_value": 4.0}),
    ]
    check(image("FHWC"), "FHWC", calls, 0.97)
    axes = np.float32([[1, 2, 3], [0, 1, 0]])
    volumes: list[Call] = [
        ("rotate", {"angle": (angles, "F"), "axis": [1, 0, 0], "keep_size": True}),
        ("rotate", {"angle": 10.0, "axis": (axes, "F*"), "keep_size": True}),
    ]
    check(image("FDHWC"), "FDHWC", volumes, 0.97)


@pytest.mark.parametrize("layout", ["HWC", "FHWC"])
def test_rotate(layout: str) -> None:
    calls = [
        ("rotate", {"angle": angle, **options})
        for angle in (0.0, 1.0, -33.3, 45.0, 90.0, 135.0, 200.0, 270.0)
        for options in [*OPTIONS, {"keep_size": True}, {"keep_size": True, "fill_value": 0.0}]
    ]
    check(image(layout), layout, calls, 0.97)


def test_rotate_volumes() -> None:
    calls: list[Call] = [
        ("rotate", {"angle": angle, "axis": axis, **options})
        for angle, axis in ((5.0, [1, 2, 3]), (90.0, [0, 0, 1]), (-200.0, [0, 1, 0]))
        for options in [*OPTIONS[:4], {"keep_size": True}, {"size": (4, 30, 41)}]
    ]
    check(image("DHWC")[:, :40, :60], "DHWC", calls, 0.97)


def test_canvas() -> None:
    random = np.random.default_rng(1)
    for _ in range(3):
        height, width, depth = random.integers(1, 60, 3)
        angles = [*random.uniform(-720, 720, 60), *range(0, 360, 15)]
        calls: list[Call] = [("rotate", {"angle": float(angle)}) for angle in angles]
        check(np.zeros((height, width, 1), np.uint8), "HWC", calls, 1)
        calls = [
            ("rotate", {"angle": float(angle), "axis": random.normal(size=3).tolist()})
            for angle in angles
        ]
        check(np.zeros((depth, height, width, 1), np.uint8), "DHWC", calls, 1)


COORDINATES: list[dict[str, Any]] = [
    {},
    {"M": [1, 0.5, 0.25, 3, 2, 1, 0, 0, 1]},
    {"M": [1, 0.5, 0.25]},
    {"M": list(range(18))},
    {"M": 2.5},
    {"T": [1, 2, 3]},
    {"T": 7},
    {"M": [1, 2, 3, 4, 5, 6], "T": [7, 8]},
    {"M": [1, 2, 3, 4, 5, 6], "T": 7},
    {"MT": [1, 0, 0, 10, 0, 2, 0, 20]},
    {"MT": 0.5},
    {"M": np.float32([[1, 2, 3], [4, 5, 6]])},
    {"M": np.float32(3), "T": np.float32(4)},
    {"M": np.float32(3), "T": np.float32([4, 5, 6])},
    {"MT": np.float32([[1, 2, 3, 4]])},
]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "float32"])
def test_coord_transform(dtype: str) -> None:
    calls = [("coord_transform", arguments) for arguments in COORDINATES]
    calls += [("coord_transform", {**one, "dtype": dali_name(dtype)}) for one in COORDINATES]
    sample = (np.random.default_rng(0).normal(size=(50, 20, 3)) * 100).astype(
        "int16" if dtype != "float32" else dtype
    )
    check_coordinates(sample.astype(dtype), "HWC", calls)


def test_coord_transform_for_each_frame() -> None:
    matrices = np.float32(np.random.default_rng(0).normal(size=(2, 4, 3)))
    calls: list[Call] = [
        ("coord_transform", {"M": (matrices, "F**")}),
        ("coord_transform", {"MT": (matrices.reshape(2, 3, 4), "F**")}),
        ("coord_transform", {"T": (matrices[:, 0], "F*")}),
        ("coord_transform", {"M": (matrices[:, 0, 0], "F"), "T": (matrices[:1, 0], "F*")}),
    ]
    sample = np.random.default_rng(1).normal(size=(2, 30, 3)).astype(np.float32)
    check_coordinates(sample, "FNC", calls)
    check_coordinates(sample[0], "NC", calls[:3])


def check_coordinates(sample: np.ndarray, layout: str, calls: Sequence[Call]) -> None:
    expected, ours = (run(lib, sample, layout, calls) for lib in (reference, dali_core))
    for call, mine, theirs in zip(calls, ours, expected, strict=True):
        assert (mine[0].dtype, mine[0].shape, mine[1]) == (
            theirs[0].dtype,
            theirs[0].shape,
            theirs[1],
        ), call
        np.testing.assert_allclose(
            mine[0].astype(np.float64), theirs[0], rtol=1e-5, atol=1e-3, err_msg=str(call)
        )


@pytest.mark.parametrize(
    ("layout", "call"),
    [
        ("CHW", ("warp_affine", {"matrix": MATRICES[0]})),
        ("HWC", ("warp_affine", {})),
        ("HWC", ("warp_affine", {"matrix": VOLUME_MATRICES[0]})),
        ("HWC", ("warp_affine", {"matrix": MATRICES[0], "size": (1, 2, 3)})),
        ("HWC", ("warp_affine", {"matrix": MATRICES[0], "size": (0, 3)})),
        ("HWC", ("warp_affine", {"matrix": MATRICES[0], "interp_type": "INTERP_CUBIC"})),
        ("HWC", ("warp_affine", {"matrix": [0, 0, 0, 0, 1, 0], "inverse_map": False})),
        ("HWC", ("warp_affine", {"matrix": MATRICES[0], "dtype": "INT8"})),
        ("HWC", ("rotate", {})),
        ("HWC", ("rotate", {"angle": 3.0, "interp_type": "INTERP_CUBIC"})),
        ("DHWC", ("rotate", {"angle": 3.0})),
        ("DHWC", ("rotate", {"angle": 3.0, "axis": [1, 2]})),
        ("HWC", ("coord_transform", {"M": [1, 2]})),
        ("HWC", ("coord_transform", {"T": [1, 2]})),
        ("HWC", ("coord_transform", {"M": 1, "MT": 2})),
    ],
)
def test_invalid_arguments_raise_in_both(layout: str, call: Call) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            run(library, image(layout), layout, [call])
