"""Tar archives as a record format, with index files of samples."""

from __future__ import annotations

from dali_core._runtime.record_index import walk_tar
from dali_core.operators.readers.archive_index import BEHIND_THE_END, ArchiveIndex, RecordFormat
from dali_core.operators.readers.webdataset.samples import samples_of, write_index_file


def _write_index(index: ArchiveIndex) -> tuple[str, list[str]]:
    samples = samples_of(index)
    problems = [sample.problem for sample in samples if sample.problem]
    problems += filter(None, [index.problems.get(BEHIND_THE_END)])
    return write_index_file([sample for sample in samples if not sample.problem]), problems


FORMAT = RecordFormat("tar", walk_tar, (".tar",), _write_index)
