"""Convert spectra to mel spectra."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="mel_filter_bank",
    doc="""Convert spectra to mel spectra by triangular filters.

The centres of the filters are equally far apart on a mel scale. Bins of the input reach from
frequency 0 to half of `sample_rate`. The dimension of frequencies is the one that the layout calls
``f``; without a layout, it is the last one but one, or the only one.
""",
    devices=("cpu", "gpu"),
    input_docs=("Spectra of type float32.",),
    args=(
        Arg("nfilter", int, "Number of filters.", default=128, range=Range(1, 2**20)),
        Arg(
            "sample_rate",
            float,
            "Sampling rate of the signal in Hz.",
            default=44100.0,
            range=Range(0, above=True),
        ),
        Arg("freq_low", float, "Lowest frequency in Hz.", default=0.0, range=Range(0)),
        Arg(
            "freq_high",
            float,
            "Highest frequency in Hz, above `freq_low`; 0 for half of `sample_rate`.",
            default=0.0,
            range=Range(0),
        ),
        Arg(
            "normalize",
            bool,
            "Whether the integral of each filter is 1 Hz; otherwise its peak is 1.",
            default=True,
        ),
        Arg(
            "mel_formula",
            str,
            "``slaney``: linear up to 1 kHz and logarithmic above. ``htk``: 2595 log10(1 + f / "
            "700).",
            default="slaney",
            choices=("slaney", "htk"),
        ),
    ),
)
