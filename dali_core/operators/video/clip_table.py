"""Clips of a data set of videos: the table that readers of videos look up."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dali_core._messages import printable
from dali_core._readers.protocol import DataSource
from dali_core._storage import ObjectCopies, Storage, is_url, make_storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.folders import names_in
from dali_core.operators.video.clip_listing import ListedVideo, list_videos
from dali_core.operators.video.clip_ranges import FindRange


@dataclass(frozen=True)
class ClipRule:
    """How a range of frames is cut into clips.

    Parameters
    ----------
    length : int
        Frames of a clip.
    stride : int
        Distance between two of its frames.
    step : int
        Distance between the first frames of two clips.
    span : int
        How many frames there must be from the first one on, so that a clip is complete.
    padding : str
        What replaces missing frames; "none" leaves incomplete clips out.
    is_uniform : bool
        Whether each range is one clip, whose frames are spread evenly over it.
    clips_per_range : int
        How many clips, that start anywhere, each range gives; 0 for those at every `step`.
    """

    length: int
    stride: int
    step: int
    span: int
    padding: str = "none"
    is_uniform: bool = False
    clips_per_range: int = 0

    def count(self, num_frames: int) -> int:
        """Return the number of clips in a range of frames."""
        if num_frames < 1:
            return 0
        if self.is_uniform:
            return self.clips_per_range or 1
        complete = max(num_frames - self.span + self.step, 0) // self.step
        if self.clips_per_range:
            is_any = num_frames > (self.length - 1) * self.stride or self.padding != "none"
            return self.clips_per_range if is_any else 0
        # At most one clip in a range is padded.
        is_padded = self.padding != "none" and complete * self.step < num_frames
        return complete + is_padded


@dataclass
class ClipTable(DataSource):
    """All clips of a data set, numbered through, range after range.

    Attributes
    ----------
    rule : ClipRule
        How ranges are cut.
    has_labels : bool
        Whether the reader gives labels.
    names, paths, errors : list of str
        How each file is called, where it is, and what is wrong with it; an empty text if it is
        sound. A file with an error has one clip, which is a bad sample.
    files, begins, ends, range_labels, first_clips : list of int
        For each range that has clips: the number of its file, the first frame, the one after the
        last, the label, and the number of its first clip.
    num_clips : int
        Number of clips.
    copies : ObjectCopies or None
        What keeps those files that are copies of objects.
    class_folders : list of str or None
        The folders whose numbers are the labels, if they are.
    """

    rule: ClipRule
    has_labels: bool
    names: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    range_labels: list[int] = field(default_factory=list)
    first_clips: list[int] = field(default_factory=list)
    num_clips: int = 0
    copies: ObjectCopies | None = None
    class_folders: list[str] | None = None

    def __len__(self) -> int:
        return self.num_clips

    @property
    def labels(self) -> Sequence[int] | None:
        """The label of each clip; None if the reader gives none."""
        if not self.has_labels:
            return None
        counts = np.diff(self.first_clips, append=self.num_clips)
        labels: list[int] = np.repeat(self.range_labels, counts).tolist()
        return labels

    @property
    def class_names(self) -> Sequence[str] | None:
        """The folders, if labels are their numbers."""
        return self.class_folders

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to make a clip by its number."""
        return {
            "clip_names": self.names,
            "clip_paths": self.paths,
            "clip_errors": self.errors,
            "clip_files": self.files,
            "clip_begins": self.begins,
            "clip_ends": self.ends,
            "clip_labels": self.range_labels,
            "first_clips": self.first_clips,
            "clip_step": self.rule.step,
            "clip_padding": self.rule.padding,
            "has_labels": self.has_labels,
        }

    def add(self, file: int, label: int, begin: int, end: int, count: int) -> None:
        """Add a range of frames with some clips."""
        self.files.append(file)
        self.range_labels.append(label)
        self.begins.append(begin)
        self.ends.append(end)
        self.first_clips.append(self.num_clips)
        self.num_clips += count


def list_clips(
    arguments: dict[str, Any],
    rule: ClipRule,
    find_range: FindRange,
    *,
    numbers_labels: bool = False,
    check: Callable[[ListedVideo, Any], None] | None = None,
) -> ClipTable:
    """List the videos of a reader, and cut them into clips. No frame is decoded.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments contradict each other, or there is no clip.
    MissingModuleError
        If nothing is installed that reads videos.
    """
    from dali_core.operators.video.frame_index import open_indices

    storage = make_storage(arguments)
    videos, has_labels = list_videos(arguments, storage, numbers_labels=numbers_labels)
    names = list(dict.fromkeys(video.path for video in videos))
    copies = _copies(arguments, storage, names)
    files, problems = (copies.paths, copies.problems) if copies else ({}, {})
    paths = [files.get(name, name) for name in names]
    indices: dict[str, Any] = dict(
        zip(names, open_indices(paths, names=names, problems=problems), strict=True)
    )
    root = arguments.get("file_root")
    folders = names_in(storage.checked_path(root), storage, folders=True) if root else None
    table = ClipTable(
        rule, has_labels, names, paths, [""] * len(names), copies=copies, class_folders=folders
    )
    number_of = {name: number for number, name in enumerate(names)}
    longest = 0
    for video in videos:
        index = indices[video.path]
        file = number_of[video.path]
        if isinstance(index, Exception):
            if video.is_optional:
                _warn(f"{video.path!r} is no video, nor is it called like one: it is left out")
                continue
            table.errors[file] = str(index)
            table.add(file, video.label, 0, 1, rule.clips_per_range or 1)
            continue
        if check is not None:
            check(video, index)
        begin, end = find_range(video, index)
        if end <= begin:
            _warn(
                f"line {video.line} of the file_list means no frame of {video.path!r}, which has "
                f"{index.num_frames} (from {begin} to before {end}): it is left out"
            )
            continue
        longest = max(longest, end - begin)
        count = rule.count(end - begin)
        if count:
            table.add(file, video.label, begin, end, count)
    if not table.num_clips:
        raise ArgumentValueError(
            f"at least one video must be long enough for a sequence of {rule.length} frames with "
            f"stride {rule.stride} (got {len(names)} files, and at most {longest} frames). Ask for "
            "shorter sequences, or for padding."
        )
    return table


def _copies(
    arguments: dict[str, Any], storage: Storage, names: Sequence[str]
) -> ObjectCopies | None:
    urls = [name for name in names if is_url(name)]
    if not urls:
        return None
    if not arguments.get("cache_dir"):
        raise ArgumentTypeError(
            f"cache_dir must be given for videos in remote storage (got {urls[0]!r}), since they "
            "are decoded from copies on this machine. Pass a local folder, or read whole videos "
            "with fn.readers.file and fn.decoders.video."
        )
    return ObjectCopies(storage, urls, arguments["cache_dir"], arguments["cache_size"])


def clips_per_video(arguments: dict[str, Any], *others: str) -> int:
    """Return how many clips each video gives at random, or 0; `others` must not be given then."""
    count = int(arguments.get("clips_per_video") or 0)
    for name in others:
        if count and arguments.get(name) not in (None, False, -1, 0):
            raise ArgumentTypeError(
                f"clips_per_video and {name} must not both be given (got {count} and "
                f"{arguments[name]}). Leave out one."
            )
    return count


def _warn(message: str) -> None:
    warnings.warn(printable(f"{message}."), UserWarning, stacklevel=2)
