"""Measure what a second actor of Ray gains, and what actors cost against a pipeline in the process.

``python -m benchmarks.ray``, with the extra ``ray``. Every actor has one thread, and so has the
pipeline in the process. All are measured in turn, round by round.
"""

from __future__ import annotations

import argparse
import functools
import io
import os
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image
from tqdm import tqdm

from dali_core import fn, pipeline_def

from . import machine
from .command import positive, write_results
from .summary import quartiles, ratio_of_medians

if TYPE_CHECKING:
    from dali_core_ray import RayLoader

    from dali_core.plugin.base_iterator import BaseIterator

NAMES = ("pipeline", "1 actor", "2 actors")
_NUM_STORED = 20


@pipeline_def(num_threads=1, device_id=None, seed=1)
def photos(files: list[str]) -> Any:
    """Decode, crop and resize at random, normalize."""
    encoded, label = fn.readers.file(
        files=files, random_shuffle=True, pad_last_batch=True, name="photos"
    )
    image = fn.resize(fn.decoders.image_random_crop(encoded), size=[224, 224])
    return fn.crop_mirror_normalize(image, mean=[128.0] * 3, std=[64.0] * 3), label


def make_photos(folder: Path, count: int) -> list[str]:
    """Write JPEGs of noise at different scales."""
    random = np.random.default_rng(0)
    for number in range(count):
        coarse = random.integers(0, 256, (24, 32, 3), np.uint8)
        image = Image.fromarray(coarse).resize((512, 384), Image.Resampling.BICUBIC)
        data = io.BytesIO()
        image.save(data, "JPEG", quality=90)
        (folder / f"{number:05}.jpg").write_bytes(data.getvalue())
    return sorted(map(str, folder.glob("*.jpg")))


def seconds_of_batch(loader: RayLoader | BaseIterator, num_skipped: int) -> float:
    """Measure the time of a batch, after those that were computed while the loader started."""
    for _ in range(num_skipped):
        next(loader)
    count = len(loader) - num_skipped
    start = time.perf_counter()
    for _ in range(count):
        next(loader)
    return (time.perf_counter() - start) / count


def gigabytes_per_second(batch: np.ndarray[Any, Any]) -> float:
    """Measure how fast a batch is copied into the object store; it is read in place."""
    import ray

    start = time.perf_counter()
    for _ in range(_NUM_STORED):
        stored = ray.get(ray.put(batch))
        assert stored.nbytes == batch.nbytes
        del stored
    return batch.nbytes * _NUM_STORED / (time.perf_counter() - start) / 1e9


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ray", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--photos", type=positive, default=1024, help="(%(default)s)")
    parser.add_argument("--batch-size", type=positive, default=32, help="(%(default)s)")
    parser.add_argument("--rounds", type=positive, default=5, help="(%(default)s)")
    arguments = parser.parse_args()

    import ray
    from dali_core_ray import RayLoader, adapter

    load = os.getloadavg()[0]
    num_skipped = 16
    if arguments.photos < 2 * num_skipped * arguments.batch_size:
        parser.error(f"--photos must be at least {2 * num_skipped} batches")
    with tempfile.TemporaryDirectory() as folder:
        files = make_photos(Path(folder), arguments.photos)
        read = statistics.fmean(os.path.getsize(name) for name in files)
        definition = functools.partial(photos, files, batch_size=arguments.batch_size)
        ray.init(
            num_cpus=4,
            include_dashboard=False,
            object_store_memory=500 * 2**20,
            logging_level="ERROR",
        )
        seconds = defaultdict(list)
        stored = []

        def measure(num_actors: int) -> float:
            options: dict[str, Any] = {"reader_name": "photos"}
            if not num_actors:
                loader = adapter.iterator(definition(), ["image", "label"], **options)
                return seconds_of_batch(loader, num_skipped)
            options["num_actors"] = num_actors
            with RayLoader(definition, ["image", "label"], **options) as actors:
                return seconds_of_batch(actors, num_skipped)

        batch = np.ones((arguments.batch_size, 3, 224, 224), np.float32)
        try:
            for _ in tqdm(range(arguments.rounds), unit="round"):
                for number, name in enumerate(NAMES):
                    seconds[name].append(measure(number))
                stored.append(gigabytes_per_second(batch))
        finally:
            ray.shutdown()
    print(f"load average before: {load:.1f}; {os.cpu_count()} processors")
    rates = {
        name: [arguments.batch_size / second for second in times] for name, times in seconds.items()
    }
    ratios = {}
    for name, values in rates.items():
        print(f"{name:9} {quartiles(values).median:6.0f} images/s")
    for name, base in (("1 actor", "pipeline"), ("2 actors", "1 actor")):
        ratio = ratio_of_medians(rates[name], rates[base])
        ratios[f"{name} to {base}"] = asdict(ratio)
        print(f"{name} / {base}: {ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})")
    print(f"object store: {quartiles(stored).median:.1f} GB/s")
    print(f"read {read / 1000:.0f} kB an image, sent {4 * 3 * 224 * 224 / 1000:.0f} kB")
    description = {
        "machine": machine.describe() | {"load_average": load},
        "versions": {"ray": ray.__version__},
        "settings": {"rounds": arguments.rounds, "batch_size": arguments.batch_size},
        "data": {"kind": "generated photos", "files": arguments.photos, "mean_bytes": int(read)},
    }
    write_results(
        "ray",
        {
            **description,
            "measurements": rates,
            "object store, GB per second": stored,
            "ratios": ratios,
        },
    )


if __name__ == "__main__":
    main()
