"""Compute spectra of overlapping windows."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="spectrogram",
    doc="""Compute the spectra of overlapping windows of a signal.

Each window of the signal is multiplied by a window function, filled with zeros to `nfft` samples
and transformed to frequencies. The output has ``nfft // 2 + 1`` bins, from frequency 0 to half the
sampling rate, for each window.
""",
    devices=("cpu", "gpu"),
    input_docs=("Signals of type float32: one dimension, of which others have an extent of 1.",),
    args=(
        Arg(
            "nfft",
            int,
            "Size of the Fourier transform in samples, not below `window_length`, which it is by "
            "default. Products of small numbers are faster.",
            default=UNSET,
            range=Range(1, 2**28),
        ),
        Arg("window_length", int, "Samples in a window.", default=512, range=Range(1, 2**28)),
        Arg("window_step", int, "Samples between windows.", default=256, range=Range(1)),
        Arg(
            "window_fn",
            list[float],
            "The window function, `window_length` numbers. By default that of Hann: "
            "``(1 - cos(2 pi (t + 0.5) / window_length)) / 2`` for sample ``t``.",
            default=[],
        ),
        Arg(
            "power",
            int,
            "Exponent of the magnitudes of the spectrum, 1 or 2.",
            default=2,
            range=Range(1, 2),
        ),
        Arg(
            "center_windows",
            bool,
            "Whether windows have their centres at multiples of `window_step`, from the first "
            "sample on, and may reach beyond the signal. Otherwise, all are within.",
            default=True,
        ),
        Arg(
            "reflect_padding",
            bool,
            "Whether the signal is mirrored at its first and last sample, which are not repeated; "
            "otherwise zeros follow. Without effect unless `center_windows`.",
            default=True,
        ),
        Arg(
            "layout",
            str,
            "``ft`` for a row of each frequency, ``tf`` for a row of each window.",
            default="ft",
            choices=("ft", "tf"),
        ),
    ),
)
