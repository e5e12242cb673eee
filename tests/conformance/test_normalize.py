"""normalize like NVIDIA DALI, to the last digits of single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.comparing import check, check_refused, numbers

EXTENTS = {"F": 2, "D": 3, "H": 6, "W": 9, "C": 3}
# The reference sums in single precision and in another order.
CLOSE = {"tolerance": 1e-5, "relative": 1e-5}


def samples_of(layout: str, dtype: str = "uint8", count: int = 3) -> list[np.ndarray]:
    """Make samples of different heights."""
    return [
        numbers(dtype, [EXTENTS[letter] + i * (letter == "H") for letter in layout])
        for i in range(count)
    ]


IMAGES = (samples_of("HWC"), "HWC")


@pytest.mark.parametrize("layout", ["HWC", "CHW", "HW", "FHWC", "DHWC"])
@pytest.mark.parametrize("names", ["H", "W", "HW", "WH"])
def test_layouts(layout: str, names: str) -> None:
    check("normalize", (samples_of(layout), layout), axis_names=names, **CLOSE)
    axes = [layout.index(name) for name in names]
    check("normalize", (samples_of(layout), ""), axes=axes, **CLOSE)
    check("normalize", (samples_of(layout), layout), **CLOSE)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"mean": 100.0},
        {"stddev": 50.0},
        {"mean": 100.0, "stddev": 50.0},
        {"mean": 100.0, "stddev": 50.0, "epsilon": 1000.0, "ddof": 3},
        {"epsilon": 100.0},
        {"ddof": 1},
        {"ddof": -2},
        {"ddof": 54},
        {"mean": 100.0, "ddof": 1},
        {"scale": 3.0, "shift": 7.0},
        {"scale": -3.0},
        {"axes": [0]},
        {"axes": [2]},
        {"axes": [1, 0]},
        {"axes": [0, 2]},
        {"axes": [0, 1], "mean": 100.0},
        {"axes": [0, 1], "stddev": 50.0},
        {"axis_names": "HW"},
        {"axis_names": ""},
    ],
)
def test_arguments(arguments: dict[str, Any]) -> None:
    check("normalize", IMAGES, **CLOSE, **arguments)
    same = (samples_of("HWC", count=1) * 3, "HWC")
    check("normalize", same, batch=True, **CLOSE, **arguments)


@pytest.mark.parametrize("arguments", [{}, {"axes": [0, 1]}, {"axes": [0]}, {"axis_names": "HC"}])
@pytest.mark.parametrize("given", [{}, {"mean": 90.0}, {"stddev": 70.0}, {"ddof": 2}])
def test_batches_of_different_sizes(arguments: dict[str, Any], given: dict[str, Any]) -> None:
    check("normalize", IMAGES, batch=True, **CLOSE, **arguments, **given)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32"])
def test_integers(dtype: str) -> None:
    check("normalize", (samples_of("HWC", dtype), "HWC"), axes=[0, 1], **CLOSE)
    output = dtype.upper()
    # A number next to one half may be rounded up in one and down in the other.
    check("normalize", IMAGES, dtype=output, scale=30.0, shift=20.0, tolerance=1)


def test_floats() -> None:
    check("normalize", (samples_of("HWC", "float32"), "HWC"), axes=[0, 1], **CLOSE)


MEAN = np.float32([[[80, 100, 120]]])
DEVIATION = np.float32([[[30, 20, 10]]])


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"mean": MEAN}, {}),
        ({"mean": MEAN}, {"axes": [0, 1]}),
        ({"mean": MEAN}, {"ddof": 1, "epsilon": 5.0}),
        ({"stddev": DEVIATION}, {}),
        ({"stddev": DEVIATION}, {"axis_names": "HW"}),
        ({"mean": MEAN, "stddev": DEVIATION}, {}),
        ({"mean": MEAN, "stddev": DEVIATION}, {"axes": [0, 1], "epsilon": 7.0}),
        ({"mean": MEAN}, {"stddev": 7.0}),
        ({"stddev": DEVIATION}, {"mean": 7.0}),
        ({"mean": np.float32([[[9]]])}, {}),
        ({"stddev": np.float32([[[9]]])}, {"axes": [0, 1, 2]}),
        ({"stddev": np.float32([[[9, 0, 4]]])}, {}),
    ],
)
def test_given_tensors(given: dict[str, np.ndarray], arguments: dict[str, Any]) -> None:
    per_sample = {name: [value, value + 1, value + 2] for name, value in given.items()}
    check("normalize", IMAGES, per_sample=per_sample, **CLOSE, **arguments)


def test_given_tensors_of_full_size() -> None:
    samples = samples_of("HWC", count=1)
    full = [numbers("float32", samples[0].shape, 1)]
    for given in (["stddev"], ["mean", "stddev"]):
        check("normalize", (samples, "HWC"), per_sample=dict.fromkeys(given, full), **CLOSE)


def test_zero_deviation() -> None:
    constant = ([np.full((4, 5), 7, np.uint8)], "")
    check("normalize", constant)
    check("normalize", constant, shift=3.0, axes=[1])
    check("normalize", ([np.uint8([3])], ""), shift=3.0)
    check("normalize", ([np.zeros((0, 3), np.uint8)], ""), axes=[0])


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": []},
        {"axes": [3]},
        {"axis_names": "X"},
        {"axes": [0], "axis_names": "H"},
        {"axes": [0], "mean": 1.0, "stddev": 1.0},
        {"mean": [1.0, 2.0, 3.0]},
        {"batch": True, "axes": [1, 2]},
    ],
)
def test_invalid_arguments_raise_in_both(arguments: dict[str, Any]) -> None:
    check_refused("normalize", IMAGES, **arguments)


def test_invalid_tensors() -> None:
    three = {"mean": [MEAN] * 3}
    check_refused("normalize", IMAGES, per_sample=three, batch=True)
    check_refused("normalize", IMAGES, per_sample=three, axes=[0, 1, 2])
    check_refused("normalize", IMAGES, per_sample={"mean": [MEAN.reshape(3, 1, 1)] * 3})
