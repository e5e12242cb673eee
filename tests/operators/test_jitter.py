"""Moving pixels at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, images, numbers, run_on, shares_memory

EXAMPLES = [
    Example("nearest", [images()], {"nDegree": 4, "fill_value": 7.0, "mask": 1}),
    Example(
        "linear", [images("HWC", "float32")], {"nDegree": 3, "interp_type": types.INTERP_LINEAR}
    ),
    Example("off", [images()], {"mask": 0}),
]


def jitter(image: np.ndarray, **arguments: Any) -> np.ndarray:
    return run_on("jitter", [image], "HWC", **arguments)[0]


def coordinates(height: int, width: int) -> np.ndarray:
    return np.moveaxis(np.mgrid[0:height, 0:width], 0, 2).astype(np.float32)


@pytest.mark.parametrize("degree", [1, 2, 3, 6])
def test_distances(degree: int) -> None:
    moved = jitter(coordinates(200, 150), nDegree=degree, fill_value=-1000.0)
    distance = moved - coordinates(200, 150)
    distance = distance[10:-10, 10:-10].reshape(-1, 2)
    farthest = degree // 2
    assert set(np.unique(distance)) == set(range(-farthest, farthest + 1))
    assert np.abs(distance.mean(axis=0)).max() < 0.1
    # The roundings of uniform places.
    edges = np.clip(np.arange(-farthest, farthest + 2) - 0.5, -degree / 2, degree / 2)
    for axis in range(2):
        counts = [(distance[:, axis] == d).mean() for d in range(-farthest, farthest + 1)]
        np.testing.assert_allclose(counts, np.diff(edges) / degree, atol=0.02)
    assert degree == 1 or abs(np.corrcoef(distance.T)[0, 1]) < 0.03


def test_places_between_pixels() -> None:
    linear = types.INTERP_LINEAR
    moved = jitter(coordinates(120, 130), nDegree=5, interp_type=linear, fill_value=0.0)
    distance = (moved - coordinates(120, 130))[10:-10, 10:-10].ravel()
    assert (np.abs(distance) <= 2.5 + 1e-4).all()
    quantiles = np.linspace(0.05, 0.95, 10)
    np.testing.assert_allclose(np.quantile(distance, quantiles), 5 * quantiles - 2.5, atol=0.1)


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("interpolation", [types.INTERP_NN, types.INTERP_LINEAR])
def test_types(dtype: str, interpolation: types.DALIInterpType) -> None:
    image = np.ones((9, 8, 2), dtype)
    result = jitter(image, fill_value=1.0, interp_type=interpolation)
    np.testing.assert_array_equal(result, image, strict=True)


def test_channels_move_together() -> None:
    result = jitter(np.repeat(numbers("uint8", (20, 30, 1), 0), 3, axis=2))
    assert (result == result[..., :1]).all()


def test_fill_value() -> None:
    result = jitter(np.zeros((1, 5000, 1), np.uint8), fill_value=300.7)
    assert set(np.unique(result)) == {0, 44}
    assert abs((result == 44).mean() - 0.5) < 0.05


def test_zero_copy_if_masked() -> None:
    assert shares_memory("jitter", mask=0)
    assert not shares_memory("jitter", mask=1)


def test_without_extent() -> None:
    image = numbers("uint8", (9, 8, 3), 0)
    np.testing.assert_array_equal(jitter(image, nDegree=0), image)
    assert jitter(np.zeros((0, 3, 3))).shape == (0, 3, 3)


def test_errors() -> None:
    with pytest.raises(ArgumentValueError, match="'nDegree' must be at least 0"):
        jitter(np.zeros((2, 2, 3)), nDegree=-1)
    with pytest.raises(ArgumentValueError, match="'interp_type' must be INTERP_NN or"):
        jitter(np.zeros((2, 2, 3)), interp_type=types.INTERP_CUBIC)
    with pytest.raises(SampleError, match='the input\'s layout must be "HWC"'):
        run_on("jitter", [np.zeros((3, 2, 2))], "CHW")
