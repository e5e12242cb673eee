"""Reads damaged .npy files: ``python -m tests.mutated_arrays FIRST COUNT``.

Each depends only on its number. The outcome is an error that names the file, or the array that
NumPy reads. NumPy evaluates more kinds of headers and rejects fewer extents, so it may read what is
an error here.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from tests.npy_files import array_of, mutated, npy

MEMORY = 6 << 30
"""Limit of the address space: an array that claims to be enormous must fail, not exhaust memory."""


def outcomes(folder: Path, first: int, count: int) -> Counter[str]:
    """Read damaged files with both operators, and count the outcomes.

    Raises
    ------
    AssertionError
        If an outcome is neither an error that names the file nor the array.
    """
    names = [f"{number:06}.npy" for number in range(first, first + count)]
    for number, name in enumerate(names, first):
        (folder / name).write_bytes(mutated(npy(array_of(number)), number))
    with Pipeline(1, 1, None, prefetch_queue_depth=1) as pipeline:
        files, _ = fn.readers.file(file_root=str(folder), files=names)
        pipeline.set_outputs(fn.decoders.numpy(files))
    with Pipeline(1, 1, None, prefetch_queue_depth=1) as reading:
        reading.set_outputs(fn.readers.numpy(file_root=str(folder), files=names))
    counts: Counter[str] = Counter()
    for name in names:
        decoded, read = (_run(each, name) for each in (pipeline, reading))
        if decoded is None and read is not None:  # only a file may be longer than its array
            assert _by_numpy(folder / name).astype(read.dtype).tobytes() == read.tobytes(), name
            assert _num_bytes_behind_array(folder / name) > 0, name
            counts["array"] += 1
            continue
        assert (decoded is None) == (read is None), name
        if decoded is None or read is None:
            counts["error"] += 1
            continue
        assert (decoded.shape, decoded.tobytes()) == (read.shape, read.tobytes()), name
        expected = _by_numpy(folder / name)
        assert expected.shape == decoded.shape, name
        assert expected.astype(decoded.dtype).tobytes() == decoded.tobytes(), name
        counts["array"] += 1
    pipeline.close()
    reading.close()
    return counts


def _run(pipeline: Pipeline, name: str) -> np.ndarray | None:
    try:
        (batch,) = pipeline.run()
    except SampleError as error:
        if error.source != name:
            raise
        return None
    return np.array(batch.at(0))


def _by_numpy(path: Path) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array: np.ndarray = np.load(path, allow_pickle=False, max_header_size=1 << 20)
    return array


def _num_bytes_behind_array(path: Path) -> int:
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.load(file, allow_pickle=False, max_header_size=1 << 20)
        return len(file.read())


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    first, count = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        print(dict(outcomes(Path(folder), first, count)))


if __name__ == "__main__":
    main()
