"""Decodes the files of a data set by pipelines, and says which are bad."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core import fn
from dali_core._graph.node import DataNode
from dali_core.commands._archives import TarMembers, read_member
from dali_core.commands._media import MediaFile, TableCell, TarMember
from dali_core.errors import ArgumentValueError, DaliCoreError, SampleError
from dali_core.pipeline import Pipeline

_ANY_NUMBER = 2**31 - 1
_GROUP = {"image": 2048, "audio": 256, "video": 16}  # files of a pipeline
_BATCH = {"image": 32, "audio": 8, "video": 2}
_FRAMES = 16  # of a clip


@dataclass(frozen=True)
class Checked:
    """The result of decoding a file.

    Attributes
    ----------
    reason : str
        Why it is bad; empty for a good one.
    shape : list of int
        Of a good one: height, width and channels of an image; samples and channels of a sound;
        frames, height, width and channels of a video. Empty if it is none of them, but sound.
    """

    reason: str = ""
    shape: tuple[int, ...] = ()

    def is_other(self) -> bool:
        """Return whether it is a good file, of another kind than its name says."""
        return not self.reason and not self.shape


def check_files(
    files: Sequence[MediaFile], num_threads: int
) -> Iterator[tuple[MediaFile, Checked]]:
    """Decode files, and yield each with the result as soon as that is known.

    Parameters
    ----------
    files : sequence of MediaFile
        Files of different paths.
    num_threads : int
        Native threads.
    """
    sound: list[MediaFile] = []
    for file in files:
        if file.problem:
            yield file, Checked(file.problem)
        elif file.place is None and file.is_special():
            yield file, Checked("it must be a regular file (got a pipe, a device or a folder).")
        else:
            sound.append(file)
    for (kind, *_), group in groupby(sorted(sound, key=_group_of), key=_group_of):
        same = list(group)
        size = _GROUP[kind]
        for start in range(0, len(same), size):
            yield from _check_group(kind, same[start : start + size], num_threads)


def _group_of(file: MediaFile) -> tuple[str, str, str, str]:
    """Return what files have in common that one pipeline reads."""
    match file.place:
        case TableCell(column):
            return file.kind, "table", file.path, column
        case TarMember():
            return file.kind, "archive", "", ""
        case _:
            return file.kind, "", "", ""


def _check_group(
    kind: str, files: list[MediaFile], num_threads: int
) -> Iterator[tuple[MediaFile, Checked]]:
    unknown = {file.identity(): file for file in files}
    check = _check_of(files[0])
    try:
        for identity, checked in check(kind, files, num_threads):
            # Good files replace bad ones, and are repeated at the end of an epoch.
            if identity in unknown:
                yield unknown.pop(identity), checked
    except SampleError:
        pass  # all files that could replace a bad one are bad
    # A file that is decoded alone is not replaced, and the error is its own.
    for file in unknown.values():
        yield file, _check_alone(kind, file)


def _check_alone(kind: str, file: MediaFile) -> Checked:
    try:
        for identity, checked in _check_of(file)(kind, [file], 1):
            if identity == file.identity():
                return checked
    except SampleError as error:
        return Checked(error.failures[0].message if error.failures else error.message)
    except ArgumentValueError as error:
        return Checked(str(error))  # an archive that cannot be read any more
    return Checked("nothing in it can be decoded.")


_Check = Callable[[str, list[MediaFile], int], Iterator[tuple[str, Checked]]]
"""Decodes files of a kind with so many threads; the results come with identities of files."""


def _check_of(file: MediaFile) -> _Check:
    if file.kind == "video":
        return _check_videos if file.place is None else _check_video_members
    return _check_whole_files if file.place is None else _check_members


def _check_members(
    kind: str, files: list[MediaFile], num_threads: int
) -> Iterator[tuple[str, Checked]]:
    pipeline = _pipeline(kind, len(files), num_threads)
    with pipeline:
        cells = [file.place for file in files if isinstance(file.place, TableCell)]
        if cells:
            numbers = [cell.row for cell in cells]
            encoded = fn.readers.parquet(
                paths=[files[0].path], columns=[cells[0].column], sampler=np.array(numbers)
            )
        else:
            numbers = list(range(len(files)))
            encoded = fn.readers.python(TarMembers(files))
        pipeline.set_outputs(
            fn.shapes(_decoded(kind, encoded)), fn.get_property(encoded, key="source_info")
        )
    # Readers of members call them by their numbers.
    identities = {
        f"index {number}": file.identity() for number, file in zip(numbers, files, strict=True)
    }
    for text, checked in _results(pipeline, len(files), lambda mark: bytes(mark).decode()):
        yield identities[text], checked


def _check_video_members(
    kind: str, files: list[MediaFile], num_threads: int
) -> Iterator[tuple[str, Checked]]:
    """Decode videos from files with their content, since readers of videos take files only."""
    folder = tempfile.mkdtemp()
    try:
        copies: dict[str, MediaFile] = {}
        for number, file in enumerate(files):
            path = os.path.join(folder, str(number))
            try:
                Path(path).write_bytes(read_member(file))
            except ValueError as error:
                yield file.identity(), Checked(str(error))
            else:
                copies[path] = file
        as_files = [MediaFile(path, path, kind, None) for path in copies]
        for path, checked in _check_videos(kind, as_files, num_threads):
            file = copies[path]
            shown = replace(checked, reason=checked.reason.replace(path, file.name))
            yield file.identity(), shown
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _decoded(kind: str, encoded: DataNode) -> DataNode:
    return fn.decoders.image(encoded) if kind == "image" else fn.decoders.audio(encoded)[0]


def _check_whole_files(
    kind: str, files: list[MediaFile], num_threads: int
) -> Iterator[tuple[str, Checked]]:
    paths = [file.path for file in files]
    pipeline = _pipeline(kind, len(files), num_threads)
    with pipeline:
        encoded, number = fn.readers.file(files=paths, labels=list(range(len(files))))
        pipeline.set_outputs(fn.shapes(_decoded(kind, encoded)), number)
    yield from _results(pipeline, len(files), lambda number: paths[int(number[0])])


def _check_videos(
    kind: str, files: list[MediaFile], num_threads: int
) -> Iterator[tuple[str, Checked]]:
    """Decode all frames; a video is good once the last one is decoded."""
    from dali_core.operators.video.frame_index import NoVideoStreamError, VideoError, open_indices

    paths = [file.path for file in files]
    shapes = {}
    for path, index in zip(paths, open_indices(paths, progress=False), strict=True):
        if isinstance(index, VideoError):
            # Files of videos may hold sound only, which is no damage.
            yield path, Checked() if isinstance(index, NoVideoStreamError) else Checked(str(index))
        else:
            shapes[path] = (index.num_frames, index.height, index.width, 3)
    if not shapes:
        return
    good = list(shapes)
    pipeline = _pipeline(kind, len(good), num_threads)
    with pipeline:
        frames, number = fn.readers.video(
            filenames=good,
            labels=list(range(len(good))),
            sequence_length=_FRAMES,
            step=_FRAMES,
            pad_sequences=True,
            name="videos",
        )
        pipeline.set_outputs(fn.shapes(frames), number)
    bad = set()
    num_clips = pipeline.epoch_size("videos")
    assert isinstance(num_clips, int)
    for path, checked in _results(pipeline, num_clips, lambda number: good[int(number[0])]):
        if checked.reason and path not in bad:
            bad.add(path)
            yield path, checked
    yield from ((path, Checked(shape=shapes[path])) for path in good if path not in bad)


def _pipeline(kind: str, num_files: int, num_threads: int) -> Pipeline:
    return Pipeline(
        batch_size=min(_BATCH[kind], num_files),
        num_threads=min(num_threads, num_files),
        device_id=None,
        on_sample_error="replace",
        max_bad_samples=_ANY_NUMBER,
    )


def _results(
    pipeline: Pipeline, num_samples: int, identity_of: Callable[[NDArray[Any]], str]
) -> Iterator[tuple[str, Checked]]:
    """Run an epoch of a pipeline that returns shapes and what `identity_of` knows files by."""
    try:
        num_bad = 0
        for _ in range(0, num_samples, pipeline.max_batch_size):
            shapes, marks = pipeline.run()
            bad = pipeline.bad_samples
            # Of very many, the oldest are forgotten, and all may be new.
            for sample in bad[num_bad:] or bad:
                if sample.source is not None:
                    yield sample.source, Checked(sample.message)
            num_bad = len(bad)
            for number, shape in enumerate(shapes.as_array()):
                mark = np.asarray(marks.at(number)).ravel()
                yield identity_of(mark), Checked(shape=tuple(map(int, shape.ravel())))
    finally:
        pipeline.close()


def check_libraries(files: Sequence[MediaFile]) -> None:
    """Raise the error of a missing library before any file is decoded, which is not its fault."""
    from dali_core.operators.decoders.audio.library import library_arguments
    from dali_core.operators.video.backends import missing_decoder, worker_command

    kinds = {file.kind for file in files}
    if "audio" in kinds:
        library_arguments()
    if "video" in kinds and not worker_command("index"):
        error: DaliCoreError = missing_decoder()
        raise error
