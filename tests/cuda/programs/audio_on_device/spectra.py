"""Spectra."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.host_and_device import compare

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
