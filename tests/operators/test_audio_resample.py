"""Resampling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.signals import random, signals
from tests.operators.suite import Example, run_on, type_of

EXAMPLES = [
    Example("scale", [signals()], {"scale": 1.5}),
    Example("rates", [signals()], {"in_rate": 44100.0, "out_rate": 16000.0, "quality": 20.0}),
    Example("length", [signals()], {"out_length": 333, "dtype": types.INT16}),
]


def exact(signal: np.ndarray, scale: float, length: int, lobes: int) -> np.ndarray:
    """Return what interpolation by a windowed sinc gives, in double precision."""
    distances = np.arange(len(signal))[None] - np.arange(length)[:, None] / scale
    window = 0.5 + 0.5 * np.cos(np.pi * np.clip(distances / (lobes + 1 / 64), -1, 1))
    return np.sinc(distances) * window @ signal.astype(float)


@pytest.mark.parametrize(("quality", "lobes"), [(0.0, 3), (50.0, 16), (100.0, 64), (25.0, 5)])
def test_against_definition(quality: float, lobes: int) -> None:
    for scale in np.float32([0.25, 1, 1.5, 2 / 3, 1.0001, 2.75625]).tolist():
        signal = random([1 + int(200 * scale)], lobes) / 4
        (result,) = run_on("audio_resample", [signal], scale=scale, quality=quality)
        assert len(result) == int(np.ceil(len(signal) * scale))
        expected = exact(signal, scale, len(result), lobes)
        np.testing.assert_allclose(result, expected, atol=2e-3)  # the table is interpolated


def test_rates_scale_and_length_agree() -> None:
    signal = random([1000])
    (expected,) = run_on("audio_resample", [signal], in_rate=3.0, out_rate=2.0)
    assert expected.shape == (667,)
    (scaled,) = run_on("audio_resample", [signal[:999]], in_rate=48000.0, out_rate=32000.0)
    (length,) = run_on("audio_resample", [signal[:999]], out_length=666)
    np.testing.assert_array_equal(scaled, length)
    (stereo,) = run_on(
        "audio_resample", [np.stack([signal, -signal], 1)], in_rate=3.0, out_rate=2.0
    )
    np.testing.assert_array_equal(stereo, np.stack([expected, -expected], 1))


@pytest.mark.parametrize(
    "source", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float32"]
)
def test_types(source: str) -> None:
    """Numbers keep their part of the range of each type."""
    parts = np.array([-1, -0.5, 0.25, 0.75, 1])
    for target in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32"):
        for number in parts:
            signal = np.full(200, from_part(number, source)).astype(source)
            (result,) = run_on("audio_resample", [signal], scale=1.0, dtype=type_of(target))
            assert result.dtype == target
            coarse = min(
                np.iinfo(kind).bits if kind != "float32" else 32 for kind in (source, target)
            )
            tolerance = (2.5 / 2**coarse + 1e-3) * (from_part(1, target) - from_part(-1, target))
            assert abs(float(result[100]) - from_part(number, target)) <= tolerance


def from_part(number: float, dtype: str) -> float:
    if dtype == "float32":
        return number
    most = np.iinfo(dtype).max
    return number * most if np.iinfo(dtype).min < 0 else (number / 2 + 0.5) * most


def test_empty_outputs() -> None:
    assert run_on("audio_resample", [random([0])], scale=2.0)[0].shape == (0,)
    assert run_on("audio_resample", [random([9])], scale=0.0)[0].shape == (0,)
    assert run_on("audio_resample", [random([9, 0])], out_length=4)[0].shape == (4, 0)
    with pytest.raises(SampleError, match="the input must have samples"):
        run_on("audio_resample", [random([0])], out_length=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "in_rate and out_rate, scale or out_length must be given"),
        ({"in_rate": 3.0}, "in_rate and out_rate must be given together"),
        ({"scale": 1.0, "out_length": 3}, "out_length"),
        ({"scale": -1.0}, "'scale' must be at least 0"),
        ({"scale": 1.0, "quality": 101.0}, "'quality' must be from 0 to 100"),
        ({"scale": 1.0, "dtype": types.INT64}, "dtype must be float32, or integers"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on("audio_resample", [random([9])], **arguments)


def test_other_inputs() -> None:
    with pytest.raises(SampleError, match="must have the shape"):
        run_on("audio_resample", [random([2, 2, 2])], scale=1.0)
    with pytest.raises(SampleError, match="the input must be float32, or integers"):
        run_on("audio_resample", [np.zeros(3)], scale=1.0)
    with pytest.raises(SampleError, match="must"):
        run_on("audio_resample", [random([9])], scale=1e30)
