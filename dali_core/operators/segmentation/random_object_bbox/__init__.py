"""Random objects of a mask."""

from __future__ import annotations

from typing import Any

from dali_core._spec import UNSET, Arg, OpSpec, Range


def _num_outputs(arguments: dict[str, Any]) -> int | None:
    count = (1 if arguments["format"] == "box" else 2) + arguments["output_class"]
    return None if count == 1 else count


SPEC = OpSpec(
    name="segmentation.random_object_bbox",
    doc="""Choose an object of a labelled mask at random, and give its bounding box.

An object is a connected set of elements with one label; elements are connected by their faces, not
by edges or corners. First a label is drawn from those of the foreground that have an object, then
one of its objects. Where there is none, and with a probability of ``1 - foreground_prob``, the box
is the whole mask.

Outputs are int32, with a number for each dimension of the mask. What is drawn for a sample depends
on the seed, the epoch and the sample alone, not on batch size, threads or shards.
""",
    input_docs=("Masks of an integer type or bool, with less than 2**31 elements.",),
    outputs=_num_outputs,
    args=(
        Arg(
            "foreground_prob",
            float,
            "Probability of choosing an object instead of the whole mask.",
            default=1.0,
            tensor=True,
            range=Range(0, 1),
        ),
        Arg(
            "classes",
            list[int],
            "Labels of the foreground. By default, all but the background.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "class_weights",
            list[float],
            "Relative probabilities of `classes`; without these, of the labels from 0 on, the "
            "background left out.",
            default=UNSET,
            tensor=True,
            range=Range(0),
        ),
        Arg(
            "background",
            int,
            "Label of the background. By default 0, or if that is in `classes`, the label below "
            "the least of these; below the least of int32, the greatest that is not in `classes`.",
            default=UNSET,
            tensor=True,
            range=Range(-(2**31), 2**31 - 1),
        ),
        Arg(
            "ignore_class",
            bool,
            "Draw from the objects of all labels. Not together with `classes`, `class_weights` or "
            "`output_class`.",
            default=False,
        ),
        Arg(
            "threshold",
            list[int],
            "Least extents of the boxes to choose from: one for each dimension, or one for all.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "k_largest",
            int,
            "Choose from this many of the largest boxes, of those that `threshold` leaves: of the "
            "label that was drawn, or of all with `ignore_class`.",
            default=UNSET,
            range=Range(1),
        ),
        Arg(
            "format",
            str,
            "``'anchor_shape'`` for two outputs, the first element and the extents; "
            "``'start_end'`` for two, the first element and the one after the last; ``'box'`` for "
            "one with these numbers behind each other.",
            default="anchor_shape",
            choices=("anchor_shape", "start_end", "box"),
        ),
        Arg(
            "output_class",
            bool,
            "Give the label of the object as a last output: that of the background for the whole "
            "mask.",
            default=False,
        ),
        Arg(
            "cache_objects",
            bool,
            "Accepted without effect: objects are found again for each mask.",
            default=False,
        ),
    ),
    random=True,
)
