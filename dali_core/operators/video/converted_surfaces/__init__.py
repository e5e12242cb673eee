"""Convert decoded surfaces to pixels, on the device."""

from __future__ import annotations

from dali_core._spec import REQUIRED, Arg, OpSpec
from dali_core.operators.video.clip_arguments import COLOUR_ARGS

SPEC = OpSpec(
    name="video.converted_surfaces",
    doc="""Convert surfaces of luma and half as high and wide chroma, as NVDEC gives them.

The pixels are those that the host makes of the same values, bit for bit. Of no surface there are no
pixels.
""",
    input_docs=("Surfaces one after the other, ``uint8`` of shape (F, bytes of one).",),
    args=(
        Arg(
            "description",
            list[int],
            "What the surfaces are: height and width as they are stored, bits of a value (8: NV12; "
            "more: P016), whether the range is full, the matrix by ITU-T H.273, and the "
            "orientation of Exif that makes them upright.",
            REQUIRED,
            tensor=True,
        ),
        *COLOUR_ARGS,
    ),
    devices=("gpu",),
    title="video.converted_surfaces",
)
