"""Decodes damaged files: ``python -m tests.fuzz.decode_damaged FOLDER COUNT SEED``.

Every tenth file is valid and must be decoded correctly. The index of the next file is kept in
``FOLDER/progress``, for use after a crash. Prints the outcomes as JSON.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import sys
from pathlib import Path

import numpy as np

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from tests.children import children
from tests.fuzz.small_images import all_images, damaged
from tests.waiting import wait_until

SOUND_EVERY = 10
PROGRESS = "progress"


def write_files(folder: Path, count: int, seed: int) -> list[str]:
    """Write the files, and return their names, which contain seed and kind."""
    images = list(all_images().items())
    names = []
    for number in range(count):
        kind, file = images[number % len(images)]
        is_sound = number // len(images) % SOUND_EVERY == 0
        name = f"{number}_{'sound' if is_sound else seed + number}_{kind.replace(' ', '_')}"
        (folder / name).write_bytes(file if is_sound else damaged(file, seed + number))
        names.append(name)
    return names


def private_bytes() -> int:
    ctypes.CDLL(None).malloc_trim(0)  # freed memory is not a leak
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) << 10


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def check_error(error: SampleError, folder: Path, name: str) -> None:
    assert error.operator == "decoders.image", error.operator
    assert error.source is not None
    assert Path(folder, error.source) == folder / name, (error.source, name)
    assert " must " in error.message, error.message
    assert "(got" in error.message, error.message
    assert error.message.isprintable(), error.message


class Round:
    """Decodes files one by one, and remembers the pixels of the valid ones."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.folder = folder
        self.names = names
        self.expected: dict[str, np.ndarray] = {}
        (folder / PROGRESS).write_bytes(bytes(8))
        with (folder / PROGRESS).open("r+b") as file:
            self.progress = mmap.mmap(file.fileno(), 8)

    def run(self, count: int) -> dict[str, int]:
        """Decode the first files; return the number of each outcome."""
        outcomes = {"sound": 0, "decoded": 0, "refused": 0}
        pipeline = Pipeline(batch_size=1, num_threads=2, device_id=None, prefetch_queue_depth=1)
        with pipeline:
            data, _ = fn.readers.file(file_root=str(self.folder), files=self.names[:count])
            pipeline.set_outputs(fn.decoders.image(data))
        pipeline.build()
        for number in range(count):
            outcomes[self._decode(pipeline, number)] += 1
        assert pipeline._run.runner is not None
        executor = pipeline._run.runner.executor
        pipeline.close()
        gc.collect()  # an exception and its frames may be a reference cycle
        wait_until(lambda: executor.memory_stats()["used_bytes"] == 0, executor.memory_stats)
        wait_until(lambda: not children(), children)
        return outcomes

    def _decode(self, pipeline: Pipeline, number: int) -> str:
        self.progress[:] = number.to_bytes(8, "little")
        name = self.names[number]
        _, state, kind = name.split("_", 2)
        try:
            image = np.array(pipeline.run()[0].at(0))
        except SampleError as error:
            if state == "sound":
                raise
            check_error(error, self.folder, name)
            return "refused"
        if state != "sound":
            return "decoded"
        known = self.expected.setdefault(kind, image)
        np.testing.assert_array_equal(image, known, err_msg=name, strict=True)
        return "sound"


def main() -> None:
    """Decode all files once, and a part of them twice more: growth is a leak."""
    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    work = Round(folder, write_files(folder, count, seed))
    outcomes = work.run(count)
    usage = []
    for _ in range(2):
        work.run(count // 4)
        usage.append((private_bytes(), open_descriptors()))
    growth = [after - before for before, after in zip(*usage, strict=True)]
    print(json.dumps({**outcomes, "growth": growth}))


if __name__ == "__main__":
    main()
