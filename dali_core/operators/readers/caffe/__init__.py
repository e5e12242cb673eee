"""Read images and labels from LMDB databases of Caffe."""

from __future__ import annotations

from typing import Any

from dali_core._readers.record_table import RecordTable
from dali_core._spec import REQUIRED, Arg, OpSpec, Range
from dali_core.operators.readers.databases import list_entries


def _num_outputs(arguments: dict[str, Any]) -> int:
    return int(arguments["image_available"]) + int(arguments["label_available"])


def _open(arguments: dict[str, Any]) -> RecordTable:
    return list_entries(arguments["path"])


SPEC = OpSpec(
    name="readers.caffe",
    doc="""Read images and labels from LMDB databases of Caffe.

Each entry holds a message ``Datum``. Entries come in the order of their keys. Databases must not be
written to meanwhile. Where one is damaged, its entries there are bad samples.

Returns
-------
DataNode or list of DataNode
    The bytes of each image, one-dimensional uint8, which are a file or pixels; and its label, int32
    of shape (1,), or (0,) where the entry has none. One of them by itself is in no list.""",
    args=(
        Arg("path", list[str], "Folders of the databases.", REQUIRED, length=Range(1)),
        Arg("image_available", bool, "Give the image.", True),
        Arg("label_available", bool, "Give the label.", True),
    ),
    inputs=0,
    outputs=_num_outputs,
    reader=_open,
)
