"""Small archives and files of records, from which mutations start."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.operators.readers.record_files import (
    examples,
    images,
    recordio,
    sequence_example,
    tfrecord,
)
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


def records() -> list[bytes]:
    """Return files of TFRecords, behind a byte that is even, and of RecordIO."""
    messages = [*examples(0, 3), sequence_example({"label": [1]}, {"steps": [[1], [2]]})]
    return [
        b"\0" + b"".join(map(tfrecord, messages)),
        *(b"\0" + tfrecord(message) for message in messages),
        b"\1" + b"".join(map(recordio, images(0, 4))),
        *(b"\1" + recordio(image) for image in images(0, 4)),
    ]


def messages() -> list[bytes]:
    """Return examples and sequence examples."""
    return [*examples(0, 4), sequence_example({"label": [1]}, {"steps": [[1], [2]], "f": [[0.5]]})]


def databases() -> list[bytes]:
    """Return databases of LMDB, and a message of Caffe2."""
    # A package that is installed for tests of readers only.
    from tests.operators.readers.database_files import (
        INT32,
        STRING,
        datums,
        tensor,
        tensors,
        write_database,
    )

    made = [tensors(tensor(STRING, b"image"), tensor(INT32, [1, 2]))]
    with tempfile.TemporaryDirectory() as folder:
        for count in (0, 3, 60):
            path = write_database(Path(folder, str(count)), datums(count))
            made.append((path / "data.mdb").read_bytes())
    return made


CORPUS: dict[str, Callable[[], list[bytes]]] = {
    "example": messages,
    "lmdb": databases,
    "records": records,
    "tar": tars,
}
"""The files that each target starts with."""
