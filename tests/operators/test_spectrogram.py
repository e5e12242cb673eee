"""Spectra of overlapping windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.signals import random, signals
from tests.operators.suite import Example, run_on

EXAMPLES = [
    Example("defaults", [signals()]),
    Example("odd", [signals()], {"nfft": 45, "window_length": 30, "window_step": 7, "power": 1}),
    Example(
        "within",
        [signals(shortest=64)],
        {"window_length": 64, "center_windows": False, "layout": "tf"},
    ),
    Example("zeros", [signals()], {"nfft": 400, "window_length": 100, "reflect_padding": False}),
]


def expected_of(
    signal: np.ndarray, window: np.ndarray, nfft: int, step: int, centered: bool, mode: str
) -> np.ndarray:
    """Return power spectra in double precision; ``mode`` is that of `numpy.pad`."""
    length = len(window)
    if centered:
        signal = np.pad(signal.astype(float), (length // 2, length), mode=mode)  # type: ignore[call-overload]
        count = (len(signal) - length // 2 - length) // step + 1
    else:
        count = (len(signal) - length) // step + 1
    rows = [signal[i * step : i * step + length] * window for i in range(count)]
    return np.abs(np.fft.rfft(np.stack(rows), nfft, axis=1)).T ** 2


def hann(length: int) -> np.ndarray:
    return 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(length) + 0.5) / length)


@pytest.mark.parametrize("centered", [True, False])
def test_sizes(centered: bool) -> None:
    """All factors, primes, and sizes of one and two samples."""
    generator = np.random.default_rng(1)
    sizes = [*range(1, 36), 49, 60, 121, 127, 169, 256, 257, 400, 512, 514, 1009, 2048]
    for nfft in sizes:
        length = int(generator.integers(1, nfft + 1))
        step = int(generator.integers(1, 2 * length + 1))
        signal = random([int(generator.integers(3 * length + 1, 5 * length + 60))], nfft)
        reflect = bool(generator.integers(2))
        arguments = {"nfft": nfft, "window_length": length, "window_step": step}
        (result,) = run_on(
            "spectrogram", [signal], center_windows=centered, reflect_padding=reflect, **arguments
        )
        mode = "reflect" if reflect else "constant"
        expected = expected_of(signal, hann(length), nfft, step, centered, mode)
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, atol=4e-6 * expected.max(), err_msg=str(nfft))


def test_forms_agree() -> None:
    signal, window = random([500]), random([50], 1)
    arguments: dict[str, Any] = {"nfft": 64, "window_length": 50, "window_fn": window.tolist()}
    (power,) = run_on("spectrogram", [signal], **arguments)
    expected = expected_of(signal, window, 64, 256, True, "reflect")
    np.testing.assert_allclose(power, expected, atol=1e-5 * expected.max())
    (column,) = run_on("spectrogram", [signal[:, None]], **arguments)
    np.testing.assert_array_equal(column, power)
    (magnitude,) = run_on("spectrogram", [signal[None]], power=1, **arguments)
    np.testing.assert_array_equal(magnitude, np.sqrt(power))


def test_short_signals() -> None:
    (constant,) = run_on("spectrogram", [np.float32([2])], window_length=8)
    np.testing.assert_allclose(
        constant[:, 0], expected_of(np.full(8, 2), hann(8), 8, 1, False, "")[:, 0], atol=1e-5
    )
    for signal in (np.zeros(0, np.float32), np.zeros(7, np.float32)):
        with pytest.raises(SampleError, match="must be long enough for a window"):
            run_on("spectrogram", [signal], window_length=8, center_windows=False)


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        (np.zeros((5, 2), np.float32), "must have one channel .got shape"),
        (np.zeros(600, np.int16), "must be of type float32 .got int16"),
    ],
)
def test_other_inputs(signal: np.ndarray, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        run_on("spectrogram", [signal])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nfft": 500}, "nfft must be at least window_length"),
        ({"window_fn": [1.0, 2.0]}, "window_fn must have window_length numbers"),
        ({"power": 3}, "'power' must be from 1 to 2"),
        ({"window_step": 0}, "'window_step' must be at least 1"),
        ({"window_length": 0}, "'window_length' must be from 1"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on("spectrogram", [np.zeros(600, np.float32)], **arguments)
