"""Compute spectra along a dimension."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="power_spectrum",
    doc="""Compute the spectra of signals along a dimension.

The dimension becomes one of ``nfft // 2 + 1`` bins, from frequency 0 to half the sampling rate.
""",
    input_docs=("Tensors of type float32.",),
    args=(
        Arg(
            "nfft",
            int,
            "Size of the Fourier transform in samples; by default the extent of the dimension. "
            "Longer signals are cut, and shorter ones filled with zeros.",
            default=UNSET,
            range=Range(1, 2**28),
        ),
        Arg(
            "power",
            int,
            "Exponent of the magnitudes of the spectrum, 1 or 2.",
            default=2,
            range=Range(1, 2),
        ),
        Arg(
            "axis",
            int,
            "Dimension of the signals; negative numbers count from the last one.",
            default=-1,
        ),
    ),
)
