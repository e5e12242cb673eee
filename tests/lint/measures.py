"""Measures of the structure of the code; ``python -m tests.lint.measures`` prints a table."""

from __future__ import annotations

import inspect
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
from tests.test_layout import LEVEL, PACKAGE, ROOT, import_cycles

# "fits" is also a word of English; the library that reads such files stands for the format.
FORMATS = ("parquet", "astropy", "tfrecord", "webdataset", "recordio", "lmdb")


def modules_that_open_with_a_question() -> int:
    """Count modules whose first words only promise to name their content."""
    return sum(1 for path in SOURCES if OPENING.match(path.read_text("utf-8")[:2000]))


_OUTSIDE = (
    *(PACKAGE / room for room in ("batching", "dynamic", "torchvision")),
    ROOT / "adapters/dali_core_pytorch/nodes.py",
)


def uses_of_batch_size() -> Counter[str]:
    """Count the name `batch_size` in the code outside of batching, by file, without texts.

    Calls outside of pipelines have no batch plan: there it is the size of a result.
    """
    found: Counter[str] = Counter()
    for folder in (PACKAGE, ROOT / "adapters"):
        for path in sorted(folder.rglob("*.py")):
            if not any(path.is_relative_to(other) for other in _OUTSIDE):
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


def calls_within(run: Callable[[], Any], value: Any) -> list[str]:
    """Return the files of the functions of this project that get a value, in order of the calls.

    A function gets it as an argument, or in a list, a tuple or a dict.
    """
    files: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = Path(frame.f_code.co_filename)
        if event != "call" or not file.is_relative_to(ROOT) or "<" in frame.f_code.co_name:
            return  # comprehensions are parts of functions
        arguments = inspect.getargvalues(frame)
        names = filter(None, (*arguments.args, arguments.varargs, arguments.keywords))
        if any(_holds(frame.f_locals.get(name), value) for name in names):
            files.append(file.relative_to(ROOT).as_posix())

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return [file for file in files if file.startswith(("dali_core/", "adapters/"))]


def _holds(argument: Any, value: Any) -> bool:
    entries = argument if isinstance(argument, (list, tuple)) else [argument]
    if isinstance(argument, dict):
        entries = list(argument.values())
    return any(entry is value for entry in entries)


def stays(files: list[str]) -> list[str]:
    """Return the files that calls are in, those once that follow one another in a file."""
    return [file for file, _ in itertools.groupby(files)]


def climbs(files: list[str]) -> int:
    """Count how often a call after another is in a room that may import that of the other."""
    levels = [LEVEL[Path(file).with_suffix("").parts[1]] for file in files]
    return sum(before < after for before, after in itertools.pairwise(levels))


def calls_of_cast() -> list[str]:
    """Return the files of the functions that get the input of `fn.cast`, until it is recorded.

    Only what one call runs is counted: other branches, and values computed from the input, are not.
    """
    with Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1) as pipeline:
        value = fn.random.uniform()
        fn.cast(value, dtype=types.FLOAT16)
        files = calls_within(lambda: fn.cast(value, dtype=types.FLOAT16), value)
        pipeline.set_outputs(value)
    return files


def files_of_iterators() -> list[str]:
    """Return the files of the classes that PyTorch's iterator consists of."""
    from dali_core_pytorch import DALIGenericIterator

    files = [Path(inspect.getfile(kind)) for kind in DALIGenericIterator.__mro__[:-1]]
    return [path.relative_to(ROOT).as_posix() for path in files]


def measures() -> Iterator[tuple[str, str]]:
    """Measure everything, one row after the other."""
    yield "circles of imports, those for types included", str(len(import_cycles()))
    files = calls_of_cast()
    yield (
        "files in turn / ways up of calls given cast's input",
        f"{len(stays(files))} / {climbs(files)}",
    )
    yield "files in _graph", str(len(list((PACKAGE / "_graph").rglob("*.py"))))
    try:
        yield "files of classes of PyTorch's iterator", str(len(set(files_of_iterators())))
    except ImportError as error:
        yield "files of classes of PyTorch's iterator", f"not available: {error.name}"
    uses = uses_of_batch_size()
    yield "uses of batch_size outside of batching", f"{uses.total()} in {len(uses)} files"
    for name in FORMATS:
        yield f"files that name {name}", str(len(files_that_name(name)))
    yield "modules that open with a question", str(modules_that_open_with_a_question())


if __name__ == "__main__":
    for title, value in measures():
        print(f"{title:50} {value}")
