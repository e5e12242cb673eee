"""Lists the entries of databases of LMDB."""

from __future__ import annotations

import os

from dali_core._readers.record_table import RecordTable
from dali_core._runtime.record_index import walk_lmdb
from dali_core._storage import refuse_urls
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.archive_index import RecordFormat, open_indices

FORMAT = RecordFormat("lmdb", walk_lmdb)


def list_entries(folders: list[str]) -> RecordTable:
    """List the entries of databases, in the order of their keys.

    Parameters
    ----------
    folders : list of str
        Folders with a file ``data.mdb``, or such files.

    Raises
    ------
    ArgumentValueError
        If files cannot be read, or there are no entries.
    """
    refuse_urls(
        "path",
        folders,
        "A database of LMDB is a tree of pages: copy the folder to this machine, or its entries to "
        "archives, which fn.readers.webdataset reads from buckets.",
    )
    paths = [
        os.path.join(folder, "data.mdb") if os.path.isdir(folder) else folder for folder in folders
    ]
    keys: list[str] = []
    listing = RecordTable(paths, own={"keys": keys, "folders": folders})
    for number, index in enumerate(open_indices(paths, FORMAT)):
        listing.extend(number, index.offsets, index.sizes, index.problems)
        keys += [
            os.fsencode(name).decode("ascii", "backslashreplace") or f"(byte {offset})"
            for name, offset in zip(index.names, index.offsets, strict=True)
        ]
    if not keys:
        raise ArgumentValueError("path must be databases with at least one entry (got none).")
    return listing
