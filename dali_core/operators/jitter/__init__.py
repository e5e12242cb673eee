"""Move the pixels of images at random."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="jitter",
    keeps_type=True,
    doc="""Take each pixel of an image from a random place nearby.

Both coordinates of the place are uniform from half of `nDegree` below to half of it above those of
the pixel. What is drawn for a sample depends on the seed, the epoch and the sample alone, not on
batch size, threads or shards.
""",
    input_docs=("Images of any type with layout ``HWC`` or ``FHWC``.",),
    args=(
        Arg(
            "nDegree",
            int,
            "Extent, in pixels, of the square that places are in.",
            default=2,
            range=Range(0),
        ),
        Arg(
            "fill_value",
            float,
            "Value of places outside of the image. For integer types the fraction is dropped, and "
            "a number out of range wraps around.",
            default=0.0,
            finite=False,
        ),
        Arg(
            "interp_type",
            types.DALIInterpType,
            "How a place between pixels gets its value: ``INTERP_NN`` from the nearest one, or "
            "``INTERP_LINEAR`` from the four around it.",
            default=types.INTERP_NN,
            choices=(types.INTERP_NN, types.INTERP_LINEAR),
        ),
        Arg(
            "mask",
            int,
            "Whether to change the image: 0 passes it on as it is.",
            default=1,
            tensor=True,
        ),
    ),
    random=True,
)
