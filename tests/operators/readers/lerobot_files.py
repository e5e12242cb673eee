"""Data sets of LeRobot, v2.1 and v3.0, written by pyarrow and PyAV."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tests.video_files import X264_SAME, draw

TASKS = ("Grasp the cube.", "Öffne die Tür.")
SIZE = (64, 48)
V2_DATA = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
V2_VIDEO = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
V3_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
V3_VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"


@dataclass
class Written:
    """The content of a data set.

    Attributes
    ----------
    lengths : sequence of int
        Frames of each episode.
    cameras : dict of str to int
        How many episodes a video of each camera has.
    episodes_in_file : int
        Episodes in a Parquet file of version 3.
    lost : dict of int to int
        How many frames at their ends the videos of some episodes lack.
    drift : float
        Seconds by which the time of each episode is later than that of the one before.
    rate : int
        Frames per second of the videos; by default that of the data set.
    """

    lengths: Sequence[int] = (5, 1, 6, 4)
    version: str = "v3.0"
    cameras: dict[str, int] = field(
        default_factory=lambda: {"observation.images.top": 4, "observation.images.wrist": 2}
    )
    fps: int = 10
    episodes_in_file: int = 3
    lost: dict[int, int] = field(default_factory=dict)
    drift: float = 0.0
    rate: int = 0
    images: bool = False
    group: int = 2
    size: tuple[int, int] = SIZE

    @property
    def num_frames(self) -> int:
        return sum(self.lengths)

    @property
    def firsts(self) -> list[int]:
        return [sum(self.lengths[:episode]) for episode in range(len(self.lengths))]

    def state(self, index: int) -> npt.NDArray[np.float32]:
        return np.float32([index, index / 2, -index])

    def matrix(self, index: int) -> npt.NDArray[np.float64]:
        return np.arange(6.0).reshape(2, 3) + index

    def png(self, index: int) -> bytes:
        from PIL import Image

        file = io.BytesIO()
        Image.fromarray(draw(index % 256, *self.size)).save(file, "PNG")
        return file.getvalue()

    def rows(self, episode: int) -> pa.Table:
        length, first = self.lengths[episode], self.firsts[episode]
        indices = range(first, first + length)
        columns: dict[str, Any] = {
            "observation.state": pa.array(
                [self.state(index).tolist() for index in indices], pa.list_(pa.float32())
            ),
            "observation.matrix": pa.array(
                [self.matrix(index).tolist() for index in indices],
                pa.list_(pa.list_(pa.float64())),
            ),
            "action": pa.array(
                [[index, index + 0.5] for index in indices], pa.list_(pa.float32(), 2)
            ),
            "next.done": pa.array([index == indices[-1] for index in indices]),
            "note": pa.array([f"é{index}" for index in indices]),
            "timestamp": pa.array(
                [np.float32(frame / self.fps) for frame in range(length)], pa.float32()
            ),
            "frame_index": pa.array(range(length), pa.int64()),
            "episode_index": pa.array([episode] * length, pa.int64()),
            "index": pa.array(indices, pa.int64()),
            "task_index": pa.array([episode % len(TASKS)] * length, pa.int64()),
        }
        if self.images:
            columns["observation.image"] = pa.array(
                [{"bytes": self.png(index), "path": None} for index in indices],
                pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
            )
        return pa.table(columns)

    @property
    def features(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "observation.state": {"dtype": "float32", "shape": [3], "names": ["a", "b", "c"]},
            "observation.matrix": {"dtype": "float64", "shape": [2, 3], "names": None},
            "action": {"dtype": "float32", "shape": [2], "names": None},
            "next.done": {"dtype": "bool", "shape": [1], "names": None},
            "note": {"dtype": "string", "shape": [1], "names": None},
        }
        if self.images:
            found["observation.image"] = {
                "dtype": "image",
                "shape": [*self.size[::-1], 3],
                "names": None,
            }
        for name in self.cameras:
            found[name] = {
                "dtype": "video",
                "shape": [*self.size[::-1], 3],
                "info": {"video.fps": self.fps},
            }
        kinds = {"timestamp": "float32"}
        for name in ("timestamp", "frame_index", "episode_index", "index", "task_index"):
            found[name] = {"dtype": kinds.get(name, "int64"), "shape": [1], "names": None}
        return found

    def pictures(self, camera: str, episode: int) -> list[int]:
        """Return the numbers that the frames of an episode in a video were drawn for."""
        first = self.firsts[episode]
        count = self.lengths[episode] - self.lost.get(episode, 0)
        turned = list(self.cameras).index(camera) == 1
        return [(255 - index) % 256 if turned else index for index in range(first, first + count)]

    def write(self, folder: Path) -> Path:
        _write(folder / "meta/info.json", json.dumps(self._info(), indent=1).encode())
        (self._write_joined if self.version == "v3.0" else self._write_single)(folder)
        return folder

    def _info(self) -> dict[str, Any]:
        joined = self.version == "v3.0"
        return {
            "codebase_version": self.version,
            "fps": self.fps,
            "total_episodes": len(self.lengths),
            "total_frames": self.num_frames,
            "chunks_size": 1000 if joined else 2,
            "data_path": V3_DATA if joined else V2_DATA,
            "video_path": V3_VIDEO if joined else V2_VIDEO,
            "features": self.features,
        }

    def _write_single(self, folder: Path) -> None:
        lines = [
            {"episode_index": n, "tasks": [TASKS[n % 2]], "length": length}
            for n, length in enumerate(self.lengths)
        ]
        _write(folder / "meta/episodes.jsonl", _lines(lines))
        tasks = [{"task_index": n, "task": task} for n, task in enumerate(TASKS)]
        _write(folder / "meta/tasks.jsonl", _lines(tasks))
        for episode in range(len(self.lengths)):
            place = {"episode_chunk": episode // 2, "episode_index": episode}
            _write_table(folder / V2_DATA.format(**place), [self.rows(episode)])
            for camera in self.cameras:
                path = folder / V2_VIDEO.format(**place, video_key=camera)
                write_video(
                    path,
                    self.pictures(camera, episode),
                    self.rate or self.fps,
                    self.group,
                    self.size,
                )

    def _write_joined(self, folder: Path) -> None:
        tasks = pa.table({"task_index": range(len(TASKS)), "__index_level_0__": list(TASKS)})
        _write_table(folder / "meta/tasks.parquet", [tasks])
        numbers = range(len(self.lengths))
        columns: dict[str, Any] = {
            "episode_index": numbers,
            "tasks": [[TASKS[n % 2]] for n in numbers],
            "length": list(self.lengths),
            "data/chunk_index": [0] * len(numbers),
            "data/file_index": [n // self.episodes_in_file for n in numbers],
            "dataset_from_index": self.firsts,
        }
        for start in numbers[:: self.episodes_in_file]:
            rows = [self.rows(n) for n in numbers[start : start + self.episodes_in_file]]
            place = {"chunk_index": 0, "file_index": start // self.episodes_in_file}
            _write_table(folder / V3_DATA.format(**place), rows)
        for camera, count in self.cameras.items():
            columns |= self._write_camera(folder, camera, count)
        table = pa.table(columns)
        half = max(1, len(numbers) // 2)
        for part, rows in enumerate((table[:half], table[half:])):
            path = folder / f"meta/episodes/chunk-000/file-{part:03d}.parquet"
            _write_table(path, [rows])

    def _write_camera(self, folder: Path, camera: str, count: int) -> dict[str, Any]:
        files, starts, ends = [], [], []
        for first in range(0, len(self.lengths), count):
            time, pictures = 0.0, []
            for episode in range(first, min(first + count, len(self.lengths))):
                own = self.pictures(camera, episode)
                pictures += own
                files.append(first // count)
                starts.append(time)
                time += len(own) / self.fps + self.drift
                ends.append(time)
            path = V3_VIDEO.format(video_key=camera, chunk_index=0, file_index=first // count)
            write_video(folder / path, pictures, self.rate or self.fps, self.group, self.size)
        return {
            f"videos/{camera}/chunk_index": [0] * len(files),
            f"videos/{camera}/file_index": files,
            f"videos/{camera}/from_timestamp": starts,
            f"videos/{camera}/to_timestamp": ends,
        }


def write_video(
    path: Path,
    pictures: Sequence[int],
    rate: int,
    group: int = 2,
    size: tuple[int, int] = SIZE,
    times: Sequence[float] | None = None,
) -> None:
    """Encode frames that were drawn for some numbers, shown at some times in frames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=rate)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, rate * 100)
        stream.codec_context.gop_size = group
        stream.codec_context.thread_count = 1
        stream.options = {"preset": "veryfast", "x264-params": X264_SAME, "bf": "0"}
        for place, number in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(draw(number % 256, *size), format="rgb24")
            time = place if times is None else times[place]
            frame.pts, frame.time_base = round(time * 100), Fraction(1, rate * 100)
            output.mux(stream.encode(frame))
        output.mux(stream.encode())


def change_info(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the content of ``meta/info.json``."""
    path = folder / "meta/info.json"
    info = json.loads(path.read_bytes())
    change(info)
    path.write_text(json.dumps(info), encoding="utf-8")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _write_table(path: Path, parts: Sequence[pa.Table]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)


def _lines(rows: Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
