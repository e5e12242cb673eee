"""Metadata of data sets of LeRobot: features, episodes and tasks, of the versions 2.x and 3.0."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.formats.parquet import open_rows as open_rows
from dali_core._storage import Storage, join_path
from dali_core.errors import ArgumentValueError, DaliCoreError
from dali_core.operators.readers.folders import names_in

_VERSIONS = ("v2.0", "v2.1", "v3.0")
_NUMBERS = frozenset(
    (
        *("bool", "float16", "float32", "float64"),
        *(f"{sign}int{size}" for sign in ("", "u") for size in (8, 16, 32, 64)),
    )
)
_FIELD = re.compile(r"\{(\w+)(?::0?(\d{1,2})d)?\}")
_MOST_EXTENT = 1 << 40

INDEX_DTYPES = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
"""Columns that every data set has, with their types."""


class DamagedError(Exception):
    """A file of metadata has not the content that it must have."""


@dataclass(frozen=True)
class Feature:
    """A feature of a data set.

    Attributes
    ----------
    name : str
        Its name.
    dtype : str
        ``"video"``, ``"image"``, ``"string"``, the name of a NumPy dtype, or something unknown.
    shape : tuple of int
        Of a value; () for scalars.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether values are arrays of numbers."""
        return self.dtype in _NUMBERS

    @property
    def is_known(self) -> bool:
        """Whether values can be read."""
        return self.is_numeric or self.dtype in ("video", "image", "string")


@dataclass(frozen=True)
class Info:
    """The content of ``meta/info.json``.

    Attributes
    ----------
    root : str
        Folder or URL of the data set.
    version : str
        Such as ``"v3.0"``.
    fps : float
        Frames per second.
    features : dict of str to Feature
        All features.
    chunks_size : int
        Episodes in a folder, in version 2.
    data_path, video_path : str
        Templates of paths.
    """

    root: str
    version: str
    fps: float
    features: dict[str, Feature]
    chunks_size: int
    data_path: str
    video_path: str

    @property
    def has_joined_files(self) -> bool:
        """Whether a file has many episodes, as in version 3."""
        return self.version >= "v3"

    def path(self, template: str, **values: Any) -> str:
        """Return a path that a template makes of numbers and names.

        Raises
        ------
        DamagedError
            If it has other fields, or leaves the folder.
        """

        def filled(match: re.Match[str]) -> str:
            value = values.get(match[1])
            if value is None or (match[2] and not isinstance(value, int)):
                raise DamagedError(f"the path {template!r:.200} has the unknown field {match[0]}")
            return str(value).zfill(int(match[2] or 0))

        found = _FIELD.sub(filled, template)
        if set("{}\0") & set(found) or "://" in found:
            raise DamagedError(f"the path {template!r:.200} must have fields such as {{name:03d}}")
        if found.startswith("/") or ".." in found.split("/"):
            raise DamagedError(f"the path {template!r:.200} must not lead out of the folder")
        return join_path(self.root, found)


@dataclass(frozen=True)
class Episodes:
    """Episodes in the order of their numbers.

    Attributes
    ----------
    numbers, lengths : array of int64
        Number and frames of each.
    data_files : list of str
        The files of rows.
    data_file : array of int64
        For each episode, the number of its file.
    cameras : dict of str to CameraEpisodes
        For each camera that was asked for, where its frames are.
    """

    numbers: NDArray[np.int64]
    lengths: NDArray[np.int64]
    data_files: list[str]
    data_file: NDArray[np.int64]
    cameras: dict[str, CameraEpisodes]

    def some(self, positions: NDArray[np.int64]) -> Episodes:
        """Return the episodes at some positions."""
        cameras = {name: camera.some(positions) for name, camera in self.cameras.items()}
        return Episodes(
            self.numbers[positions],
            self.lengths[positions],
            self.data_files,
            self.data_file[positions],
            cameras,
        )


@dataclass(frozen=True)
class CameraEpisodes:
    """Places of the frames of one camera.

    Attributes
    ----------
    files : list of str
        The videos.
    file : array of int64
        For each episode, the number of its video.
    start, end : array of float64
        For each episode, when it begins and ends there, in seconds; the end is NaN if it is that
        of the video.
    """

    files: list[str]
    file: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]

    def some(self, positions: NDArray[np.int64]) -> CameraEpisodes:
        """Return those of the episodes at some positions."""
        return CameraEpisodes(
            self.files, self.file[positions], self.start[positions], self.end[positions]
        )


def read_info(root: str, storage: Storage) -> Info:
    """Read ``meta/info.json``.

    Raises
    ------
    ArgumentValueError
        If there is none, or it is not as it must be.
    """
    root = storage.checked_path(root)
    path = join_path(root, "meta/info.json")
    try:
        found = json.loads(storage.read_whole(path))
        version = found["codebase_version"]
        if version not in _VERSIONS:
            raise DamagedError(f"codebase_version must be one of {_VERSIONS} (it is {version!r})")
        fps = float(found["fps"])
        if not 0 < fps < 1e6:
            raise DamagedError(f"fps must be positive (it is {fps})")
        features = {
            str(name): _feature(str(name), described)
            for name, described in found["features"].items()
        }
        for name, dtype in INDEX_DTYPES.items():
            features.setdefault(name, Feature(name, dtype, ()))
        chunks_size = found.get("chunks_size", 1000)
        if not isinstance(chunks_size, int) or chunks_size < 1:
            raise DamagedError(f"chunks_size must be at least 1 (it is {chunks_size!r})")
        data_path, video_path = found["data_path"], found.get("video_path") or ""
        if not isinstance(data_path, str) or not isinstance(video_path, str):
            raise DamagedError("data_path and video_path must be texts")
    except DaliCoreError:
        raise
    except Exception as error:  # JSON may have anything in any place
        raise ArgumentValueError(
            f"root must be a data set of LeRobot, v2.1 or v3.0 (got {root!r}, where {path!r} "
            f"cannot be used: {_said(error)}). Check the folder."
        ) from error
    return Info(root, version, fps, features, chunks_size, data_path, video_path)


def _said(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it must have {error}"
    return str(error) or type(error).__name__


def _feature(name: str, described: Mapping[str, Any]) -> Feature:
    dtype, shape = described["dtype"], tuple(described.get("shape") or ())
    if not isinstance(dtype, str):
        raise DamagedError(f"the feature {name!r} has the dtype {dtype!r:.60}")
    if not all(type(extent) is int and 0 <= extent < _MOST_EXTENT for extent in shape):
        raise DamagedError(f"the feature {name!r} has the shape {shape!r:.100}")
    if math.prod(shape) >= _MOST_EXTENT or len(shape) > 7:
        raise DamagedError(f"the feature {name!r} is too large, {shape!r:.100}")
    return Feature(name, dtype, () if shape == (1,) else shape)


def read_table(storage: Storage, path: str, columns: Sequence[str] | None) -> Any:
    """Read columns of a file of rows as an Arrow table.

    Raises
    ------
    Exception
        Whatever pyarrow and the storage raise.
    """
    with open_rows(storage, path) as opened:
        return opened.read(columns=columns)


def read_episodes(info: Info, cameras: Sequence[str], storage: Storage) -> Episodes:
    """Read which episodes there are, and in which files.

    Parameters
    ----------
    info : Info
        The data set.
    cameras : sequence of str
        Names of the features of cameras that are needed.
    storage : Storage
        What reads URLs.

    Raises
    ------
    ArgumentValueError
        If that is not as it must be.
    """
    read = _read_joined if info.has_joined_files else _read_single
    try:
        found = read(info, cameras, storage)
        order = np.argsort(found.numbers, kind="stable")
        if len(np.unique(found.numbers)) < len(order):
            raise DamagedError("two episodes have the same number")
        if found.numbers.size and found.numbers.min() < 0:
            raise DamagedError("an episode has a negative number")
        if found.lengths.size and found.lengths.min() < 0:
            raise DamagedError("an episode has a negative length")
        if found.lengths.astype(np.float64).sum() >= _MOST_EXTENT:
            raise DamagedError("the lengths of the episodes are too large")
    except DaliCoreError:
        raise
    except Exception as error:
        raise ArgumentValueError(
            f"root must be a data set of LeRobot with sound metadata (got {info.root!r}, whose "
            f"episodes cannot be read: {_said(error)}). Check the folder 'meta'."
        ) from error
    return found.some(order)


def _read_single(info: Info, cameras: Sequence[str], storage: Storage) -> Episodes:
    """Read the episodes of version 2, which have a file each."""
    rows = _json_lines(join_path(info.root, "meta/episodes.jsonl"), storage)
    numbers = _integers([row["episode_index"] for row in rows], "episode_index")
    lengths = _integers([row["length"] for row in rows], "length")
    each = np.arange(len(rows))

    def paths(template: str, **more: str) -> list[str]:
        return [
            info.path(
                template,
                episode_index=number,
                episode_chunk=number // info.chunks_size,
                **more,
            )
            for number in numbers.tolist()
        ]

    return Episodes(
        numbers,
        lengths,
        paths(info.data_path),
        each,
        {
            name: CameraEpisodes(
                paths(info.video_path, video_key=name),
                each,
                np.zeros(len(rows)),
                np.full(len(rows), np.nan),
            )
            for name in cameras
        },
    )


def _read_joined(info: Info, cameras: Sequence[str], storage: Storage) -> Episodes:
    """Read the episodes of version 3, of which many are in a file."""
    columns = ["episode_index", "length", "data/chunk_index", "data/file_index"]
    for name in cameras:
        columns += [
            f"videos/{name}/{each}"
            for each in ("chunk_index", "file_index", "from_timestamp", "to_timestamp")
        ]
    parts = []
    folder = join_path(info.root, "meta/episodes")
    for chunk in names_in(folder, storage, folders=True):
        inner = join_path(folder, chunk)
        for name in names_in(inner, storage, folders=False):
            if name.endswith(".parquet"):
                parts.append(_columns_of(join_path(inner, name), columns, storage))
    if not parts:
        raise DamagedError(f"{folder!r} has no file")
    found = {name: np.concatenate([part[name] for part in parts]) for name in columns}

    def files(template: str, chunk: str, file: str, **more: str) -> tuple[list[str], Any]:
        pairs = np.stack([_whole(found[chunk], chunk), _whole(found[file], file)], axis=1)
        different, inverse = np.unique(pairs, axis=0, return_inverse=True)
        paths = [
            info.path(template, chunk_index=chunk_index, file_index=file_index, **more)
            for chunk_index, file_index in different.tolist()
        ]
        return paths, inverse.reshape(-1).astype(np.int64)

    places = {}
    for name in cameras:
        prefix = f"videos/{name}"
        times = [found[f"{prefix}/{end}_timestamp"].astype(np.float64) for end in ("from", "to")]
        for time in times:
            if not np.isfinite(time).all() or (time < 0).any() or (time > 1e9).any():
                raise DamagedError(f"{prefix!r} has times that are none")
        paths, file = files(
            info.video_path, f"{prefix}/chunk_index", f"{prefix}/file_index", video_key=name
        )
        places[name] = CameraEpisodes(paths, file, *times)
    paths, file = files(info.data_path, "data/chunk_index", "data/file_index")
    numbers = _whole(found["episode_index"], "episode_index")
    return Episodes(numbers, _whole(found["length"], "length"), paths, file, places)


def _columns_of(path: str, columns: Sequence[str], storage: Storage) -> dict[str, NDArray[Any]]:
    try:
        table = read_table(storage, path, list(columns))
        missing = set(columns) - set(table.column_names)
        if missing:
            raise DamagedError(f"it must have the columns {sorted(missing)}")
        found = {}
        for name in columns:
            column = table.column(name)
            if column.null_count:
                raise DamagedError(f"the column {name!r} must have no nulls")
            found[name] = np.asarray(column.to_numpy())
            if found[name].dtype.kind not in "iuf":
                raise DamagedError(f"the column {name!r} must have numbers")
    except Exception as error:
        raise DamagedError(f"{path!r}: {_said(error)}") from error
    return found


def read_tasks(info: Info, storage: Storage) -> dict[int, str]:
    """Read the texts of the tasks by their numbers; raises like `read_episodes`."""
    name = "meta/tasks.parquet" if info.has_joined_files else "meta/tasks.jsonl"
    path = join_path(info.root, name)
    try:
        if not info.has_joined_files:
            rows = _json_lines(path, storage)
            return {
                number: str(row["task"])
                for number, row in zip(
                    _integers([row["task_index"] for row in rows], "task_index").tolist(),
                    rows,
                    strict=True,
                )
            }
        import pyarrow.types as kinds

        table = read_table(storage, path, None)
        texts = [
            field.name
            for field in table.schema
            if kinds.is_string(field.type) or kinds.is_large_string(field.type)
        ]
        if len(texts) != 1 and "task" in texts:
            texts = ["task"]
        if len(texts) != 1:
            raise DamagedError("it must have one column of texts")
        numbers = table.column("task_index").to_pylist()
        return dict(
            zip(
                _integers(numbers, "task_index").tolist(),
                map(str, table.column(texts[0]).to_pylist()),
                strict=True,
            )
        )
    except DaliCoreError:
        raise
    except Exception as error:
        raise ArgumentValueError(
            f"root must be a data set of LeRobot with tasks (got {info.root!r}, where {path!r} "
            f"cannot be used: {_said(error)}). Check the file."
        ) from error


def _json_lines(path: str, storage: Storage) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(storage.read_whole(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DamagedError(f"{path!r}, line {number}: {error}") from error
        if not isinstance(row, dict):
            raise DamagedError(f"{path!r}, line {number}: it must be a JSON object")
        rows.append(row)
    return rows


def _integers(values: Sequence[Any], name: str) -> NDArray[np.int64]:
    for value in values:
        if type(value) is not int or not 0 <= value < _MOST_EXTENT:
            raise DamagedError(f"{name} must be numbers from 0 on (one is {value!r:.60})")
    return np.array(values, np.int64)


def _whole(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    is_right = values.dtype.kind in "iu"
    if is_right and values.size:
        is_right = 0 <= values.min() <= values.max() < _MOST_EXTENT
    if not is_right:
        raise DamagedError(f"{name} must be numbers from 0 on")
    return values.astype(np.int64)
