"""Read features of examples from TFRecord files."""

from __future__ import annotations

from typing import Any

from dali_core._readers.record_table import RecordTable
from dali_core._spec import REQUIRED, Arg, OpSpec, Range
from dali_core._storage import STORAGE_ARGS, Storage, stored
from dali_core.operators.readers.record_listing import list_records
from dali_core.operators.readers.tfrecord.features import (
    bind_features,
    native_features,
    output_names,
)
from dali_core.operators.readers.tfrecord.record_format import FORMAT, read_index


def _open(arguments: dict[str, Any], storage: Storage) -> RecordTable:
    return list_records(
        arguments["path"],
        arguments.get("index_path"),
        FORMAT,
        read_index,
        storage,
        **native_features(arguments),
    )


SPEC = OpSpec(
    name="readers.tfrecord",
    doc="""Read features of examples from TFRecord files.

Each record holds a message ``Example`` of TensorFlow, or with `sequence_features` a
``SequenceExample``. The checksums of lengths and data are checked. A record that is damaged, or
whose features are not as described, is a bad sample: so is one without a feature that has no
default, or with another type or number of values.

Returns
-------
dict of str to DataNode
    The value of each feature: int64, float32, or the bytes of a string, one-dimensional uint8.""",
    args=(
        Arg("path", list[str], "Paths of the files.", REQUIRED, length=Range(1)),
        Arg(
            "features",
            object,
            "A dict of the features to read by their names: results of "
            "``dali_core.tfrecord.FixedLenFeature`` or ``VarLenFeature``.",
            REQUIRED,
        ),
        Arg(
            "index_path",
            list[str],
            "Paths of index files, one for each file, as ``python -m dali_core index tfrecord`` "
            "writes them. Without them, lengths of records are read once; what was found is kept "
            "in a cache (environment variable ``DALI_CORE_INDEX_CACHE``).",
            None,
        ),
        Arg(
            "sequence_features",
            object,
            "Says that records are messages ``SequenceExample``: a dict of the lists of features "
            "to read by their names, results of ``dali_core.tfrecord.FixedLenSequenceFeature``. "
            "`features` are then those of the context.",
            None,
        ),
        Arg(
            "use_o_direct",
            bool,
            "Accepted without effect: files are read through the system's cache.",
            False,
        ),
        *STORAGE_ARGS,
    ),
    inputs=0,
    outputs=lambda arguments: len(output_names(arguments)),
    output_names=output_names,
    bind=bind_features,
    reader=stored(_open),
)
