"""Decodes the files of a data set by pipelines, and says which are bad."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from dali_core import fn
from dali_core.commands._media import MediaFile
from dali_core.errors import DaliCoreError, SampleError
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
    for file in files:
        if file.is_special():
            yield file, Checked("it must be a regular file (got a pipe, a device or a folder).")
    by_kind = sorted((file for file in files if not file.is_special()), key=lambda file: file.kind)
    for kind, group in groupby(by_kind, key=lambda file: file.kind):
        same = list(group)
        size = _GROUP[kind]
        for start in range(0, len(same), size):
            yield from _check_group(kind, same[start : start + size], num_threads)


def _check_group(
    kind: str, files: list[MediaFile], num_threads: int
) -> Iterator[tuple[MediaFile, Checked]]:
    unknown = {file.path: file for file in files}
    check = _check_videos if kind == "video" else _check_whole_files
    try:
        for path, checked in check(kind, files, num_threads):
            # Good files replace bad ones, and are repeated at the end of an epoch.
            if path in unknown:
                yield unknown.pop(path), checked
    except SampleError:
        pass  # all files that could replace a bad one are bad
    # A file that is decoded alone is not replaced, and the error is its own.
    for file in unknown.values():
        yield file, _check_alone(kind, file)


def _check_alone(kind: str, file: MediaFile) -> Checked:
    check = _check_videos if kind == "video" else _check_whole_files
    try:
        for path, checked in check(kind, [file], 1):
            if path == file.path:
                return checked
    except SampleError as error:
        return Checked(error.failures[0].message if error.failures else error.message)
    return Checked("nothing in it can be decoded.")


def _check_whole_files(
    kind: str, files: list[MediaFile], num_threads: int
) -> Iterator[tuple[str, Checked]]:
    paths = [file.path for file in files]
    pipeline = _pipeline(kind, len(files), num_threads)
    with pipeline:
        encoded, number = fn.readers.file(files=paths, labels=list(range(len(files))))
        decoded = fn.decoders.image(encoded) if kind == "image" else fn.decoders.audio(encoded)[0]
        pipeline.set_outputs(fn.shapes(decoded), number)
    yield from _results(pipeline, len(files), paths)


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
    for path, checked in _results(pipeline, num_clips, good):
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
    pipeline: Pipeline, num_samples: int, paths: Sequence[str]
) -> Iterator[tuple[str, Checked]]:
    """Run an epoch of a pipeline that returns shapes and numbers of files."""
    try:
        num_bad = 0
        for _ in range(0, num_samples, pipeline.max_batch_size):
            shapes, numbers = pipeline.run()
            bad = pipeline.bad_samples
            # Of very many, the oldest are forgotten, and all may be new.
            for sample in bad[num_bad:] or bad:
                if sample.source is not None:
                    yield sample.source, Checked(sample.message)
            num_bad = len(bad)
            for shape, number in zip(_rows(shapes), _rows(numbers), strict=True):
                yield paths[number[0]], Checked(shape=shape)
    finally:
        pipeline.close()


def _rows(batch: Any) -> Iterator[tuple[int, ...]]:
    return (tuple(int(value) for value in row.ravel()) for row in batch.as_array())


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
