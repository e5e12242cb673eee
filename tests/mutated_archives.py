"""Reads thousands of damaged archives: ``python -m tests.mutated_archives FIRST COUNT [KIND...]``.

A separate program, so that a crash is attributed: it prints the indices of the files before it
reads them, and each file depends only on its index. Memory and open files must not grow.
"""

from __future__ import annotations

import gc
import os
import random
import resource
import struct
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
from dali_core.operators.readers.archive_index import CACHE_VARIABLE
from dali_core.tfrecord import FixedLenFeature, VarLenFeature, float32, int64, string
from tests.fuzz.decode_damaged import open_descriptors, private_bytes
from tests.operators.readers.database_files import datums, write_database
from tests.operators.readers.record_files import examples, images, write_recordio, write_tfrecords
from tests.operators.readers.tar_files import UNUSUAL, sample_entries, write_tar

BATCH = 50
MEMORY = 6 << 30
"""Limit of the address space: a record that claims to be enormous must fail, not exhaust memory."""

FEATURES = {
    "image": FixedLenFeature([], string, ""),
    "label": FixedLenFeature([1], int64),
    "floats": FixedLenFeature([2], float32),
    "many": VarLenFeature(int64, 0),
}
READERS: dict[str, Callable[[list[str]], Any]] = {
    "tar": lambda paths: fn.readers.webdataset(paths=paths, ext=["jpg", "cls"], name="reader"),
    "tfrecord": lambda paths: list(
        fn.readers.tfrecord(path=paths, features=FEATURES, name="reader").values()
    ),
    "recordio": lambda paths: fn.readers.mxnet(path=paths, name="reader"),
    "lmdb": lambda paths: fn.readers.caffe(path=paths, name="reader"),
}
AT_ONCE = {"recordio": 1}
"""Number of files that a reader takes, if not as many as there are."""


def originals(folder: Path) -> dict[str, bytes]:
    """Return a sound file of each kind."""
    tar = write_tar(folder / "a.tar", [*sample_entries(0, 4), *UNUSUAL[:5], ("y" * 200, b"long")])
    records = write_tfrecords(folder / "a.tfrecord", examples(0, 5))
    recordio = write_recordio(folder / "a.rec", images(0, 5))
    database = write_database(folder / "a", datums(30)) / "data.mdb"
    paths = {"tar": tar, "tfrecord": records, "recordio": recordio, "lmdb": database}
    return {kind: path.read_bytes() for kind, path in paths.items()}


def damaged(content: bytes, number: int) -> bytes:
    """Return a file with some damage, always the same for a number."""
    draw = random.Random(number)
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8))):
        if not data:
            break
        place = draw.randrange(len(data))
        kind = draw.randrange(6)
        if kind == 0:
            data[place] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[place : place + 4] = struct.pack("<I", draw.choice((0, 2**31 - 1, 2**32 - 1, 9)))
        elif kind == 2:
            data[place : place + 8] = struct.pack("<Q", draw.choice((0, 2**63, 2**64 - 1, 2**40)))
        elif kind == 3:
            length = draw.randrange(1, 2000)
            data[place : place + length] = draw.randbytes(len(data[place : place + length]))
        elif kind == 4:
            del data[place : place + draw.randrange(1, 600)]
        else:
            data = data[: max(place, 1)]
    return bytes(data)


def read(kind: str, paths: Sequence[Path]) -> tuple[int, int]:
    """Return the numbers of good and bad samples in files."""
    with Pipeline(1, 2, None, prefetch_queue_depth=2) as pipeline:
        pipeline.set_outputs(*READERS[kind]([str(path) for path in paths]))
    try:
        size = pipeline.epoch_size("reader")
    except ArgumentValueError as error:
        if "at least one" in str(error):
            return 0, 0
        raise
    assert isinstance(size, int)
    good = bad = 0
    names = tuple(str(path) for path in paths)
    for _ in range(size):
        try:
            pipeline.run()
            good += 1
        except SampleError as error:
            if not str(error.source).startswith(names) or " must " not in error.message:
                raise
            bad += 1
    runner = pipeline._run.runner
    assert runner is not None
    pipeline.close()
    gc.collect()
    assert runner.executor.memory_stats() == {"used_bytes": 0, "idle_bytes": 0}
    return good, bad


def main(first: int, count: int, kinds: Sequence[str]) -> None:
    """Read files `first` to ``first + count - 1`` of each kind."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ[CACHE_VARIABLE] = ""
    gc.freeze()  # what is imported stays, and need not be looked at each time
    with tempfile.TemporaryDirectory() as folder:
        for kind, content in originals(Path(folder)).items():
            if kind not in kinds:
                continue
            total, usage = [0, 0], []
            step = AT_ONCE.get(kind, BATCH)
            for start in range(first, first + count, step):
                if start % BATCH == 0:
                    print(f"{kind} {start} to {start + BATCH - 1}", flush=True)
                paths = []
                for number in range(start, min(start + step, first + count)):
                    paths.append(Path(folder, f"{number % BATCH}.file"))
                    paths[-1].write_bytes(damaged(content, number))
                found = read(kind, paths)
                total = [total[0] + found[0], total[1] + found[1]]
                if start in (first + count // 2 // step * step, first + (count - 1) // step * step):
                    usage.append((private_bytes(), open_descriptors()))
            growth = [after - before for before, after in zip(*usage[-2:], strict=True)]
            print(f"{kind}: {count} files, {total[0]} good, {total[1]} bad, growth {growth}")
            assert growth[0] < 8 << 20, "memory must not grow"
            assert growth[1] <= 0, "open files must not grow"


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or list(READERS))
