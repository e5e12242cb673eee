"""Spectra and decibels on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_mel_filters() -> None:
    """Spectra of several numbers of bins, whose frequencies are in any dimension."""
    run(
        """
for layout, shapes in (("ft", [(129, 7), (65, 3), (129, 1), (1, 4), (33, 0)]),
                       ("tf", [(5, 129), (2, 65), (0, 8)]),
                       ("tfa", [(2, 40, 3), (1, 129, 2)])):
    for options in ({}, {"normalize": True, "nfilter": 9}, {"mel_formula": "htk"}):
        compare(
            lambda spectrum: fn.mel_filter_bank(spectrum, sample_rate=16000, **options),
            [made(shapes, "float32")],
            layout,
        )
"""
    )


def test_decibels() -> None:
    """Numbers of all magnitudes, with a reference and without."""
    run(
        """
random = np.random.default_rng(4)
signal = (10 ** random.uniform(-44, 38, 1999)).astype(np.float32)
special = np.float32([0, -1, np.nan, np.inf, 1e-45, 1, 3e38])
signals = [signal, special[[0, 1, 2, 4, 5]], np.zeros(3, np.float32), special, signal[:0]]
for reference in (0.0, 1.0, 3e-5):
    for cutoff in (-200.0, -80.0, -440.0):
        (found,) = compare(
            lambda x: fn.to_decibels(x, reference=reference, cutoff_db=cutoff), [signals]
        )
        if reference == 1:
            bounded = np.maximum(signal.astype(np.float64), 10 ** (cutoff / 10))
            np.testing.assert_allclose(found[0], 10 * np.log10(bounded), rtol=2e-6, atol=1e-5)
"""
    )
