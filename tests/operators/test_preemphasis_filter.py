"""Preemphasis."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import ArgumentValueError
from tests.operators.signals import signals
from tests.operators.suite import ALL_TYPES, Example, images, numbers, run_on, type_of

EXAMPLES = [
    Example("defaults", [signals()]),
    Example("integers", [images("HW", "int16")], {"dtype": types.INT16, "border": "zero"}),
    Example("strong", [signals()], {"preemph_coeff": 0.5, "border": "reflect"}),
]


@pytest.mark.parametrize("border", ["zero", "clamp", "reflect"])
def test_borders(border: str) -> None:
    for length in (1, 2, 3, 2047, 2048, 2049, 5000):
        signal = numbers("float32", [length], length)
        before = {"zero": 0, "clamp": signal[0], "reflect": signal[min(1, length - 1)]}[border]
        shifted = np.concatenate([[before], signal[:-1]]).astype(np.float32)
        (result,) = run_on("preemphasis_filter", [signal], border=border, preemph_coeff=0.9)
        np.testing.assert_array_equal(result, signal - np.float32(0.9) * shifted)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    signal = numbers(dtype, [100], 3)
    exact = signal.astype(float) - 0.5 * np.concatenate([signal[:1], signal[:-1]]).astype(float)
    (result,) = run_on("preemphasis_filter", [signal], preemph_coeff=0.5, dtype=types.FLOAT64)
    np.testing.assert_allclose(result, exact, rtol=1e-6, atol=1e-6)
    (own,) = run_on("preemphasis_filter", [signal], preemph_coeff=0.0, dtype=type_of(dtype))
    assert own.dtype == signal.dtype
    if dtype not in ("int64", "uint64"):
        np.testing.assert_array_equal(own, signal)


def test_empty_and_unknown() -> None:
    assert run_on("preemphasis_filter", [np.zeros(0, np.float32)])[0].shape == (0,)
    with pytest.raises(ArgumentValueError, match="'border' must be"):
        run_on("preemphasis_filter", [np.zeros(3, np.float32)], border="wrap")
