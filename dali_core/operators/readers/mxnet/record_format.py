"""RecordIO files as a record format, with index files of numbers and offsets."""

from __future__ import annotations

from dali_core._runtime.record_index import walk_recordio
from dali_core._storage import Storage, is_url
from dali_core.operators.readers.archive_index import ArchiveIndex, RecordFormat
from dali_core.operators.readers.record_listing import read_numbers


def read_index(index_path: str, path: str, storage: Storage) -> ArchiveIndex:
    """Read an index file, which has the number and the offset of a record on each line."""
    # Whatever the order of the lines, records come in that of the file.
    places = read_numbers(index_path, storage, "the number and offset of a record")
    offsets = sorted(place[1] for place in places)
    if not is_url(path):
        return ArchiveIndex(offsets, [0] * len(offsets))
    # No request is needed to find the size of a record if it is at most what is before the next.
    ends = [*offsets[1:], storage.info(path).size]
    return ArchiveIndex(offsets, [end - start for start, end in zip(offsets, ends, strict=True)])


def _write_index(index: ArchiveIndex) -> tuple[str, list[str]]:
    lines = [f"{number}\t{offset}\n" for number, (offset, _) in enumerate(index.sound_places())]
    return "".join(lines), list(index.problems.values())


FORMAT = RecordFormat("recordio", walk_recordio, (".rec",), _write_index)
