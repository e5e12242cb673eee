"""Read columns of Parquet files."""

from __future__ import annotations

from typing import Any

from dali_core._spec import Arg, Moving, OpSpec, PythonStep, Range
from dali_core._storage import STORAGE_ARGS
from dali_core.operators.readers.indices import hand_to_indices

_FILE_ARGS = (
    Arg("paths", list[str], "Paths or URLs of the files, whose rows come in this order."),
    Arg(
        "columns",
        list[str],
        'Names of the columns to read; there is an output for each. ``"a.b"`` is the field ``b`` '
        "of structs in the column ``a``.",
        length=Range(1, 4096),
    ),
    *STORAGE_ARGS,
)


def _open(arguments: dict[str, Any]) -> Any:
    from dali_core.operators.readers.parquet.row_groups import list_row_groups

    return list_row_groups(arguments)


def _make_step(arguments: dict[str, Any]) -> Any:
    from dali_core.operators.readers.parquet.rows import make_step

    return make_step(arguments)


PARQUET_INDICES = OpSpec(
    name="readers.parquet.indices",
    doc="""Give the indices of the rows of Parquet files.

Returns
-------
DataNode
    The index of each row, a scalar int64.""",
    args=_FILE_ARGS,
    inputs=0,
    reader=_open,
    title="readers.parquet",
)

SPEC: OpSpec = OpSpec(
    name="readers.parquet",
    doc="""Read columns of Parquet files; a sample is a row.

Files are read by pyarrow (the extra is `arrow`), a row group at a time, and of that only the
columns that are asked for. Numbers and booleans are scalars. Binary values and strings are 1-D
arrays of uint8. Lists of numbers are 1-D, and have a dimension more for each fixed-size list
inside. Images as Hugging Face stores them, a struct of ``bytes`` and ``path``, are their encoded
bytes. Columns of other types, such as timestamps, are errors that name the column and its type.

A row with a null in one of the columns is a bad sample, and so is each row of a row group that
cannot be read. Errors name the file, the row group and the row; `Tensor.source_info` is the index
of the row in all files.

With ``random_shuffle=True``, successive rows are in different row groups, and each needs a whole
one: use it where all fits into `max_cached_bytes`. `samplers.Blocks` gives an order in which each
row group is read once in an epoch.

Returns
-------
DataNode or list of DataNode
    The columns in the order of `columns`; a list if there are several.""",
    args=(
        *_FILE_ARGS,
        Arg(
            "max_cached_bytes",
            int,
            "How many bytes of decoded row groups are kept in memory; those that were not used for "
            "longest are dropped. A single row group may have more.",
            512 << 20,
            range=Range(1),
        ),
    ),
    inputs=(0, 1),
    outputs=lambda arguments: None if len(arguments["columns"]) == 1 else len(arguments["columns"]),
    lower=PythonStep(_make_step, reads_batch=lambda _: False),
    moving=Moving("gpu"),
    input_docs=("Indices of rows, which the operator makes itself.",),
    hands_to_reader=True,
    bind=hand_to_indices(lambda: SPEC, PARQUET_INDICES, {arg.name for arg in _FILE_ARGS}),
)
