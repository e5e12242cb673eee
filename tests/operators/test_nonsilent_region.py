"""Silence before and after a signal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.signals import signals
from tests.operators.suite import Example

EXAMPLES = [
    Example("defaults", [signals()]),
    Example("short", [signals()], {"window_length": 16, "reset_interval": 64, "cutoff_db": -3.0}),
]


def region(signal: np.ndarray, **arguments: Any) -> tuple[int, int]:
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        data = fn.external_source(source=lambda: [signal])
        pipeline.set_outputs(*fn.nonsilent_region(data, **arguments))
    begin, length = pipeline.run()
    pipeline.close()
    assert (begin.dtype.name, np.array(begin.at(0)).shape) == ("INT32", ())
    return int(np.array(begin.at(0))), int(np.array(length.at(0)))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32", "int64", "float32"])
def test_types(dtype: str) -> None:
    signal = np.zeros(10000, dtype)
    signal[3000:5000] = 100
    assert region(signal) == (3000 - 2047, 2000 + 2 * 2047)
    assert region(signal, window_length=1) == (3000, 2000)
    assert region(signal, cutoff_db=-3.0, window_length=256) == (2873, 2254)


def test_against_definition() -> None:
    generator = np.random.default_rng(5)
    for case in range(20):
        count, window = int(generator.integers(1, 3000)), int(generator.integers(1, 600))
        signal = generator.standard_normal(count).astype(np.float32)
        signal *= np.exp(-(((np.arange(count) - count / 2) / count * 8) ** 2)).astype(np.float32)
        reference = 0.0 if case % 2 else 0.3
        cutoff = float(generator.uniform(-40, 0))
        own = min(window, count)
        powers = np.lib.stride_tricks.sliding_window_view(signal.astype(float) ** 2, own).mean(1)
        loud = np.flatnonzero(powers >= (reference or powers.max()) * 10 ** (cutoff / 10))
        expected = (int(loud[0]), int(loud[-1] - loud[0] + own)) if len(loud) else (0, 0)
        found = region(
            signal,
            window_length=window,
            reset_interval=4 * window if case % 3 else -1,
            reference_power=reference,
            cutoff_db=cutoff,
        )
        assert found == expected


def test_silence() -> None:
    assert region(np.zeros(100, np.float32)) == (0, 100)  # nothing is below the largest power
    assert region(np.zeros(100, np.float32), reference_power=1.0) == (0, 0)
    assert region(np.zeros(0, np.float32)) == (0, 0)


def test_invalid_arguments_raise() -> None:
    with pytest.raises(SampleError, match="reset_interval must be a multiple of window_length"):
        region(np.zeros(100, np.float32), window_length=100)
    with pytest.raises(ArgumentValueError, match="reset_interval must be -1 or positive"):
        region(np.zeros(100, np.float32), reset_interval=0)
    with pytest.raises(ArgumentValueError, match="'window_length' must be from 1"):
        region(np.zeros(100, np.float32), window_length=0)
    with pytest.raises(SampleError, match="must have one dimension"):
        region(np.zeros((100, 1), np.float32))
    with pytest.raises(SampleError, match="must consist of integers or of float32"):
        region(np.zeros(100))
