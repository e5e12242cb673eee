"""Decibels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import SampleError
from tests.operators.signals import random, spectra
from tests.operators.suite import Example, run_on

EXAMPLES = [
    Example("defaults", [spectra()]),
    Example("magnitudes", [spectra()], {"multiplier": 20.0, "reference": 2.0, "cutoff_db": -30.0}),
]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"reference": 3.0},
        {"multiplier": 20.0, "cutoff_db": -80.0},
        {"cutoff_db": -500.0},
        {"multiplier": -10.0},
    ],
)
def test_values(arguments: dict[str, Any]) -> None:
    data = np.exp(random([97, 31]) * 8).astype(np.float32)
    data[0, :4] = [0, -1, 1e-30, 1e30]
    reference = arguments.get("reference") or data.max()
    multiplier = arguments.get("multiplier", 10.0)
    least = max(10 ** (arguments.get("cutoff_db", -200.0) / multiplier), 2.0**-149)
    expected = multiplier * np.log10(np.maximum(data / float(reference), least))
    (result,) = run_on("to_decibels", [data], **arguments)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=2e-5)


def test_extreme_values() -> None:
    data = np.float32([1, np.nan, np.inf, 0, -np.inf])
    (result,) = run_on("to_decibels", [data], reference=1.0)
    np.testing.assert_allclose(result, [0, -200, np.inf, -200, -200], rtol=1e-6)
    (silent,) = run_on("to_decibels", [np.zeros(5, np.float32)])
    np.testing.assert_allclose(silent, -200, rtol=1e-6)


def test_other_types() -> None:
    with pytest.raises(SampleError, match="must be of type float32"):
        run_on("to_decibels", [np.ones(3)])
