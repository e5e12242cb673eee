"""``dali-core index``: writes index files of archives and of files of records."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

_SUFFIXES = {
    "wds": (".tar",),
    "tfrecord": (".tfrecord", ".tfrecords", ".rec"),
    "recordio": (".rec",),
}
_KINDS = {"wds": "tar", "tfrecord": "tfrecord", "recordio": "recordio"}


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser = parsers.add_parser(
        "index",
        help="write index files of archives and record files",
        description="Write an index file for each archive, as readers of dali_core and NVIDIA DALI "
        "take them: next to the archive, with the suffix .idx.",
    )
    parser.add_argument(
        "kind",
        choices=list(_KINDS),
        help="tar archives for readers.webdataset, files for readers.tfrecord, or files for "
        "readers.mxnet",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="archive or record file")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="where to write the index files"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the index files; return 1 if something in the archives is damaged."""
    # Only now, so that the help of all commands is shown at once.
    from dali_core.operators.readers.archive_index import open_indices
    from dali_core.operators.readers.index_text import index_text

    targets = _targets(options)
    status = 0
    indices = open_indices(options.paths, _KINDS[options.kind], progress=sys.stderr.isatty())
    for path, target, index in zip(options.paths, targets, indices, strict=True):
        text, problems = index_text(index, options.kind)
        for problem in problems:
            print(f"dali-core: {path}: {problem} It is not in the index.", file=sys.stderr)
            status = 1
        _write(target, text)
    return status


def _targets(options: argparse.Namespace) -> list[Path]:
    from dali_core.errors import ArgumentValueError

    found: dict[Path, str] = {}
    for path in options.paths:
        source = Path(path)
        known = source.suffix.lower() in _SUFFIXES[options.kind]
        name = f"{source.stem if known else source.name}.idx"
        target = (options.output or source.parent) / name
        if target in found:
            raise ArgumentValueError(
                f"index: the index files must have different names (got {str(target)!r} for "
                f"{found[target]!r} and {path!r}). Write them one by one, into several folders."
            )
        found[target] = path
    return list(found)


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # Readers never see half an index.
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8", errors="surrogateescape")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
