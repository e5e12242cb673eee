"""Memory of long windows is bounded."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.host_and_device import compare

signals = [np.ones(n, np.float32) for n in (*[1] * 15, 4)]
(spectra,) = compare(
    lambda x: fn.spectrogram(x, nfft=2**18, window_length=3, window_step=1), [signals]
)
assert spectra[-1].shape == (2**17 + 1, 5)
