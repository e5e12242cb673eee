"""Frames of episodes: their listing, and what is fetched of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._storage import Storage
from dali_core.errors import ArgumentValueError
from dali_core.operators.robots.cameras import open_cameras
from dali_core.operators.robots.columns import Binaries, NumericColumns
from dali_core.operators.robots.metadata import (
    INDEX_DTYPES,
    Feature,
    Info,
    read_episodes,
    read_tasks,
)

_NO_OFFSET = np.zeros(1, np.int64)


class Frames(DataSource):
    """The frames of the chosen episodes, one after the other.

    Parameters
    ----------
    info : Info
        The data set.
    features : sequence of Feature
        Those that are read.
    arguments : mapping
        Arguments of the reader.
    storage : Storage
        What reads URLs.

    Attributes
    ----------
    root : str
        The folder.
    url_storage : Storage
        What reads URLs.
    episodes : Episodes
        The chosen ones.
    cameras : dict of str to Camera
        Those among the features.
    tasks : dict of int to array of uint8
        The texts.
    columns : NumericColumns
        The columns of numbers.
    """

    def __init__(
        self,
        info: Info,
        features: Sequence[Feature],
        arguments: Mapping[str, Any],
        storage: Storage,
    ) -> None:
        self._info = info
        self.root = info.root
        self.url_storage = storage
        cameras = [feature.name for feature in features if feature.dtype == "video"]
        found = read_episodes(info, cameras, storage)
        chosen = _chosen(found.numbers, arguments.get("episodes"), info.root)
        chosen = chosen[found.lengths[chosen] > 0]
        if not len(chosen):
            raise ArgumentValueError(
                f"episodes must have at least one frame (got none in {info.root!r}). Choose others."
            )
        self.episodes = found.some(chosen)
        self.tasks = {
            number: np.frombuffer(text.encode(errors="surrogatepass"), np.uint8)
            for number, text in read_tasks(info, storage).items()
        }
        self.cameras, self._copies = open_cameras(found, chosen, info.fps, arguments, storage)
        self._ends = np.cumsum(self.episodes.lengths)
        indices = [info.features[name] for name in INDEX_DTYPES]
        numeric = {feature.name: feature for feature in (*features, *indices) if feature.is_numeric}
        self.columns = NumericColumns(self.episodes, numeric.values(), storage)

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def fps(self) -> float:
        """Frames per second of the data set."""
        return self._info.fps

    @property
    def labels(self) -> Sequence[int]:
        """The position of the episode of each frame among those that are read."""
        found: list[int] = np.repeat(
            np.arange(len(self.episodes.lengths)), self.episodes.lengths
        ).tolist()
        return found

    @property
    def class_names(self) -> Sequence[str]:
        """The numbers of the episodes."""
        return [f"episode {number}" for number in self.episodes.numbers.tolist()]

    @property
    def blocks(self) -> Sequence[int]:
        """The number of frames of each episode, which are close to each other in the files."""
        found: list[int] = self.episodes.lengths.tolist()
        return found

    @property
    def fingerprint(self) -> str:
        """The version, the rate, the features, and the numbers and lengths of the episodes."""
        features = [
            (feature.name, feature.dtype, feature.shape) for feature in self._info.features.values()
        ]
        return fingerprint_of(
            self._info.version,
            self._info.fps,
            features,
            self.episodes.numbers.tolist(),
            self.episodes.lengths.tolist(),
        )

    def place(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of the episodes of frames, and of the frames in them."""
        episodes = np.searchsorted(self._ends, indices, side="right")
        return episodes, indices - (self._ends - self.episodes.lengths)[episodes]


def _chosen(numbers: NDArray[np.int64], wanted: Any, root: str) -> NDArray[np.int64]:
    if wanted is None:
        return np.arange(len(numbers))
    missing = sorted(set(wanted) - set(numbers.tolist()))
    if missing:
        raise ArgumentValueError(
            f"episodes must be in the data set (got {missing[0]}; {root!r} has {len(numbers)} "
            "episodes). Correct the numbers."
        )
    return np.flatnonzero(np.isin(numbers, np.array(wanted, np.int64)))


