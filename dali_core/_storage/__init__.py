"""Objects in remote storage by their URLs: listed, read in parts, and cached in a folder.

Readers hand the URLs in their listings to native code, whose I/O threads ask for bytes (see
`RemoteReads` in ``native_io/files/remote_reads.hpp``). Threads of Python answer, many at a time.
"""

from dali_core._storage.arguments import STORAGE_ARGS, storage_arguments, storages_of, stored
from dali_core._storage.object_copies import ObjectCopies
from dali_core._storage.storage import Storage, make_storage, most_in_flight, stopped
from dali_core._storage.urls import is_url, join_path, refuse_urls

__all__ = [
    "STORAGE_ARGS",
    "ObjectCopies",
    "Storage",
    "is_url",
    "join_path",
    "make_storage",
    "most_in_flight",
    "refuse_urls",
    "stopped",
    "storage_arguments",
    "storages_of",
    "stored",
]
