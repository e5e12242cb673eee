"""Noise of counted events."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="noise.shot",
    doc="""Replace each element by a number of random events, as a camera counts photons.

An element x becomes ``factor * n``, where n has a Poisson distribution of mean ``x / factor``; it
becomes 0 if that is not positive. Type, shape and layout stay. Integers round half away from zero
and saturate. What is drawn for a sample depends on the seed, the epoch and the sample alone, not on
batch size, threads or shards.
""",
    input_docs=("Tensors of any type but bool, of any shape and layout.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "factor",
            float,
            "What each event adds: the larger, the more noise. 0 changes nothing.",
            default=12.0,
            tensor=True,
            range=Range(0),
        ),
    ),
    random=True,
)
