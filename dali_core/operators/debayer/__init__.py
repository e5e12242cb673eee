"""Compute the colours of images that were taken through a Bayer filter."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="debayer",
    doc="""Compute the colours of images that were taken through a Bayer filter.

Each pixel was measured through one colour: red or blue in every other pixel, green in the rest. The
other colours are interpolated. Heights and widths must be even; images of 2 rows or columns become
black.

Returns
-------
DataNode
    Images of layout ``HWC`` with the channels red, green and blue, or a grey one.""",
    input_docs=(
        "Images of one channel, uint8 or uint16, of layout ``HW`` or ``HWC``, or sequences of "
        "them.",
    ),
    args=(
        Arg(
            "blue_position",
            list[int],
            "Row and column of the blue pixel among the 2 x 2 pixels that begin in the second row "
            "and column of the image: ``(0, 0)`` for the arrangement that is called BG, ``(0, 1)`` "
            "for GB, ``(1, 0)`` for GR, ``(1, 1)`` for RG.",
            tensor=True,
            range=Range(0, 1),
            length=Range(1, 2),
        ),
        Arg(
            "algorithm",
            str,
            'How colours are interpolated. ``"bilinear_ocv"``: between the nearest pixels. '
            '``"edgeaware_ocv"``: green along edges only. ``"vng_ocv"``: on the sides where little '
            'changes, of uint8 images. ``"gray_ocv"``: the grey value of the bilinear colours.',
            default="bilinear_ocv",
            choices=("bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv"),
        ),
    ),
)
