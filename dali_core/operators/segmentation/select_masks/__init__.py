"""Choose masks out of those of an image."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="segmentation.select_masks",
    doc="""Choose masks by their numbers, and give the polygons and vertices of these only.

The outputs are polygons and vertices as in the inputs: masks are in the order in which they were
asked for, the polygons of a mask in that of the input, and vertices follow each other without gaps.
""",
    inputs=3,
    outputs=2,
    input_docs=(
        "Numbers of the masks, int32 of shape ``(M,)``, each once.",
        "Polygons, int32 of shape ``(P, 3)``: the number of the mask that it is part of, its first "
        "vertex, and the one after its last.",
        "Vertices of any type and of shape ``(V, D)``.",
    ),
    args=(
        Arg(
            "reindex_masks",
            bool,
            "Number the masks of the result from 0, in the order in which they were asked for.",
            default=False,
        ),
    ),
)
