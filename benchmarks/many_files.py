"""Measure what many files cost at the start: ``python -m benchmarks.many_files``.

Makes folders of empty files, and opens them with ``fn.readers.file`` in a fresh process each time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from . import machine
from .command import ROOT, positive, warn_if_busy, write_results
from .measurements import kilobytes

WAYS = {
    "files": "files=[...]",
    "file_list": "file_list=",
    "folders": "file_root=, first time",
    "saved": "file_root=, from the saved index",
    "sampler": "file_root=, saved, a sampler",
}
_SETTLED = 3  # seconds after which folders are old enough for an index


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.many_files", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--count", type=positive, default=100_000, help="files (%(default)s)")
    parser.add_argument("--folders", type=positive, default=1000, help="(%(default)s)")
    parser.add_argument("--rounds", type=positive, default=3, help="(%(default)s)")
    parser.add_argument("--ways", choices=WAYS, nargs="+", default=tuple(WAYS), help="(all)")
    parser.add_argument("--child", choices=tuple(WAYS), help=argparse.SUPPRESS)
    parser.add_argument("--tree", type=Path, help="an existing tree, which is left as it is")
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measure(arguments.child, arguments.tree)))
        return
    warn_if_busy()
    with tempfile.TemporaryDirectory() as folder:
        tree = arguments.tree or Path(folder, "tree")
        if arguments.tree is None:
            make_tree(tree, arguments.count, arguments.folders)
            time.sleep(_SETTLED)
        results = [
            {way: _in_process(way, tree, Path(folder, str(number))) for way in arguments.ways}
            for number in range(arguments.rounds)
        ]
    for way in arguments.ways:
        median = {
            name: float(np.median([found[way][name] for found in results]))
            for name in results[0][way]
        }
        print(
            f"{WAYS[way]:34} {median['files']:9.0f} files: open {median['open']:.2f} s "
            f"({median['computed']:.2f} s of a processor), first batch "
            f"{median['first_batch']:.3f} s, {median['kept']:.0f} MB kept, at most "
            f"{median['peak']:.0f} MB more than before, state of {median['state']:.0f} bytes"
        )
    num_files = int(results[0][arguments.ways[0]]["files"])
    description = {
        "machine": machine.describe(),
        "settings": {"files": num_files, "rounds": arguments.rounds},
    }
    measured: dict[str, dict[str, list[float]]] = {"seconds": {}, "memory": {}}
    for way in arguments.ways:
        for name in ("open", "computed", "first_batch", "kept", "peak"):
            unit, scale = ("memory", 1e6) if name in ("kept", "peak") else ("seconds", 1)
            measured[unit][f"{name}, {way}"] = [scale * found[way][name] for found in results]
    write_results(f"many-files-{num_files}", description | measured)


def make_tree(root: Path, count: int, num_folders: int) -> None:
    """Make empty files in folders: one in each, to which all others are links."""
    for number in range(num_folders):
        folder = root / f"class_{number:05}"
        folder.mkdir(parents=True)
        descriptor = os.open(folder, os.O_RDONLY)
        first = f"{number:08}.jpg"
        os.mknod(first, dir_fd=descriptor)
        for i in range(number + num_folders, count, num_folders):
            os.link(first, f"{i:08}.jpg", src_dir_fd=descriptor, dst_dir_fd=descriptor)
        os.close(descriptor)


def measure(way: str, tree: Path) -> dict[str, float]:
    """Open the tree; seconds, and MB of resident memory above what there was before."""
    from dali_core import Pipeline, fn

    arguments: dict[str, Any] = {"file_root": str(tree)}
    if way in ("files", "file_list"):
        files = [
            f"{folder}/{name}" for folder in os.listdir(tree) for name in os.listdir(tree / folder)
        ]
        arguments["files"] = files
    with tempfile.NamedTemporaryFile("w") as text:
        if way == "file_list":
            text.writelines(f"{file} {i}\n" for i, file in enumerate(files))
            text.flush()
            del arguments["files"], files
            arguments["file_list"] = text.name
        if way == "sampler":
            arguments["sampler"] = np.arange(
                sum(len(os.listdir(found)) for found in tree.iterdir())
            )
        status = Path("/proc/self/status")
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
        before = kilobytes(status, "VmRSS")
        start, computed = time.perf_counter(), time.process_time()
        with Pipeline(8, 1, None, prefetch_queue_depth=1) as pipeline:
            data, labels = fn.readers.file(name="files", random_shuffle=True, **arguments)
            pipeline.set_outputs(data, labels)
        pipeline.build()
        opened, computed = time.perf_counter(), time.process_time() - computed
        pipeline.run()
        ran = time.perf_counter()
    return {
        "files": int(pipeline.epoch_size("files")),
        "open": opened - start,
        "computed": computed,
        "first_batch": ran - opened,
        "kept": (kilobytes(status, "VmRSS") - before) * 1024 / 1e6,
        "peak": (kilobytes(status, "VmHWM") - before) * 1024 / 1e6,
        "state": len(json.dumps(pipeline.state_dict())),
    }


def _in_process(way: str, tree: Path, cache: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.many_files", "--child", way, "--tree", str(tree)]
    printed = subprocess.run(
        command,
        check=True,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env=os.environ | {"DALI_CORE_INDEX_CACHE": str(cache)},
    ).stdout
    result: dict[str, float] = json.loads(printed)
    return result


if __name__ == "__main__":
    main()
