"""Distort images as compression to JPEG does."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="jpeg_compression_distortion",
    keeps_type=True,
    doc="""Distort images as compression to JPEG does.

The result equals, bit for bit, what libjpeg-turbo decodes from what it encoded with this quality,
chroma of half resolution both ways (4:2:0) and the accurate integer DCT. Nothing is encoded on the
way: entropy coding loses nothing.
""",
    input_docs=("RGB images or sequences of type uint8, with layout ``HWC`` or ``FHWC``.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "quality",
            int,
            "Quality from 1 (worst) to 100 (best); numbers beyond count as these.",
            default=50,
            tensor=True,
            range=Range(0, 100),
        ),
    ),
)
