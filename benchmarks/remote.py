"""Measure reading photos from remote storage, against peers: ``python -m benchmarks.remote``.

Photos are read from a server of S3 on this machine that delays each answer, and from local files in
the page cache: random resized crops of 224 pixels, flipped and normalised. They are read as files,
in random order, and from a tar archive, in its order. Ours has at most ``--in-flight`` requests in
flight. All loaders have the same number of threads, or of worker processes, and are run in every
round, in rotating order.

Server and client share the processors, which decoding uses up: then what decides is the processor
time for an image, of the loader and of the server, which is reported beside the rates. With
``--threads 1`` on two processors, reading has one for itself, and what decides is the latency.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .archives import write_tar
from .command import WorkerError, find_photos, positive, run_worker
from .comparison import Comparison, compare, parser_of
from .peers.remote import PIPELINES
from .summary import quartiles, ratio_of_medians

WARM_UP_PASSES = 2  # over the photos, at most: what is read before and after what is measured


def main() -> None:
    """Read the command line, measure, report."""
    arguments = _arguments()
    photos = find_photos(arguments.data, arguments.images)
    # As long as a measurement, since the end of an archive is none of a stream of many.
    passes = -(-arguments.images // len(photos))
    os.environ["BENCHMARK_IN_FLIGHT"] = str(arguments.in_flight)
    os.environ["BENCHMARK_QUEUE"] = str(arguments.queue)
    with tempfile.TemporaryDirectory() as folder:
        archive = write_tar(Path(folder, "photos.tar"), photos * passes)
        index = str(Path(archive).with_suffix(".idx"))
        objects = {f"{number:06}.jpg": photo for number, photo in enumerate(photos)}
        files = {
            "local": photos,
            "local-tar": [archive, index],
            "s3-tar": ["s3://bucket/photos.tar", index],
            "mds": ["s3://bucket/mds"],
        }
        shards = Path(folder, "mds")
        if any(pipeline.startswith("mosaic") for pipeline in arguments.pipelines):
            # It reads each sample once, since then all are on the local disk.
            wanted = {"photos": photos * (passes + WARM_UP_PASSES), "folder": str(shards)}
            with contextlib.suppress(WorkerError):  # the measurement says what is missing
                run_worker(arguments.mosaic, "mosaic", "prepare", wanted)
        served = objects | {"photos.tar": archive}
        served |= {f"mds/{path.name}": str(path) for path in shards.glob("*")}
        with _server(Path(folder), served, arguments.latency) as (server, endpoint):
            os.environ["BENCHMARK_ENDPOINT"] = endpoint
            found = compare(
                arguments,
                photos,
                lambda pipeline: files.get(
                    pipeline.partition("/")[2], [f"s3://bucket/{name}" for name in objects]
                ),
                interpreter_of=lambda pipeline: (
                    arguments.mosaic if pipeline.startswith("mosaic") else sys.executable
                ),
                server=server,
                latency_milliseconds=arguments.latency,
                in_flight=arguments.in_flight,
                queue=arguments.queue,
            )
    _report(found)


def _arguments() -> argparse.Namespace:
    parser = parser_of("remote", __doc__, PIPELINES)
    parser.add_argument(
        "--latency", type=positive, default=50, metavar="MILLISECONDS", help="(%(default)s)"
    )
    parser.add_argument("--in-flight", type=positive, default=64, help="(%(default)s)")
    parser.add_argument(
        "--queue", type=positive, default=2, help="batches that ours starts (%(default)s)"
    )
    parser.add_argument(
        "--mosaic",
        default=sys.executable,
        metavar="INTERPRETER",
        help="of an environment with mosaicml-streaming",
    )
    return parser.parse_args()


def _report(found: Comparison) -> None:
    def ratio(kind: str, values: Sequence[float], others: Sequence[float], text: str) -> None:
        spread = ratio_of_medians(values, others)
        print(f"    {kind} {spread.median:.2f} {text} ({spread.low:.2f} to {spread.high:.2f})")

    rates, processors = found.rates, found.processors
    for pipeline in rates:
        rate, used = quartiles(rates[pipeline]), quartiles(processors[pipeline])
        print(
            f"{pipeline:16} {rate.median:6.0f} images/s ({rate.low:.0f} to {rate.high:.0f}); for "
            f"each {used.median:.0f} us of processors ({used.low:.0f} to {used.high:.0f}) and "
            f"{quartiles(found.of_server[pipeline]).median:.0f} us of the server"
        )
        is_archive = pipeline.endswith(("tar", "webdataset", "mds"))
        local = f"{pipeline.partition('/')[0]}/local{'-tar' if is_archive else ''}"
        ours = "ours/s3-tar" if is_archive else "ours/s3"
        if pipeline != local and local in rates:
            ratio("rate:", rates[pipeline], rates[local], "of the local rate")
            ratio("processors:", processors[local], processors[pipeline], "of the local rate")
        if not pipeline.startswith("ours") and ours in rates:
            ratio(f"{ours}:", rates[ours], rates[pipeline], "times as fast")
            ratio("processors:", processors[pipeline], processors[ours], "times as much")


@contextlib.contextmanager
def _server(
    folder: Path, objects: Mapping[str, str], milliseconds: int
) -> Iterator[tuple[int, str]]:
    """Serve files as objects of a bucket; gives the process and the address."""
    program = folder / "slow_storage"
    source = Path(__file__).with_name("slow_storage.cpp")
    compiler = os.environ.get("CXX", "c++").split()[-1]
    subprocess.run([compiler, "-std=c++17", "-O2", str(source), "-o", str(program)], check=True)
    server = subprocess.Popen(
        [str(program), str(milliseconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        for name, path in objects.items():
            server.stdin.write(f"/bucket/{name}\t{path}\n")
        server.stdin.write("\n")
        server.stdin.flush()
        yield server.pid, f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
