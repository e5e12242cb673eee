"""Compute mel-frequency cepstral coefficients."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="mfcc",
    doc="""Compute mel-frequency cepstral coefficients of mel spectra in decibels.

They are the first `n_mfcc` coefficients of a discrete cosine transform (DCT) along the dimension
of frequencies.
""",
    input_docs=("Mel spectra of type float32.",),
    args=(
        Arg(
            "n_mfcc",
            int,
            "Number of coefficients; at most those that there are.",
            default=20,
            range=Range(1),
        ),
        Arg("dct_type", int, "Which of the types I to IV.", default=2, range=Range(1, 4)),
        Arg(
            "normalize",
            bool,
            "Whether the basis is orthonormal, which type I has none for.",
            default=False,
        ),
        Arg("axis", int, "Dimension of frequencies.", default=0, range=Range(0)),
        Arg(
            "lifter",
            float,
            "Unless 0, coefficient ``i`` is multiplied by ``1 + lifter / 2 * sin(pi * (i + 1) / "
            "lifter)``.",
            default=0.0,
        ),
    ),
)
