"""Paste images on larger canvases."""

from __future__ import annotations

from dali_core._spec import REQUIRED, Arg, OpSpec, Range

SPEC = OpSpec(
    name="paste",
    keeps_type=True,
    doc="""Paste each image on a canvas that is larger by a factor.

The canvas has ``ratio`` times the extents of the image, without their fraction, and at least
`min_canvas_size`. Nothing is copied if it is not larger.
""",
    input_docs=("Images of type uint8 with layout ``HWC`` or ``FHWC``.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "fill_value",
            list[int],
            "Colour of the canvas: one number, or one for each channel. A number out of range "
            "wraps around.",
            default=REQUIRED,
        ),
        Arg(
            "ratio",
            float,
            "Extents of the canvas in units of those of the image, at least 1.",
            default=REQUIRED,
            tensor=True,
            range=Range(1),
        ),
        Arg(
            "n_channels",
            int,
            "Accepted and without effect: the image says how many channels it has.",
            default=3,
            range=Range(1),
        ),
        Arg(
            "paste_x",
            float,
            "Horizontal position of the image, from 0 (flush left) to 1 (flush right).",
            default=0.5,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "paste_y",
            float,
            "Vertical position of the image, from 0 (top) to 1 (bottom).",
            default=0.5,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "min_canvas_size",
            float,
            "Least extents of the canvas, in pixels.",
            default=0.0,
            tensor=True,
            range=Range(0),
        ),
    ),
)
