"""Reads damaged files of a format: ``python -m tests.mutated_formats SUITE FIRST COUNT``.

``SUITE`` is the `ReaderSuite` of a format, such as
``tests.operators.readers.test_safetensors:TestRows``. Each damage depends only on its number. The
outcome is an error that names the file, or samples.
"""

from __future__ import annotations

import faulthandler
import importlib
import resource
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.testing import ReaderSuite
from tests.npy_files import mutated

_MEMORY = 6 << 30
_SECONDS = 20
"""Of one file: what takes longer hangs."""


def outcomes(suite: ReaderSuite, folder: Path, first: int, count: int) -> Counter[str]:
    """Read damaged files, and count the outcomes.

    Raises
    ------
    Exception
        If one is neither an error that names the file nor samples.
    """
    arguments = suite.write(folder)
    files = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    counts: Counter[str] = Counter()
    for number in range(first, first + count):
        path = list(files)[number % len(files)]
        path.write_bytes(mutated(files[path], number))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                counts.update(_read(suite, arguments, folder))
        except BaseException:
            print(f"number {number}: {path.name}", file=sys.stderr)
            raise
        path.write_bytes(files[path])
    return counts


def _read(suite: ReaderSuite, arguments: dict[str, object], folder: Path) -> Counter[str]:
    try:
        source, fetcher = suite.open(arguments)
    except (ArgumentTypeError, ArgumentValueError) as error:
        _check_named(error, folder)
        return Counter(["refused"])
    found: Counter[str] = Counter()
    for index in range(min(len(source), 2 * suite.num_samples)):
        try:
            sample = fetcher.fetch(index)
        except ValueError as error:
            _check_named(error, folder)
            found["bad"] += 1
        else:
            for part in sample if isinstance(sample, tuple) else (sample,):
                np.array(part)
            found["read"] += 1
    return found


def _check_named(error: Exception, folder: Path) -> None:
    assert str(folder) in str(error), str(error)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    module, _, name = sys.argv[1].partition(":")
    suite = getattr(importlib.import_module(module), name)()
    counts: Counter[str] = Counter()
    first, count = map(int, sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count, 50):
            faulthandler.dump_traceback_later(_SECONDS, exit=True)
            own = Path(folder, str(number))
            own.mkdir()
            counts += outcomes(suite, own, number, min(50, first + count - number))
    print(dict(counts))


if __name__ == "__main__":
    main()
