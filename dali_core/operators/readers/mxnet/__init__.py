"""Read images and labels from a RecordIO file of MXNet."""

from __future__ import annotations

from typing import Any

from dali_core._readers.record_table import RecordTable
from dali_core._spec import REQUIRED, Arg, OpSpec
from dali_core._storage import STORAGE_ARGS, Storage, stored
from dali_core.operators.readers.mxnet.record_format import FORMAT, read_index
from dali_core.operators.readers.record_listing import list_records


def _open(arguments: dict[str, Any], storage: Storage) -> RecordTable:
    return list_records(arguments["path"], arguments.get("index_path"), FORMAT, read_index, storage)


SPEC = OpSpec(
    name="readers.mxnet",
    doc="""Read images and labels from a RecordIO file of MXNet.

Records come in the order of the file. A damaged record is a bad sample.

Returns
-------
(DataNode, DataNode)
    The bytes of each image, one-dimensional uint8; and its labels, float32 of shape (N,): where a
    record has several labels, these replace the single one.""",
    args=(
        Arg("path", list[str], "Path of the file; a list must have one entry.", REQUIRED, length=1),
        Arg(
            "index_path",
            list[str],
            "Path of its index file, in a list of one entry or alone, as ``python -m dali_core "
            "index recordio`` writes it. Without it, headers of records are read once; what was "
            "found is kept in a cache (environment variable ``DALI_CORE_INDEX_CACHE``).",
            None,
            length=1,
        ),
        *STORAGE_ARGS,
    ),
    inputs=0,
    outputs=2,
    reader=stored(_open),
)
