"""Slices: identical to NVIDIA DALI, except for 16-bit floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.comparing import FLOATS, INTEGERS, check, check_refused, numbers

EXTENTS = {"F": 3, "D": 4, "H": 6, "W": 9, "C": 3, "X": 5, "Y": 7}
# The reference rounds ties away from zero; we round them to even, as in hardware.
HALF = 2.0**-10


def samples_of(layout: str, dtype: str = "uint8") -> list[np.ndarray]:
    """Make samples of two shapes."""
    shape = [EXTENTS[letter] for letter in layout]
    return [numbers(dtype, shape), numbers(dtype, [*shape[:-1], shape[-1] + (layout[-1] != "C")])]


IMAGES = (samples_of("HWC"), "HWC")


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "WHC", "FHWC", "CFHW", "DHWC", "CDHW"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"start": (1, 2), "end": (5, 4)},
        {"start": 2, "shape": (3, 1)},
        {"rel_start": (0.1, 0.4), "rel_end": (0.8, 0.9)},
        {"rel_start": 0.3, "rel_shape": 0.5},
        {"rel_start": (0.3, 0.2), "shape": (2, 3)},
        {"start": (1, 2), "rel_shape": (0.5, 0.2)},
        {"start": (1, 2), "rel_end": (0.5, 0.9)},
        {"start": 3},
        {"end": 3},
        {"shape": 3},
        {"rel_shape": 0.37},
        {"start": (1, 2), "end": (1, 4)},
        {"start": 1, "end": 3, "axes": (0, -1)},
        {"start": 1, "end": 3, "axes": 1},
        {"start": 1, "end": 2, "axes": ()},
        {"start": 1, "end": 2, "axis_names": ""},
        {"start": (1, 0), "end": (2, 4), "axis_names": "HW"},
        {"start": -2, "shape": (13, 5), "out_of_bounds_policy": "trim_to_shape"},
        {"start": 20, "shape": 3, "out_of_bounds_policy": "trim_to_shape"},
        {"start": -20, "shape": 3, "out_of_bounds_policy": "trim_to_shape"},
        {"start": -2, "shape": (13, 5), "out_of_bounds_policy": "pad"},
        {"start": 20, "shape": 3, "out_of_bounds_policy": "constant", "fill_values": 5.6},
    ],
)
def test_windows(layout: str, arguments: dict[str, Any]) -> None:
    check("slice", (samples_of(layout), layout), **arguments)


@pytest.mark.parametrize("layout", ["HW", "HWC", "DHWC"])
def test_data_without_layout(layout: str) -> None:
    check("slice", (samples_of(layout), ""), start=(1, 2), end=(5, 4))
    check("slice", (samples_of(layout), ""), start=1, end=3, axes=0)


@pytest.mark.parametrize("layout", ["X", "XY", "XYX", "YXC"])
def test_other_layouts(layout: str) -> None:
    check(
        "slice", (samples_of(layout), layout), start=-1, end=9, axes=0, out_of_bounds_policy="pad"
    )
    check("slice", (samples_of(layout), layout), start=1, end=3, axis_names=layout[1:] or "X")


@pytest.mark.parametrize("policy", ["edge", "clamp", "reflect", "reflect_101", "wrap"])
def test_repeating_the_input(policy: str) -> None:
    for start, shape in (((-20, -11), (45, 30)), ((3, 2), (40, 2)), ((30, 30), (7, 7))):
        check("slice", IMAGES, start=start, shape=shape, out_of_bounds_policy=policy)
    check("slice", IMAGES, start=-3, shape=8, axes=[], out_of_bounds_policy=policy)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_types(dtype: str) -> None:
    samples = (samples_of("HWC", dtype), "HWC")
    padding = {"out_of_bounds_policy": "pad", "fill_values": [2.7, -1.0, 99.0]}
    check("slice", samples, start=-1, end=(4, 3), **padding)
    for output in ("UINT8", "FLOAT", "FLOAT16"):
        relative = HALF if output == "FLOAT16" else 0
        check("slice", samples, start=1, end=(4, 3), dtype=output, relative=relative)
        # Where the reference pads, numbers that are out of range wrap around instead.
        small = ([(numbers("uint8", (2, 3, 3)) // 2).astype(dtype)], "HWC")
        check("slice", small, start=-1, dtype=output, relative=relative, **padding)


@pytest.mark.parametrize("layout", ["HWC", "CXY", "XCY"])
def test_fill_values_of_cut_channels(layout: str) -> None:
    samples = (samples_of(layout), layout)
    axes = range(3)
    channel = layout.index("C")
    for first, last in ((-1, 2), (1, 4), (1, 2), (-3, 5), (4, 6)):
        start = [first if axis == channel else -1 for axis in axes]
        end = [last if axis == channel else 4 for axis in axes]
        check(
            "slice",
            samples,
            start=start,
            end=end,
            axes=list(axes),
            out_of_bounds_policy="pad",
            fill_values=[float(i + 1) for i in range(last - first)],
        )
    check("slice", samples, start=-1, axes=0, out_of_bounds_policy="pad", fill_values=[])


@pytest.mark.parametrize(
    ("start", "shape", "arguments"),
    [
        (np.int32([1, 2]), np.int32([3, 2]), {}),
        (np.int64([1, 2]), np.int64([3, 2]), {"axis_names": "HW"}),
        (np.int64([[1, 2]]), np.int64([[3, 2]]), {}),
        (np.int32(1), np.int32(2), {"axes": 2}),
        (np.float32([0.2, 0.1]), np.float32([0.3, 0.7]), {}),
        (np.float32([0.2, 0.1]), np.float32([0.3, 0.7]), {"axes": (0, 2)}),
        (np.float32([1.5, 0.49]), np.float32([0.3, 0.7]), {"normalized_anchor": False}),
        (np.float32([0.2, 0.1]), np.float32([2.5, 2.51]), {"normalized_shape": False}),
        (
            np.float32([1.5, 2.4]),
            np.float32([2.5, 2.1]),
            {"normalized_shape": False, "normalized_anchor": False},
        ),
        (
            np.int32([-1, 2]),
            np.int32([13, 2]),
            {"out_of_bounds_policy": "pad", "fill_values": [1.0, 2.0, 3.0]},
        ),
    ],
)
def test_window_by_inputs(start: np.ndarray, shape: np.ndarray, arguments: dict[str, Any]) -> None:
    check("slice", IMAGES, ([start] * 2, ""), ([shape] * 2, ""), **arguments)


def test_rounding() -> None:
    random = np.random.default_rng(0)
    count = 400
    rows = [np.arange(int(n), dtype=np.int32) for n in random.integers(1, 200, count)]
    data = (rows, "")
    start = [np.float32([x]) for x in random.integers(0, 50, count) / 100]
    shape = [np.float32([x]) for x in random.integers(1, 50, count) / 100]
    check("slice", data, axes=0, per_sample={"rel_start": start, "rel_shape": shape})
    end = [x + np.float32(0.5) for x in shape]
    check("slice", data, axes=0, per_sample={"rel_start": start, "rel_end": end})
    check("slice", data, (start, ""), (shape, ""), axes=0)
    absolute = {"normalized_anchor": False, "normalized_shape": False}
    padding = {"out_of_bounds_policy": "pad"}
    check("slice", data, (start, ""), ([x * 40 for x in shape], ""), axes=0, **absolute, **padding)


def test_per_sample() -> None:
    window = {"start": [np.int32([1, 2]), np.int32([2])], "end": [np.int32([3, 4]), np.int32([5])]}
    axes = [np.int32([0, -1]), np.int32([1])]
    check("slice", IMAGES, per_sample={**window, "axes": axes}, out_of_bounds_policy="pad")


def test_former_names() -> None:
    with pytest.warns(DeprecationWarning, match="output_dtype"):
        check("slice", IMAGES, start=1, output_dtype="FLOAT")
    with pytest.warns(DeprecationWarning, match="image_type"):
        check("slice", IMAGES, start=1, image_type="RGB")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"start": 1, "rel_start": 0.5},
        {"end": 1, "shape": 1},
        {"start": (1, 1, 1)},
        {"start": 1, "axes": 3},
        {"start": 1, "axes": (0, -3)},
        {"start": 1, "axes": 0, "axis_names": "H"},
        {"start": 1, "axis_names": "X"},
        {"start": 1, "axis_names": "HH"},
        {"start": 3, "end": 2},
        {"shape": -1},
        {"start": -1},
        {"end": 99},
        {"start": 1, "dtype": "INT32"},
        {"start": 1, "out_of_bounds_policy": "foo"},
        {"start": -1, "out_of_bounds_policy": "pad", "fill_values": [1.0, 2.0]},
    ],
)
def test_invalid_arguments_raise_in_both(arguments: dict[str, Any]) -> None:
    check_refused("slice", IMAGES, **arguments)


def test_invalid_inputs() -> None:
    start = ([np.int32([1, 1])] * 2, "")
    check_refused("slice", IMAGES, start)
    check_refused("slice", IMAGES, start, start, end=1)
    check_refused("slice", IMAGES, start, ([np.float32([0.5, 0.5])] * 2, ""))
    for dtype in ("uint8", "int16", "float16", "float64"):
        check_refused("slice", IMAGES, *[([np.ones(2, dtype)] * 2, "")] * 2)
