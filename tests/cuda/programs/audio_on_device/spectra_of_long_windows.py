"""Spectra of long windows."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.host_and_device import compare

signals = [np.random.default_rng(n).standard_normal(n).astype(np.float32) for n in (30000, 9, 1)]
for nfft, layout in ((2 * 6561, "ft"), (4097, "tf")):
    (spectra,) = compare(
        lambda x: fn.spectrogram(x, nfft=nfft, window_length=4000, window_step=9000, layout=layout),
        [signals],
    )
    windows = spectra[0] if layout == "tf" else spectra[0].T
    assert windows.shape == (4, nfft // 2 + 1)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(4000) + 0.5) / 4000)
    expected = np.abs(np.fft.rfft(signals[0][7000:11000] * hann, nfft)) ** 2
    np.testing.assert_allclose(windows[1], expected, atol=4e-6 * expected.max())
