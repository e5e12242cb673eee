"""The tables that archives and files of records are listed as."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from dali_core._storage import make_storage
from dali_core.operators.readers.record_listing import Record, RecordListing
from dali_core.operators.readers.webdataset.listing import open_webdataset


@pytest.fixture
def listing(tmp_path: Path) -> RecordListing:
    """Two samples of an archive, of which the second one has no text."""
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, size in (("0.bin", 5), ("0.txt", 7), ("1.bin", 11)):
            member = tarfile.TarInfo(name)
            member.size = size
            archive.addfile(member, io.BytesIO(bytes(size)))
    arguments = {
        "paths": [str(tmp_path / "a.tar")],
        "ext": ["bin", "txt"],
        "missing_component_behavior": "empty",
        "case_sensitive_extensions": True,
    }
    return open_webdataset(arguments, make_storage({}))


def test_rows_are_typed_records(listing: RecordListing, tmp_path: Path) -> None:
    path = str(tmp_path / "a.tar")
    assert len(listing) == 2
    assert listing[0] == Record(path, (512, 1536), (5, 7), "")
    assert listing[1].sizes == (11, -1)
    listing.bad.append(1)
    listing.problems.append("It is damaged.")
    assert listing[1].problem == "It is damaged."


def test_lengths_are_bytes_of_all_parts(listing: RecordListing) -> None:
    assert list(listing.lengths) == [12, 11]
