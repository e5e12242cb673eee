"""``dali-core index``: writes index files of archives and record files, and indexes videos."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

from dali_core._atomic_files import write_whole
from dali_core._messages import print_lines

_READERS = {"wds": "webdataset", "tfrecord": "tfrecord", "recordio": "mxnet"}
"""Readers whose formats have index files, by the names of the kinds."""


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser = parsers.add_parser(
        "index",
        help="write index files of archives and record files, and index videos",
        description="Write an index file for each archive, as readers of dali_core and NVIDIA DALI "
        "take them: next to the archive, with the suffix .idx. Indices of videos are put into the "
        "cache that readers look in.",
    )
    parser.add_argument(
        "kind",
        choices=[*_READERS, "video"],
        help="tar archives for readers.webdataset, files for readers.tfrecord, files for "
        "readers.mxnet, or videos",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="archive, record file or video")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where to write the index files (not of videos)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the index files; return 1 if something in the archives is damaged."""
    if options.kind == "video":
        return _index_videos(options)
    # Only now, so that the help of all commands is shown at once.
    from dali_core.operators.readers.archive_index import RecordFormat, open_indices

    reader = f"dali_core.operators.readers.{_READERS[options.kind]}"
    record_format: RecordFormat = importlib.import_module(f"{reader}.record_format").FORMAT
    assert record_format.write_index is not None
    targets = _targets(options, record_format.suffixes)
    status = 0
    noun = "file" if options.kind == "wds" else "record"
    indices = open_indices(options.paths, record_format, progress=sys.stderr.isatty())
    for path, target, index in zip(options.paths, targets, indices, strict=True):
        text, problems = record_format.write_index(index)
        for problem in problems:
            print_lines(f"dali-core: {path}: {problem} It is not in the index.", file=sys.stderr)
            status = 1
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text)
        print_lines(f"{target}: {_counted(len(index.sound_places()), noun)} of {path}")
    return status


def _index_videos(options: argparse.Namespace) -> int:
    from dali_core.errors import ArgumentValueError
    from dali_core.operators.video.backends import CACHE_VARIABLE, cache_folder
    from dali_core.operators.video.frame_index import VideoError, open_indices

    if options.output is not None:
        raise ArgumentValueError(
            f"index: --output must be left out for videos (got {str(options.output)!r}). Set "
            f"{CACHE_VARIABLE} to keep their indices in a folder."
        )
    if not cache_folder():
        raise ArgumentValueError(
            f"index: there must be a cache for indices of videos (got an empty {CACHE_VARIABLE}). "
            "Unset it, or set it to a folder."
        )
    indices = open_indices(options.paths, progress=sys.stderr.isatty())
    errors = [index for index in indices if isinstance(index, VideoError)]
    for path, index in zip(options.paths, indices, strict=True):
        if not isinstance(index, VideoError):
            print_lines(f"{path}: {_counted(index.num_frames, 'frame')}, in {cache_folder()}")
    for error in errors:
        print_lines(f"dali-core: {error}", file=sys.stderr)
    return int(bool(errors))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _targets(options: argparse.Namespace, suffixes: tuple[str, ...]) -> list[Path]:
    from dali_core.errors import ArgumentValueError

    found: dict[Path, str] = {}
    for path in options.paths:
        source = Path(path)
        known = source.suffix.lower() in suffixes
        name = f"{source.stem if known else source.name}.idx"
        target = (options.output or source.parent) / name
        if target in found:
            raise ArgumentValueError(
                f"index: the index files must have different names (got {str(target)!r} for "
                f"{found[target]!r} and {path!r}). Write them one by one, into several folders."
            )
        found[target] = path
    return list(found)
