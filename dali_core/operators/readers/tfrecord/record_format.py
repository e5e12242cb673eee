"""TFRecord files as a record format, with index files of offsets and sizes."""

from __future__ import annotations

from dali_core._runtime.record_index import walk_tfrecord
from dali_core._storage import Storage
from dali_core.operators.readers.archive_index import ArchiveIndex, RecordFormat
from dali_core.operators.readers.record_listing import read_numbers


def read_index(index_path: str, path: str, storage: Storage) -> ArchiveIndex:
    """Read an index file, which has the offset and the size of a record on each line."""
    places = read_numbers(index_path, storage, "the offset and the size of a record")
    return ArchiveIndex([place[0] for place in places], [place[1] for place in places])


def _write_index(index: ArchiveIndex) -> tuple[str, list[str]]:
    lines = [f"{offset} {size}\n" for offset, size in index.sound_places()]
    return "".join(lines), list(index.problems.values())


FORMAT = RecordFormat("tfrecord", walk_tfrecord, (".tfrecord", ".tfrecords", ".rec"), _write_index)
