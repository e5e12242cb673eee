"""Mirror points."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec

_AXES = (("x", "horizontal", 1), ("y", "vertical", 0), ("z", "depth", 0))

SPEC = OpSpec(
    name="coord_flip",
    doc="""Mirror points, coordinate by coordinate, at a centre.

A mirrored coordinate becomes ``2 * center - coordinate``; with the default centre this is what
`flip` does to the points of an image, in units of its extents.
""",
    input_docs=("Points, float32 of shape ``(N, D)``, with D from 1 to 3.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "layout",
            str,
            "Order of the coordinates, made of the letters x, y and z. By default x, xy or xyz, "
            "by their number.",
            default=UNSET,
        ),
        *(
            Arg(
                f"flip_{letter}",
                int,
                f"Mirror the {name} coordinate if not 0.",
                default=default,
                tensor=True,
            )
            for letter, name, default in _AXES
        ),
        *(
            Arg(
                f"center_{letter}",
                float,
                f"Centre of the {name} coordinate.",
                default=0.5,
                tensor=True,
            )
            for letter, name, _ in _AXES
        ),
    ),
)
