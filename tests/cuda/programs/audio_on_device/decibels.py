"""Decibels."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.host_and_device import compare

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
