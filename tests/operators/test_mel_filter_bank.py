"""Mel spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.signals import random, spectra
from tests.operators.suite import Example, run_on

EXAMPLES = [
    Example("defaults", [spectra()]),
    Example("rows", [spectra("tf")], {"nfilter": 20, "mel_formula": "htk", "normalize": False}),
    Example("channels", [spectra("cft")], {"sample_rate": 16000.0, "freq_low": 50.0}),
]


def test_layouts_agree() -> None:
    data = np.abs(random([3, 65, 29]))
    (expected,) = run_on("mel_filter_bank", [data], nfilter=12)
    for order, layout in (((0, 1, 2), "cft"), ((0, 2, 1), "ctf"), ((1, 2, 0), "ftc")):
        (result,) = run_on("mel_filter_bank", [data.transpose(order).copy()], layout, nfilter=12)
        np.testing.assert_array_equal(result, expected.transpose(order))
    (one,) = run_on("mel_filter_bank", [data[0, :, 0].copy()], nfilter=12)
    np.testing.assert_array_equal(one, expected[0, :, 0])


def test_filters() -> None:
    """Filters are triangles whose sum is flat between the outer centres, and integrals are 1."""
    bins = np.eye(1025, dtype=np.float32)
    arguments = {"nfilter": 10, "sample_rate": 16000.0}
    (peaks,) = run_on("mel_filter_bank", [bins], normalize=False, **arguments)
    centres = peaks.argmax(axis=1)
    assert (np.diff(centres) > 0).all()
    np.testing.assert_allclose(peaks[:, centres[0] + 1 : centres[-1]].sum(axis=0), 1, atol=1e-5)
    (areas,) = run_on("mel_filter_bank", [bins], **arguments)
    np.testing.assert_allclose(areas.sum(axis=1) * 8000 / 1024, 1, rtol=2e-2)


def test_few_bins() -> None:
    for bins in (0, 1):
        (result,) = run_on("mel_filter_bank", [np.ones((bins, 3), np.float32)], nfilter=4)
        np.testing.assert_array_equal(result, np.zeros((4, 3), np.float32), strict=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"freq_low": 900.0, "freq_high": 800.0}, "must be above freq_low"),
        ({"freq_low": 9000.0, "sample_rate": 16000.0}, "must be above freq_low"),
        ({"mel_formula": "bark"}, "'mel_formula' must be"),
        ({"nfilter": 0}, "'nfilter' must be from 1"),
        ({"sample_rate": 0.0}, "'sample_rate' must be above 0"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        run_on("mel_filter_bank", [np.ones((5, 3), np.float32)], **arguments)


def test_other_inputs() -> None:
    with pytest.raises(SampleError, match="must be of type float32"):
        run_on("mel_filter_bank", [np.ones((5, 3))])
    with pytest.raises(SampleError, match="must have a dimension of frequencies"):
        run_on("mel_filter_bank", [np.ones((5, 3), np.float32)], "HW")