class Reading(Fetcher):
    """Fetches frames.

    Parameters
    ----------
    source : Frames
        The data set.
    features : sequence of Feature
        Those to fetch.
    offsets : mapping of str to array of int64
        For some of them, which frames relative to that of the sample.
    max_bytes : int
        How many bytes of texts and images are kept.
    """

    def __init__(
        self,
        source: Frames,
        features: Sequence[Feature],
        offsets: Mapping[str, NDArray[np.int64]],
        max_bytes: int,
    ) -> None:
        self._source = source
        self._features = features
        self._offsets = offsets
        packed = [feature for feature in features if feature.dtype in ("string", "image")]
        self._binaries = Binaries(source.episodes, packed, source.url_storage, max_bytes)
        names = {feature.name for feature in features}
        self._indices = [name for name in INDEX_DTYPES if name not in names]

    def fetch_many(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return frames, of each a tuple with the parts of its outputs."""
        return list(zip(*self.fetch_columns(indices), strict=True))

    def fetch_columns(self, indices: Sequence[int]) -> list[Any]:
        """Return the parts of outputs, of each that of all frames."""
        source = self._source
        episodes, frames = source.place(np.asarray(indices, np.int64))
        source.columns.load(episodes)
        outputs: list[Any] = []
        for feature in self._features:
            offsets = self._offsets.get(feature.name)
            rows = self._rows(episodes, frames, _NO_OFFSET if offsets is None else offsets)
            if feature.dtype == "video":
                outputs += self._clips(feature.name, episodes, rows)
            elif feature.is_numeric:
                values = source.columns[feature.name]
                outputs.append(values[rows[:, 0] if offsets is None else rows])
            else:
                outputs += self._packed(feature.name, episodes, rows)
        last = source.episodes.lengths[episodes] - 1
        for offsets in self._offsets.values():
            moved = frames[:, None] + offsets
            outputs.append((moved < 0) | (moved > last[:, None]))
        own = source.columns.first[episodes] + frames
        outputs += [source.columns[name][own] for name in self._indices]
        outputs.append([self._task(row) for row in own.tolist()])
        return outputs

    def _rows(
        self, episodes: NDArray[np.int64], frames: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return rows of columns, of shape (N, T), within the episodes."""
        last = self._source.episodes.lengths[episodes] - 1
        moved = np.clip(frames[:, None] + offsets, 0, last[:, None])
        return np.asarray(self._source.columns.first[episodes][:, None] + moved, np.int64)

    def _clips(self, name: str, episodes: NDArray[np.int64], rows: NDArray[np.int64]) -> list[Any]:
        columns, camera = self._source.columns, self._source.cameras[name]
        numbers = columns["frame_index"][rows].astype(np.int64)
        seconds = columns["timestamp"][rows].astype(np.float64)
        # Times are of 32 bits: where they are those of the frames, these are more exact.
        exact = numbers / self._source.fps
        is_exact = np.abs(exact - seconds) <= 1e-4 + 2e-7 * exact
        seconds = np.where(is_exact, exact, seconds)
        found = camera.numbers(episodes, numbers, seconds)
        return [camera.paths(episodes), found]

    def _packed(
        self, name: str, episodes: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> list[Sequence[Any]]:
        columns = self._source.columns
        files = self._source.episodes.data_file[episodes].tolist()
        in_file = rows + (columns.row_in_file - columns.first)[episodes][:, None]
        return [
            [
                self._binaries.get(file, row, name)
                for file, row in zip(files, step.tolist(), strict=True)
            ]
            for step in in_file.T
        ]

    def _task(self, row: int) -> NDArray[np.uint8]:
        number = int(self._source.columns["task_index"][row])
        found = self._source.tasks.get(number)
        if found is None:
            raise ValueError(
                f"{self._source.root!r}: the tasks of the data set must have number {number} (got "
                "none). Check the folder 'meta'."
            )
        return found
