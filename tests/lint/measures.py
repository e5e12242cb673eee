"""Measures of the structure of the code; ``python -m tests.lint.measures`` prints a table."""

from __future__ import annotations

import io
import itertools
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from dali_core import Pipeline, fn, types
from tests.lint.test_words import OPENING, SOURCES
from tests.test_layout import PACKAGE, ROOT, import_cycles

# "fits" is also a word of English; the library that reads such files stands for the format.
FORMATS = ("parquet", "astropy", "tfrecord", "webdataset", "recordio", "lmdb")


def modules_that_open_with_a_question() -> int:
    """Count modules whose first words only promise to name their content."""
    return sum(1 for path in SOURCES if OPENING.match(path.read_text("utf-8")[:2000]))


def uses_of_batch_size() -> Counter[str]:
    """Count the name `batch_size` in the code outside of batching, by file, without texts."""
    found: Counter[str] = Counter()
    for folder in (PACKAGE, ROOT / "adapters"):
        for path in sorted(folder.rglob("*.py")):
            if not path.is_relative_to(PACKAGE / "batching"):
                tokens = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
                count = sum(token.string == "batch_size" for token in tokens)
                found[path.relative_to(ROOT).as_posix()] = count
    return +found


def files_that_name(text: str) -> list[str]:
    """Return the files of the package, but generated stubs, that name a format of data."""
    paths = (
        path
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in (".py", ".pyx", ".pxd", ".hpp", ".cpp") and path.is_file()
    )
    return [
        path.relative_to(ROOT).as_posix()
        for path in paths
        if text in path.read_text("utf-8").lower()
    ]


def calls_within(run: Callable[[], Any]) -> list[str]:
    """Return the files of the functions of this project that are called, in their order."""
    called: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(ROOT):
            called.append(file.relative_to(ROOT).as_posix())

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return [file for file in called if file.startswith(("dali_core/", "adapters/"))]


def changes_of_file(files: list[str]) -> int:
    """Count how often one call after the other is in another file."""
    return sum(before != after for before, after in itertools.pairwise(files))


def measures() -> Iterator[tuple[str, str]]:
    """Measure everything, one row after the other."""
    yield "circles of imports, those for types included", str(len(import_cycles()))
    with Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1) as pipeline:
        value = fn.random.uniform()
        fn.cast(value, dtype=types.FLOAT16)
        files = calls_within(lambda: fn.cast(value, dtype=types.FLOAT16))
        pipeline.set_outputs(value)
    changes = changes_of_file(files)
    yield (
        "fn.cast(node): functions, files, changes of file",
        f"{len(files)}, {len(set(files))}, {changes}",
    )
    yield "files in _graph", str(len(list((PACKAGE / "_graph").rglob("*.py"))))
    uses = uses_of_batch_size()
    yield "uses of batch_size outside of batching", f"{uses.total()} in {len(uses)} files"
    for name in FORMATS:
        yield f"files that name {name}", str(len(files_that_name(name)))
    yield "modules that open with a question", str(modules_that_open_with_a_question())


if __name__ == "__main__":
    for title, value in measures():
        print(f"{title:50} {value}")
