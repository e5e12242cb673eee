"""Shared arguments of operators that make an affine transform."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg

INPUT_DOC = (
    "An affine transform that comes before the new one: a ``float32`` matrix of N rows and N + 1 "
    "columns, or one for each frame with a layout that starts with F."
)

REVERSE_ORDER = Arg(
    "reverse_order",
    bool,
    "Let the transform of the input come after the new one, not before. Without an input, it has "
    "no effect.",
    default=False,
)

NOTES = """The result is a ``float32`` matrix ``[M T]`` of N rows and N + 1 columns, which takes a
point ``p`` to ``M p + T``. Coordinates are in the order x, y, z. Give it to `coord_transform` or
`warp_affine`.

Arguments that come with each sample may have a value for each frame: their layout then starts with
F, and so does that of the result.
"""


def center(of: str) -> Arg:
    """Describe the argument `center`."""
    return Arg(
        "center",
        list[float],
        f"Point that the {of} leaves where it is: one number for each dimension, or one for all. "
        "By default, the origin.",
        default=UNSET,
        tensor=True,
    )
