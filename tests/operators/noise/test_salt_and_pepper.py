"""Noise of white and black pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import FLOATS, INTEGERS, Example, images, numbers, run_on

EXAMPLES = [
    Example(
        "values",
        [images()],
        {"prob": 0.3, "salt_vs_pepper": 0.25, "salt_val": 200.0, "pepper_val": 3.0},
    ),
    Example("planes", [images("CHW", "float32")], {"prob": 0.5}),
    Example("channels", [images("FHWC", "int16")], {"per_channel": True}),
]


def add_noise(values: np.ndarray, layout: str = "HWC", **arguments: Any) -> np.ndarray:
    return run_on("noise.salt_and_pepper", [values], layout, **arguments)[0]


@pytest.mark.parametrize(("prob", "share"), [(0.05, 0.5), (0.4, 0.2), (1.0, 0.7), (0.3, 0.0)])
def test_shares(prob: float, share: float) -> None:
    result = add_noise(np.full((300, 200, 1), 7, np.uint8), prob=prob, salt_vs_pepper=share)
    for value, expected in ((255, prob * share), (0, prob * (1 - share)), (7, 1 - prob)):
        assert abs((result == value).mean() - expected) < 0.01


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_values_by_default(dtype: str) -> None:
    is_float = np.dtype(dtype).kind == "f"
    lowest, highest = (-1, 1) if is_float else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    result = add_noise(np.full((40, 40, 3), 7, dtype), prob=0.5)
    assert set(np.unique(result).tolist()) == {lowest, 7, highest}
    assert result.dtype == dtype


@pytest.mark.parametrize(("layout", "axis"), [("HWC", 2), ("CHW", 0), ("HCW", 1), ("", 2)])
def test_pixels(layout: str, axis: int) -> None:
    shape = [50, 60]
    shape.insert(axis, 3)
    image = np.full(shape, 7, np.uint8)
    together = np.moveaxis(add_noise(image, layout, prob=0.3), axis, 2)
    assert (together == together[..., :1]).all()
    assert abs((together == 7).mean() - 0.7) < 0.03
    apart = np.moveaxis(add_noise(image, layout, prob=0.3, per_channel=True), axis, 2)
    assert abs((apart == 7).mean() - 0.7) < 0.03
    assert abs((apart == 7).all(axis=2).mean() - 0.7**3) < 0.04


@pytest.mark.parametrize("layout", ["HW", "FW"])
def test_without_channels(layout: str) -> None:
    result = add_noise(np.full((100, 90), 7, np.uint8), layout, prob=0.3)
    assert abs((result == 7).mean() - 0.7) < 0.03
    assert abs((result == 7).all(axis=1).mean()) < 0.01


def test_other_elements_stay() -> None:
    image = numbers("float32", (30, 20, 3), 0)
    result = add_noise(image, prob=0.3, salt_val=1e6, pepper_val=-1e6)
    kept = np.abs(result) != 1e6
    np.testing.assert_array_equal(result[kept], image[kept])


def test_values_of_integers_drop_the_fraction_and_wrap() -> None:
    for value, expected in ((3.7, 3), (300, 44), (-3.7, 253)):
        result = add_noise(
            np.zeros((2, 2, 3), np.uint8), prob=1.0, salt_val=value, pepper_val=value
        )
        assert np.unique(result).tolist() == [expected]


def test_small_shapes() -> None:
    assert add_noise(np.uint8(3), "", prob=1.0).shape == ()
    assert add_noise(np.zeros((0, 3, 3), np.uint8)).shape == (0, 3, 3)


@pytest.mark.parametrize("name", ["prob", "salt_vs_pepper"])
@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_invalid_probabilities(name: str, value: float) -> None:
    with pytest.raises(ArgumentValueError, match=f"{name!r} must be from 0 to 1"):
        add_noise(np.zeros((2, 2, 3)), **{name: value})


def test_booleans() -> None:
    with pytest.raises(SampleError, match="the input must consist of numbers"):
        add_noise(np.zeros((2, 2, 3), bool))
