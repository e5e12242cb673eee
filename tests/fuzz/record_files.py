"""Small archives and files of records, from which mutations start."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.operators.readers.tar_files import UNUSUAL, sample_entries, write_tar


def tars() -> list[bytes]:
    """Return archives in all formats."""
    entries = [*UNUSUAL, *sample_entries(0, 3)]
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            long = [] if form == tarfile.USTAR_FORMAT else [(f"{'y' * 200}.jpg", b"long")]
            path = write_tar(Path(folder, "a.tar"), [*entries, *long], form)
            made.append(path.read_bytes())
    return made


CORPUS: dict[str, Callable[[], list[bytes]]] = {"tar": tars}
"""The files that each target starts with."""
