"""Measure reading photos from archives, against other loaders: ``python -m benchmarks.archives``.

The same photos are read as files, from a tar archive and from a TFRecord file, in the page cache:
random resized crops of 224 pixels, flipped and normalised. All loaders have the same number of
threads, or of worker processes, and are run in every round, in rotating order. The archives are
written here.
"""

from __future__ import annotations

import argparse
import io
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from dali_core.__main__ import main as dali_core_command
from tests.operators.readers.record_files import example, tfrecord

from . import machine
from .command import (
    WorkerError,
    add_photo_options,
    batches_of,
    find_photos,
    positive,
    run_worker,
    warn_if_busy,
    write_results,
)
from .peers.archives import PIPELINES
from .summary import quartiles, ratio_of_medians


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.archives", description=__doc__.split("\n", 1)[0]
    )
    add_photo_options(parser)
    parser.add_argument("--rounds", type=positive, default=7, help="(%(default)s)")
    parser.add_argument("--pipelines", nargs="+", choices=PIPELINES, default=PIPELINES)
    arguments = parser.parse_args()
    warn_if_busy()
    photos = find_photos(arguments.data, arguments.images)
    rates: dict[str, list[float]] = defaultdict(list)
    left_out: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "file": photos,
            "webdataset": [_write_tar(Path(folder, "photos.tar"), photos)],
            "tfrecord": [_write_tfrecord(Path(folder, "records.tfrecord"), photos)],
        }
        for round_ in tqdm(range(arguments.rounds), unit="round"):
            shift = round_ % len(arguments.pipelines)
            for pipeline in arguments.pipelines[shift:] + arguments.pipelines[:shift]:
                if pipeline in left_out:
                    continue
                parameters = {
                    "pipeline": pipeline,
                    "files": files[pipeline.partition("/")[2]],
                    "threads": arguments.threads,
                    "batch_size": arguments.batch_size,
                    "warm_up": 4,
                    "batches": batches_of(arguments.images, photos, arguments.batch_size),
                }
                try:
                    result = run_worker(sys.executable, "archives", "throughput", parameters)
                except WorkerError as error:
                    left_out[pipeline] = str(error).splitlines()[-1]
                else:
                    rates[pipeline].append(float(result["images_per_second"]))
    for pipeline, reason in left_out.items():
        print(f"{pipeline} is left out: {reason}")
    base = rates[arguments.pipelines[0]]
    for pipeline, values in rates.items():
        rate, ratio = quartiles(values), ratio_of_medians(base, values)
        print(
            f"{pipeline:22} {rate.median:6.0f} images/s ({rate.low:.0f} to {rate.high:.0f}); "
            f"{arguments.pipelines[0]} is {ratio.median:.2f} times as fast ({ratio.low:.2f} to "
            f"{ratio.high:.2f})"
        )
    versions = run_worker(sys.executable, "archives", "versions", {})["versions"]
    write_results(
        "archives",
        {
            "machine": machine.describe(),
            "versions": versions,
            "threads": arguments.threads,
            "batch_size": arguments.batch_size,
            "images_per_second": rates,
        },
    )


def _write_tar(path: Path, photos: Sequence[str]) -> str:
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
