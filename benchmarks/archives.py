"""Measure reading photos from archives, against other loaders: ``python -m benchmarks.archives``.

The same photos are read as files, from a tar archive and from a TFRecord file, in the page cache:
random resized crops of 224 pixels, flipped and normalised. All loaders have the same number of
threads, or of worker processes, and are run in every round, in rotating order. The archives are
written here.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dali_core.__main__ import main as dali_core_command
from tests.operators.readers.record_files import example, tfrecord

from .command import find_photos
from .comparison import compare, parser_of
from .peers.archives import PIPELINES
from .summary import quartiles, ratio_of_medians


def main() -> None:
    """Read the command line, measure, report."""
    arguments = parser_of("archives", __doc__, PIPELINES).parse_args()
    photos = find_photos(arguments.data, arguments.images)
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "file": photos,
            "webdataset": [write_tar(Path(folder, "photos.tar"), photos)],
            "tfrecord": [_write_tfrecord(Path(folder, "records.tfrecord"), photos)],
        }
        rates = compare(arguments, photos, lambda pipeline: files[pipeline.partition("/")[2]]).rates
    base = rates[arguments.pipelines[0]]
    for pipeline, values in rates.items():
        rate, ratio = quartiles(values), ratio_of_medians(base, values)
        print(
            f"{pipeline:22} {rate.median:6.0f} images/s ({rate.low:.0f} to {rate.high:.0f}); "
            f"{arguments.pipelines[0]} is {ratio.median:.2f} times as fast ({ratio.low:.2f} to "
            f"{ratio.high:.2f})"
        )


def write_tar(path: Path, photos: Sequence[str]) -> str:
    """Write an archive of photos, and its index file beside it; return its path."""
    with tarfile.open(path, "w") as archive:
        for number, photo in enumerate(photos):
            data = Path(photo).read_bytes()
            info = tarfile.TarInfo(f"{number:06}.jpg")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    assert dali_core_command(["index", "wds", str(path)]) == 0
    return str(path)


def _write_tfrecord(path: Path, photos: Sequence[str]) -> str:
    with path.open("wb") as file:
        for photo in photos:
            file.write(tfrecord(example({"image": [Path(photo).read_bytes()]})))
    assert dali_core_command(["index", "tfrecord", str(path)]) == 0
    return str(path)


if __name__ == "__main__":
    main()
