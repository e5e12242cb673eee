"""Measure reading photos from remote storage, against peers: ``python -m benchmarks.remote``.

Photos are read from a server of S3 on this machine that delays each answer, and from local files in
the page cache: random resized crops of 224 pixels, flipped and normalised. They are read as files,
in random order, and from a tar archive, in its order. Ours has at most ``--in-flight`` requests in
flight. All loaders have the same number of threads, or of worker processes, and are run in every
round, in rotating order.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .archives import write_tar
from .command import ROOT, find_photos, positive
from .comparison import compare, parser_of
from .peers.remote import PIPELINES
from .summary import quartiles, ratio_of_medians


def main() -> None:
    """Read the command line, measure, report."""
    parser = parser_of("remote", __doc__, PIPELINES)
    parser.add_argument(
        "--latency", type=float, default=50.0, metavar="MILLISECONDS", help="(%(default)s)"
    )
    parser.add_argument("--in-flight", type=positive, default=64, help="(%(default)s)")
    parser.add_argument(
        "--queue", type=positive, default=2, help="batches that ours starts (%(default)s)"
    )
    arguments = parser.parse_args()
    photos = find_photos(arguments.data, arguments.images)
    objects = [f"s3://bucket/{number:06}.jpg" for number in range(len(photos))]
    os.environ["BENCHMARK_IN_FLIGHT"] = str(arguments.in_flight)
    os.environ["BENCHMARK_QUEUE"] = str(arguments.queue)
    with tempfile.TemporaryDirectory() as folder:
        # As long as a measurement, since the end of an archive is none of a stream of many.
        passes = -(-arguments.images // len(photos))
        archive = write_tar(Path(folder, "photos.tar"), photos * passes)
        index = str(Path(archive).with_suffix(".idx"))
        files = {
            "local": photos,
            "local-tar": [archive, index],
            "s3-tar": ["s3://bucket/photos.tar", index],
        }
        with _server([*photos, archive], arguments.latency) as endpoint:
            os.environ["BENCHMARK_ENDPOINT"] = endpoint
            rates = compare(
                arguments,
                photos,
                lambda pipeline: files.get(pipeline.partition("/")[2], objects),
                latency_milliseconds=arguments.latency,
                in_flight=arguments.in_flight,
                queue=arguments.queue,
            )
    for pipeline, values in rates.items():
        rate = quartiles(values)
        line = f"{pipeline:16} {rate.median:6.0f} images/s ({rate.low:.0f} to {rate.high:.0f})"
        is_archive = pipeline.endswith(("tar", "webdataset"))
        local = f"{pipeline.partition('/')[0]}/local{'-tar' if is_archive else ''}"
        ours = "ours/s3-tar" if is_archive else "ours/s3"
        if pipeline != local and local in rates:
            ratio = ratio_of_medians(values, rates[local])
            line += f", {ratio.median:.2f} of the local rate ({ratio.low:.2f} to {ratio.high:.2f})"
        if pipeline.startswith("torch") and ours in rates:
            ratio = ratio_of_medians(rates[ours], values)
            line += f"; {ours} is {ratio.median:.2f} times as fast"
            line += f" ({ratio.low:.2f} to {ratio.high:.2f})"
        print(line)


@contextlib.contextmanager
def _server(files: list[str], milliseconds: float) -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.slow_storage", str(milliseconds)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        server.stdin.write(json.dumps(files) + "\n")
        server.stdin.flush()
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
