"""Random patches of volumes and images, around labelled elements as often as wanted."""

from __future__ import annotations

from dali_core._spec import REQUIRED, UNSET, Arg, OpSpec, Range

SPEC = OpSpec(
    name="random_patch",
    doc="""Draw the place of a patch at random, around an element of foreground or background.

First it is drawn which of the two, then an element of it, all of which are equally likely. The
patch has it in its centre, or is moved so far that it lies inside of the map. A map without
foreground gives patches around background, and the reverse. The output is the start of the patch,
int64, one number for each dimension: pass it to `slice` for the map, and for the data that belong
to it. What is drawn for a sample depends on the seed, the epoch and the sample alone, not on batch
size, threads or shards.
""",
    input_docs=(
        "Maps of labels, of any type, with a dimension for each number of `shape`, and perhaps a "
        "last one of extent 1.",
    ),
    args=(
        Arg(
            "shape",
            list[int],
            "Extents of the patch, at most those of the map.",
            default=REQUIRED,
            tensor=True,
            range=Range(1),
        ),
        Arg(
            "positive",
            float,
            "Probability of a patch around foreground.",
            default=0.5,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "classes",
            list[int],
            "Labels of the foreground. Of those in the map one is drawn first, all equally likely, "
            "so that small objects come as often as large ones. By default the foreground is "
            "everything but 0.",
            default=UNSET,
        ),
    ),
    random=True,
)
