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
for reference in (None, 1.0, 3e-5):
    for cutoff in (-200.0, -80.0, -440.0):
        (found,) = compare(
            lambda x: fn.to_decibels(x, reference=reference, cutoff_db=cutoff), [signals]
        )
        if reference == 1:
            bounded = np.maximum(signal.astype(np.float64), 10 ** (cutoff / 10))
            np.testing.assert_allclose(found[0], 10 * np.log10(bounded), rtol=2e-6, atol=1e-5)
"""
    )


def test_spectra() -> None:
    """All factors, convolutions, samples outside of signals, and windows of several blocks."""
    run(
        """
random = np.random.default_rng(5)
sizes = [*range(1, 24), 26, 34, 49, 60, 121, 169, 220, 257, 273, 512]
for nfft in sizes:
    length = int(random.integers(1, nfft + 1))
    step = int(random.integers(1, length + 1)) if nfft < 100 else length
    shapes = [(5 * nfft + 9, 1), (1, 2 * nfft), (nfft, 1)]
    signals = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    centered, reflect, power, tf = (int(bit) for bit in np.binary_repr(nfft % 16, 4))
    compare(
        lambda x: fn.spectrogram(
            x,
            nfft=nfft,
            window_length=length,
            window_step=step,
            center_windows=bool(centered),
            reflect_padding=bool(reflect),
            power=1 + power,
            layout="tf" if tf else "ft",
        ),
        [signals],
    )
"""
    )


def test_spectra_of_long_windows() -> None:
    """Windows that do not fit into shared memory, by factors and as convolutions."""
    run(
        """
signals = [np.random.default_rng(n).standard_normal(n).astype(np.float32) for n in (30000, 9, 1)]
for nfft, layout in ((2 * 6561, "ft"), (4097, "tf")):
    (spectra,) = compare(
        lambda x: fn.spectrogram(
            x, nfft=nfft, window_length=4000, window_step=9000, layout=layout
        ),
        [signals],
    )
    windows = spectra[0] if layout == "tf" else spectra[0].T
    assert windows.shape == (4, nfft // 2 + 1)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(4000) + 0.5) / 4000)
    expected = np.abs(np.fft.rfft(signals[0][7000:11000] * hann, nfft)) ** 2
    np.testing.assert_allclose(windows[1], expected, atol=4e-6 * expected.max())
"""
    )


def test_memory_of_long_windows_is_bounded() -> None:
    """Blocks take several windows where all of them would take much memory."""
    run(
        """
signals = [np.ones(n, np.float32) for n in (*[1] * 15, 4)]
(spectra,) = compare(
    lambda x: fn.spectrogram(x, nfft=2**18, window_length=3, window_step=1), [signals]
)
assert spectra[-1].shape == (2**17 + 1, 5)
"""
    )
