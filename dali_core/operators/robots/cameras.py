"""Numbers of the frames of cameras in their videos, of which none is of another episode."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dali_core._storage import ObjectCopies, Storage, is_url
from dali_core.errors import ArgumentTypeError
from dali_core.operators.robots.metadata import CameraEpisodes, Episodes
from dali_core.operators.video.backends import missing_decoder

if TYPE_CHECKING:
    from dali_core.operators.video.frame_index import FrameIndex

_RATE_OFF = 5e-3
"""By how much of it the rate of a video may differ from that of the data set."""

_STEP_OFF = 2e-2
"""By how much of it the time between most frames may differ from that of the data set."""


@dataclass
class _Video:
    """A video, with all episodes in it.

    Attributes
    ----------
    problem : str
        What is wrong with it, if anything is.
    seconds : array of float64, optional
        When frames are shown, if they do not come at the rate of the data set throughout.
    has_rate : bool
        Whether most of them do: those that are less than half a frame off are the right ones.
    """

    name: str
    path: NDArray[np.uint8]
    problem: str = ""
    num_frames: int = 0
    seconds: NDArray[np.float64] | None = None
    has_rate: bool = False


class Camera:
    """The frames of a camera.

    Parameters
    ----------
    name : str
        The camera.
    places : CameraEpisodes
        Where its frames are, of all episodes.
    chosen : array of int64
        Positions of the episodes that are read.
    fps : float
        Frames per second of the data set.
    tolerance : float
        How many seconds a frame may be from its time, where times decide.
    takes_nearest : bool
        Whether the nearest frame of the episode takes the place of a missing one.
    videos : dict of str to _Video
        The videos by their paths.
    """

    def __init__(
        self,
        name: str,
        places: CameraEpisodes,
        chosen: NDArray[np.int64],
        fps: float,
        tolerance: float,
        takes_nearest: bool,
        videos: Mapping[str, _Video],
    ) -> None:
        self._name = name
        self._fps = fps
        self._tolerance = tolerance
        self._takes_nearest = takes_nearest
        file = places.file[chosen]
        used, self._video = np.unique(file, return_inverse=True)
        self._videos = [videos[places.files[number]] for number in used.tolist()]
        self._start = np.zeros(len(chosen), np.int64)
        self._count = np.zeros(len(chosen), np.int64)
        self._is_odd = np.zeros(len(chosen), bool)
        self._times = (places.start[chosen], places.end[chosen])
        place_of = np.full(len(places.file), -1)
        place_of[chosen] = np.arange(len(chosen))
        for number, video in zip(used.tolist(), self._videos, strict=True):
            inside = np.flatnonzero(places.file == number)
            mine = place_of[inside]
            is_mine = mine >= 0
            if video.problem or video.seconds is not None:
                self._is_odd[mine[is_mine]] = True
                continue
            starts, counts = _frames_of(
                places.start[inside], places.end[inside], fps, video.num_frames
            )
            self._start[mine[is_mine]] = starts[is_mine]
            self._count[mine[is_mine]] = counts[is_mine]

    def paths(self, episodes: NDArray[np.int64]) -> list[NDArray[np.uint8]]:
        """Return the path of the video of each episode."""
        return [self._videos[number].path for number in self._video[episodes].tolist()]

    def num_missing(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many frames of these lengths the videos of episodes lack, by their numbers."""
        return np.where(self._is_odd, 0, np.maximum(lengths - np.maximum(self._count, 0), 0))

    def numbers(
        self,
        episodes: NDArray[np.int64],
        frames: NDArray[np.int64],
        seconds: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """Return the numbers of frames in their videos.

        Parameters
        ----------
        episodes : array of int64
            Positions of episodes, shape (N,).
        frames : array of int64
            Numbers of frames in them, shape (N, T).
        seconds : array of float64
            Their times in the episodes, shape (N, T).

        Returns
        -------
        array of int64
            Shape (N, T).

        Raises
        ------
        ValueError
            If a frame is not there.
        """
        limits = self._count[episodes][:, None]
        is_missing = (frames >= limits) | (frames < 0)
        is_odd = self._is_odd[episodes]
        if self._takes_nearest:
            is_missing &= limits <= 0
            frames = np.clip(frames, 0, np.maximum(limits - 1, 0))
        found: NDArray[np.int64] = self._start[episodes][:, None] + frames
        if is_odd.any():
            is_missing[is_odd] = False
            for place in np.flatnonzero(is_odd).tolist():
                found[place] = self._by_time(int(episodes[place]), seconds[place])
        if is_missing.any():
            place, step = np.argwhere(is_missing)[0]
            episode = int(episodes[place])
            video = self._videos[self._video[episode]]
            raise ValueError(
                f"{video.name!r}: the video of {self._name!r} must have frame "
                f"{frames[place, step]} of the episode (it has {max(self._count[episode], 0)} of "
                'them). Record it again, leave the episode out, or pass missing_frames="nearest".'
            )
        return found

    def _by_time(self, episode: int, seconds: NDArray[np.float64]) -> NDArray[np.int64]:
        video = self._videos[self._video[episode]]
        if video.problem:
            raise ValueError(video.problem)
        shown = video.seconds
        assert shown is not None
        begin, end = (float(times[episode]) for times in self._times)
        # Only frames of the episode may be chosen.
        margin = 0.25 / self._fps
        first = int(np.searchsorted(shown, begin - margin))
        last = len(shown) if np.isnan(end) else int(np.searchsorted(shown, end - margin))
        wanted = begin + seconds
        if first < last:
            after = np.clip(np.searchsorted(shown, wanted), first, last - 1)
            before = np.clip(after - 1, first, last - 1)
            is_before = np.abs(shown[before] - wanted) <= np.abs(shown[after] - wanted)
            nearest = np.where(is_before, before, after)
            distance = np.abs(shown[nearest] - wanted)
            if self._takes_nearest or distance.max() <= self._allowed(video):
                return np.asarray(nearest, np.int64)
            place = int(np.argmax(distance))
            where = f"the nearest is {distance[place]:.6g} s away"
        else:
            place, where = 0, "the episode has none there"
        raise ValueError(
            f"{video.name!r}: the video of {self._name!r} must have a frame at "
            f"{wanted[place]:.6f} s, within tolerance_s={self._allowed(video):g} ({where}). Pass a "
            'larger tolerance_s, or missing_frames="nearest".'
        )

    def _allowed(self, video: _Video) -> float:
        return max(self._tolerance, 0.499 / self._fps if video.has_rate else 0.0)


def _frames_of(
    start: NDArray[np.float64], end: NDArray[np.float64], fps: float, num_frames: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return first frame and number of frames of all episodes in a video, from their times.

    Times are sums of durations and drift, so frames are counted where episodes follow each other
    without a gap; a duration is that of whole frames.
    """
    if np.isnan(end).any():
        return np.zeros(len(start), np.int64), np.full(len(start), num_frames, np.int64)
    order = np.argsort(start, kind="stable")
    counts = np.rint((end - start)[order] * fps).astype(np.int64)
    ends = np.cumsum(counts)
    gaps = np.diff(start[order], prepend=0.0)
    gaps[1:] -= (end - start)[order][:-1]
    is_joined = bool((np.abs(gaps) < 0.5 / fps).all()) and (counts > 0).all()
    if is_joined and num_frames <= ends[-1]:
        first = ends - counts
    else:
        first = np.rint(start[order] * fps).astype(np.int64)
    following = np.append(first[1:], num_frames)
    counts = np.minimum(np.minimum(counts, following - first), num_frames - first)
    starts, found = np.empty_like(first), np.empty_like(counts)
    starts[order], found[order] = first, counts
    return starts, found


def open_cameras(
    episodes: Episodes,
    chosen: NDArray[np.int64],
    fps: float,
    arguments: Mapping[str, Any],
    storage: Storage,
) -> tuple[dict[str, Camera], ObjectCopies | None]:
    """Open the indices of the videos of some episodes, and find frames in them.

    Parameters
    ----------
    episodes : Episodes
        All episodes, with the cameras that are needed.
    chosen : array of int64
        Positions of those that are read.
    fps : float
        Frames per second of the data set.
    arguments : mapping
        Arguments of the reader.
    storage : Storage
        What reads URLs.

    Returns
    -------
    cameras : dict of str to Camera
        By their names.
    copies : ObjectCopies or None
        What has to live as long as copies of objects are needed.
    """
    names = list(
        dict.fromkeys(
            camera.files[number]
            for camera in episodes.cameras.values()
            for number in np.unique(camera.file[chosen]).tolist()
        )
    )
    copies = _copies(names, arguments, storage)
    files, problems = (copies.paths, copies.problems) if copies else ({}, {})
    paths = [files.get(name, name) for name in names]
    indices = indices_of(paths, names=names, problems=problems) if names else []
    videos = {
        name: _video(name, path, index, fps)
        for name, path, index in zip(names, paths, indices, strict=True)
    }
    cameras = {
        name: Camera(
            name,
            places,
            chosen,
            fps,
            arguments["tolerance_s"],
            arguments["missing_frames"] == "nearest",
            videos,
        )
        for name, places in episodes.cameras.items()
    }
    return cameras, copies


def indices_of(paths: Sequence[str], **options: Any) -> list[FrameIndex | Exception]:
    """Return the indices of videos, see `open_indices`.

    Raises
    ------
    MissingModuleError
        If nothing is installed that reads videos.
    """
    try:
        from dali_core.operators.video.frame_index import open_indices
    except ModuleNotFoundError as error:
        raise missing_decoder() from error
    return [*open_indices(paths, **options)]


def _video(name: str, path: str, index: FrameIndex | Exception, fps: float) -> _Video:
    encoded = np.frombuffer(os.fsencode(os.path.abspath(path)), np.uint8)
    if isinstance(index, Exception):
        return _Video(name, encoded, problem=str(index))
    is_even = index.num_frames == 1 or (
        not index.is_variable and abs(index.frames_per_second / fps - 1) <= _RATE_OFF
    )
    if is_even:
        return _Video(name, encoded, num_frames=index.num_frames)
    seconds = index.seconds
    has_rate = abs(float(np.median(np.diff(seconds))) * fps - 1) <= _STEP_OFF
    return _Video(name, encoded, num_frames=index.num_frames, seconds=seconds, has_rate=has_rate)


def _copies(
    names: Sequence[str], arguments: Mapping[str, Any], storage: Storage
) -> ObjectCopies | None:
    urls = [name for name in names if is_url(name)]
    if not urls:
        return None
    if not arguments.get("cache_dir"):
        raise ArgumentTypeError(
            f"cache_dir must be given for cameras in remote storage (got {urls[0]!r}), since "
            "videos are decoded from copies on this machine. Pass a local folder, or leave the "
            "cameras out of columns."
        )
    return ObjectCopies(storage, urls, arguments["cache_dir"], arguments["cache_size"])
