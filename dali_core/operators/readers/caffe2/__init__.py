"""Read images, labels and other tensors from LMDB databases of Caffe2."""

from __future__ import annotations

from typing import Any

from dali_core._readers.record_table import RecordTable
from dali_core._spec import MAX_OUTPUTS, REQUIRED, Arg, OpSpec, Range
from dali_core.operators.readers.databases import list_entries

_LABEL_OUTPUTS = (1, 2, 1, 2, 0)
"""Number of outputs for each type of label."""


def _num_outputs(arguments: dict[str, Any]) -> int:
    labels = _LABEL_OUTPUTS[arguments["label_type"]]
    others = int(arguments["additional_inputs"]) + int(arguments["bbox"])
    return int(arguments["image_available"]) + labels + others


def _open(arguments: dict[str, Any]) -> RecordTable:
    return list_entries(arguments["path"])


SPEC = OpSpec(
    name="readers.caffe2",
    doc="""Read images, labels and other tensors from LMDB databases of Caffe2.

Each entry holds a message ``TensorProtos``: image, label, weights of labels, other tensors and a
box, as the arguments say. Entries come in the order of their keys. Databases must not be written to
meanwhile. Where one is damaged, its entries there are bad samples, as are entries that are not as
described.

Returns
-------
DataNode or list of DataNode
    The image: the bytes of a file, one-dimensional uint8, or pixels of shape (H, W, C). The label,
    see `label_type`. Other tensors, float32, int32 or int64 of one dimension. The box, int32 of
    shape (4,). One output by itself is in no list.""",
    args=(
        Arg("path", list[str], "Folders of the databases.", REQUIRED, length=Range(1)),
        Arg("image_available", bool, "Whether entries have an image, which is given.", True),
        Arg(
            "label_type",
            int,
            "What the label is. 0: one number, int32 or float32 of shape (1,). 1: numbers of "
            "labels; given are int32 of shape (`num_labels`,) with 1 for these, and the numbers. "
            "2: a vector, int32 or float32. 3: numbers of labels, and their weights; given are "
            "float32 of shape (`num_labels`,) with the weights, and the weights alone. 4: none.",
            0,
            range=Range(0, 4),
        ),
        Arg(
            "num_labels",
            int,
            "Number of labels that there are, for `label_type` 1 and 3.",
            1,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "additional_inputs",
            int,
            "Number of other tensors in each entry, which are given.",
            0,
            range=Range(0, MAX_OUTPUTS - 4),
        ),
        Arg("bbox", bool, "Whether entries have a box, which is given.", False),
    ),
    inputs=0,
    outputs=_num_outputs,
    reader=_open,
)
