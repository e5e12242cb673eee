"""Writes index files: where the samples are in an archive or a file of records."""

from __future__ import annotations

from dali_core.operators.readers.archive_index import BEHIND_THE_END, ArchiveIndex
from dali_core.operators.readers.webdataset.samples import samples_of, write_index_file


def index_text(index: ArchiveIndex, kind: str) -> tuple[str, list[str]]:
    """Return the text of an index file, and what is wrong with that which it leaves out.

    Parameters
    ----------
    index : ArchiveIndex
        What is in the archive.
    kind : str
        ``"wds"``: see `read_index_file`. ``"tfrecord"``: a line for each record, with its offset
        and size. ``"recordio"``: a line for each, with its number and offset.
    """
    if kind == "wds":
        samples = samples_of(index)
        problems = [sample.problem for sample in samples if sample.problem]
        problems += filter(None, [index.problems.get(BEHIND_THE_END)])
        return write_index_file([sample for sample in samples if not sample.problem]), problems
    places = [
        (offset, size)
        for number, (offset, size) in enumerate(zip(index.offsets, index.sizes, strict=True))
        if number not in index.problems
    ]
    if kind == "tfrecord":
        lines = [f"{offset} {size}\n" for offset, size in places]
    else:
        lines = [f"{number}\t{offset}\n" for number, (offset, _) in enumerate(places)]
    return "".join(lines), list(index.problems.values())
