"""Boxes of images that are replaced by those of other images."""

from __future__ import annotations

from dali_core._spec import OpSpec
from dali_core.operators.mixup import MIXING_DOC, mixing_args

SPEC = OpSpec(
    name="cutmix",
    doc=f"""Replace a box of each image by that of another sample of the batch, and mix the labels.

With a weight from Beta(`alpha`, `alpha`), the box has the part ``sqrt(1 - weight)`` of height and
width, around a uniformly distributed centre, and is clipped to the image. The label is mixed by
the area that is left::

    weight = 1 - box_height * box_width / (height * width)
    label = weight * label + (1 - weight) * other_label

S. Yun, D. Han, S. J. Oh, S. Chun, J. Choe, Y. Yoo: "CutMix: Regularization strategy to train strong
classifiers with localizable features", ICCV 2019, section 3.1. All frames or slices of a sample get
the same box.

{MIXING_DOC}""",
    keeps_type=True,
    inputs=2,
    outputs=2,
    input_docs=(
        "Images, volumes or sequences of any type, with H and W next to each other in the layout; "
        "all of the batch of one shape. Without a layout: ``HW``, ``HWC`` or ``FHWC``.",
        "Labels: class numbers, or rows with a number for each class.",
    ),
    args=mixing_args(1.0),
    random=True,
    reads_batch=True,
)
