"""`fn.readers.lerobot`: frames of robots' episodes with features, masks and clips of cameras."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="not available: pyarrow")
pytest.importorskip("av", reason="not available: PyAV")

import pyarrow as pa
import pyarrow.parquet as pq

from dali_core import Pipeline, fn, mix_readers, samplers
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from dali_core.operators.robots.format import LeRobot
from dali_core.operators.robots.frames import Frames
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import check_all_equal, read
from tests.mutated_formats import outcomes
from tests.operators.readers.lerobot_files import TASKS, Written, change_info, write_video
from tests.operators.suite import Example
from tests.video_files import frames_of, number_of

TOP, WRIST = "observation.images.top", "observation.images.wrist"
COLUMNS = ["observation.state", "observation.matrix", "action", "next.done", "note"]
LENGTHS = (5, 1, 6, 4)


def example(folder: Path, version: str = "v3.0", **arguments: Any) -> dict[str, Any]:
    Written(LENGTHS, version).write(folder)
    return {"root": str(folder), "columns": COLUMNS, **arguments}


DELTAS = {"action": [-0.1, 0.0, 0.1, 0.2], "observation.state": [-0.2, 0.0]}
EXAMPLES = [
    Example("columns", (), partial(example, delta_timestamps=DELTAS)),
    Example(
        "cameras",
        (),
        partial(
            example,
            version="v2.1",
            columns=[TOP, WRIST],
            delta_timestamps={TOP: [-0.1, 0.0]},
            random_shuffle=True,
        ),
    ),
]


def _table(path: Path, rows: Any) -> None:
    pq.write_table(pa.table(rows), path)


class TestColumns(ReaderSuite):
    format = LeRobot()
    num_samples = sum(LENGTHS)

    def write(self, folder: Path) -> dict[str, Any]:
        return example(folder, delta_timestamps=DELTAS)

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "data/chunk-000/file-001.parquet").write_bytes(b"PAR1")
        return dict.fromkeys(range(12, 16), "data/chunk-000/file-001.parquet")


class TestColumnsOfVersion2(ReaderSuite):
    format = LeRobot()
    num_samples = sum(LENGTHS)

    def write(self, folder: Path) -> dict[str, Any]:
        return example(folder, "v2.1", episodes=[0, 2, 3, 1])

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        path = folder / "data/chunk-001/episode_000002.parquet"
        rows = pq.read_table(path)
        _table(path, rows[:-1])
        return dict.fromkeys(range(6, 12), "episode_000002.parquet': the file must have the 6 rows")


@functools.cache
def pixels_of(path: str) -> Any:
    """Return all frames of a video, as `fn.readers.video` gives them."""
    count = len(frames_of(Path(path)))
    arguments = {"filenames": [path], "sequence_length": count, "color_matrix": "auto"}
    ((frames,),) = read("readers.video", arguments, 1)
    return frames


class Decoded(Fetcher):
    """Gives clips in place of paths and numbers of frames, as the outputs of the reader have."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def fetch_many(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        many = self._fetcher.fetch_many(indices)
        assert many is not None
        return [
            (state, self._clip(top, first), self._clip(wrist, second), *others)
            for state, top, first, wrist, second, *others in many
        ]

    @staticmethod
    def _clip(path: Any, numbers: Any) -> Any:
        return pixels_of(bytes(path).decode())[numbers]


class TestCameras(ReaderSuite):
    format = LeRobot()
    num_samples = sum(LENGTHS)

    def write(self, folder: Path) -> dict[str, Any]:
        columns = ["observation.state", TOP, WRIST]
        deltas = {TOP: [-0.1, 0.0, 0.2], "observation.state": [0.0, 0.1]}
        copies = folder.parent / f"copies of {folder.name}"
        return example(folder, columns=columns, delta_timestamps=deltas, cache_dir=str(copies))

    def open(self, arguments: dict[str, Any]) -> tuple[DataSource, Fetcher]:
        source, fetcher = super().open(arguments)
        return source, Decoded(fetcher)

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / f"videos/{WRIST}/chunk-000/file-001.mp4").write_bytes(b"")
        return dict.fromkeys(range(6, 16), f"videos/{WRIST}/chunk-000/file-001.mp4")


class CamerasWithoutDecoding(TestCameras):
    """Paths and numbers of frames, for damaged files: decoding them has tests of its own."""

    open = ReaderSuite.open


def values_of(arguments: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the first samples, with numbers of pictures in place of clips and texts as text."""
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipeline:
        nodes = fn.readers.lerobot(**arguments)
        pipeline.set_outputs(*nodes.values())
    found = []
    for _ in range(count):
        batch = pipeline.run()
        sample = {name: np.array(part.at(0)) for name, part in zip(nodes, batch, strict=True)}
        for name, value in sample.items():
            if value.ndim == 4:
                sample[name] = [number_of(frame) for frame in value]
            elif name in ("task", "note"):
                sample[name] = bytes(value).decode()
        found.append(sample)
    return found


@pytest.mark.parametrize("version", ["v3.0", "v2.1", "v2.0"])
def test_values_at_all_frames(version: str, tmp_path: Path) -> None:
    written = Written((5, 1, 6, 4), version, images=True)
    written.write(tmp_path)
    names = [TOP, WRIST, "observation.state", "observation.matrix", "action", "next.done"]
    offsets = {TOP: [-2, 0, 1], "action": [0, 1, 2], "observation.image": [-1, 0]}
    deltas = {name: [step / 10 for step in steps] for name, steps in offsets.items()}
    found = values_of({"root": str(tmp_path), "delta_timestamps": deltas}, written.num_frames)
    assert set(found[0]) == {
        *(*names, "note", "observation.image", "task", "task_index", "timestamp", "index"),
        *("frame_index", "episode_index", *(f"{name}_is_pad" for name in offsets)),
    }
    index = 0
    for episode, (first, length) in enumerate(zip(written.firsts, written.lengths, strict=True)):
        for frame in range(length):
            sample = found[index]

            def at(name: str, frame: int = frame, first: int = first, length: int = length) -> Any:
                return [first + min(max(frame + step, 0), length - 1) for step in offsets[name]]

            assert sample[TOP] == at(TOP)
            assert sample[WRIST] == [255 - index]
            assert sample["observation.image"] == at("observation.image")
            np.testing.assert_array_equal(
                sample["action"], np.float32([[n, n + 0.5] for n in at("action")]), strict=True
            )
            for name, steps in offsets.items():
                outside = [not 0 <= frame + step < length for step in steps]
                np.testing.assert_array_equal(sample[f"{name}_is_pad"], outside, strict=True)
            np.testing.assert_array_equal(
                sample["observation.state"], written.state(index), strict=True
            )
            np.testing.assert_array_equal(
                sample["observation.matrix"], written.matrix(index), strict=True
            )
            assert sample["next.done"] == (frame == length - 1)
            assert sample["note"] == f"é{index}"
            assert sample["task"] == TASKS[episode % 2]
            assert sample["timestamp"] == np.float32(frame / 10)
            assert sample["timestamp"].dtype == np.float32
            numbers = [sample[f"{name}index"] for name in ("", "episode_", "frame_", "task_")]
            assert [int(number) for number in numbers] == [index, episode, frame, episode % 2]
            assert {number.dtype.name for number in numbers} == {"int64"}
            index += 1


def test_episodes(tmp_path: Path) -> None:
    written = Written()
    written.write(tmp_path)
    arguments = {"root": str(tmp_path), "columns": ["action", TOP, WRIST], "episodes": [3, 0]}
    found = values_of(arguments, 9)
    assert [int(sample["index"]) for sample in found] == [0, 1, 2, 3, 4, 12, 13, 14, 15]
    assert [sample[TOP][0] for sample in found] == [0, 1, 2, 3, 4, 12, 13, 14, 15]
    assert [255 - sample[WRIST][0] for sample in found] == [0, 1, 2, 3, 4, 12, 13, 14, 15]
    for wrong, message in (([4], "got 4;"), ([-1], "at least 0")):
        with pytest.raises(ArgumentValueError, match=message):
            values_of({**arguments, "episodes": wrong}, 1)


@pytest.mark.parametrize("version", ["v3.0", "v2.1"])
def test_missing_last_frames_are_bad_samples(version: str, tmp_path: Path) -> None:
    written = Written((5, 4, 6), version, {TOP: 3}, lost={0: 1, 2: 2})
    written.write(tmp_path)
    arguments = {"root": str(tmp_path), "columns": [TOP]}
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipeline:
        pipeline.set_outputs(fn.readers.lerobot(**arguments)[TOP])
    for index in range(15):
        if index in (4, 13, 14):
            with pytest.raises(SampleError, match=r"mp4': the video of .* must have frame"):
                pipeline.run()
        else:
            (clip,) = pipeline.run()
            assert number_of(np.array(clip.at(0))[0]) == index
    nearest = values_of({**arguments, "missing_frames": "nearest"}, 15)
    assert [sample[TOP][0] for sample in nearest] == [*range(4), 3, *range(5, 13), 12, 12]


def test_drifting_times_do_not_move_frames(tmp_path: Path) -> None:
    written = Written((3,) * 30, cameras={TOP: 30}, drift=0.004)
    written.write(tmp_path)
    found = values_of({"root": str(tmp_path), "columns": [TOP]}, 90)
    assert [sample[TOP][0] for sample in found] == list(range(90))


def test_gaps_between_episodes(tmp_path: Path) -> None:
    """Episodes that were removed leave their frames in the videos."""
    written = Written((4, 3, 5), cameras={TOP: 3})
    written.write(tmp_path)
    for path in sorted((tmp_path / "meta/episodes").rglob("*.parquet")):
        rows = pq.read_table(path)
        _table(path, rows.filter(pa.compute.not_equal(rows["episode_index"], 1)))
    found = values_of({"root": str(tmp_path), "columns": [TOP]}, 9)
    assert [sample[TOP][0] for sample in found] == [0, 1, 2, 3, *range(7, 12)]


def test_videos_of_other_frame_rates(tmp_path: Path) -> None:
    Written((9, 6), "v2.1", {TOP: 1}, fps=30).write(tmp_path)
    for episode, start in ((0, 0), (1, 100)):
        path = tmp_path / f"videos/chunk-000/{TOP}/episode_{episode:06d}.mp4"
        write_video(path, range(start, start + 3 - episode), 10)
    arguments = {"root": str(tmp_path), "columns": [TOP]}
    with pytest.raises(SampleError, match=r"within tolerance_s=0.0001 \(the nearest is 0.0333"):
        values_of(arguments, 2)
    found = values_of({**arguments, "tolerance_s": 0.07}, 15)
    numbers = [sample[TOP][0] for sample in found]
    assert numbers == [0, 0, 1, 1, 1, 2, 2, 2, 2, 100, 100, 101, 101, 101, 101]


def test_uneven_joints_between_episodes(tmp_path: Path) -> None:
    """Times that are off by less than half a frame do not make bad samples."""
    written = Written((4, 3, 5), cameras={TOP: 3})
    written.write(tmp_path)
    times = np.arange(12) + np.repeat((0.0, 0.3, -0.2), written.lengths)
    path = tmp_path / f"videos/{TOP}/chunk-000/file-000.mp4"
    write_video(path, range(12), 10, times=times.tolist())
    found = values_of({"root": str(tmp_path), "columns": [TOP]}, 12)
    assert [sample[TOP][0] for sample in found] == list(range(12))


def test_features_of_unknown_types(tmp_path: Path) -> None:
    Written(cameras={}).write(tmp_path)
    strange = {"dtype": "audio", "shape": [1]}
    change_info(tmp_path, lambda info: info["features"].update(strange=strange))
    assert "strange" not in values_of({"root": str(tmp_path)}, 1)[0]
    with pytest.raises(ArgumentTypeError, match="'strange' of type 'audio'"):
        values_of({"root": str(tmp_path), "columns": ["strange"]}, 1)


def test_cameras_that_are_not_requested_are_not_opened(tmp_path: Path) -> None:
    written = Written()
    written.write(tmp_path)
    for path in (tmp_path / "videos" / WRIST).rglob("*.mp4"):
        path.unlink()
    found = values_of({"root": str(tmp_path), "columns": [TOP]}, 3)
    assert [sample[TOP][0] for sample in found] == [0, 1, 2]


def test_missing_videos_are_bad_samples(tmp_path: Path) -> None:
    """They are those of its own episodes only."""
    Written().write(tmp_path)
    (tmp_path / f"videos/{WRIST}/chunk-000/file-000.mp4").unlink()
    pipeline = Pipeline(
        batch_size=16, num_threads=2, device_id=None, on_sample_error="replace", max_bad_samples=1.0
    )
    with pipeline:
        nodes = fn.readers.lerobot(root=str(tmp_path), columns=[TOP, WRIST])
        pipeline.set_outputs(nodes["index"], nodes[WRIST])
    indices, clips = pipeline.run()
    found = [int(np.array(part)) for part in indices]
    assert found[6:] == list(range(6, 16))
    assert set(found) == set(range(6, 16))
    assert [255 - number_of(np.array(clip)[0]) for clip in clips] == found


def test_large_columns_are_mapped_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = example(tmp_path, delta_timestamps=DELTAS)
    expected = read("readers.lerobot", arguments, 16)
    monkeypatch.setattr("dali_core.operators.robots.columns._MAPPED_BYTES", 0)
    source, _ = TestColumns().open(arguments)
    assert isinstance(source, Frames)
    assert isinstance(source.columns["action"], np.memmap)
    check_all_equal(read("readers.lerobot", arguments, 16), expected)

    monkeypatch.setattr("os.pwrite", _full)
    with pytest.raises(SampleError, match="must have room in .*No space left"):
        read("readers.lerobot", arguments, 1)


def _full(*_: Any) -> int:
    raise OSError(28, "No space left on device")


def test_weights_by_episode(tmp_path: Path) -> None:
    arguments = {**example(tmp_path), "sampler": samplers.ClassBalanced(length=400)}
    found = read("readers.lerobot", arguments, 400)
    names = [*COLUMNS, "timestamp", "frame_index", "episode_index"]
    counts = np.bincount([int(sample[names.index("episode_index")]) for sample in found])
    assert (np.abs(counts - 100) < 40).all()


def test_clips_of_decoded_size_feed_resize(tmp_path: Path) -> None:
    Written().write(tmp_path)
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipeline:
        nodes = fn.readers.lerobot(
            root=str(tmp_path), columns=TOP, delta_timestamps={TOP: (-0.1, 0)}
        )
        pipeline.set_outputs(fn.resize(nodes[TOP], size=(24, 32)))
    (clips,) = pipeline.run()
    assert np.array(clips.at(1)).shape == (2, 24, 32, 3)


ERRORS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"columns": ["nothing"]}, ArgumentValueError, "'nothing'; there are 'observation.state'"),
    ({"columns": ["action", "action"]}, ArgumentValueError, "different names"),
    ({"delta_timestamps": {"action": [0.05]}}, ArgumentValueError, "multiples of 1/10 s"),
    ({"delta_timestamps": {"action": []}}, ArgumentTypeError, "1 to 4096 finite numbers"),
    ({"delta_timestamps": {"action": [float("nan")]}}, ArgumentTypeError, "finite"),
    ({"delta_timestamps": [0.1]}, ArgumentTypeError, "dict of lists"),
    ({"delta_timestamps": {"note": [0.1]}}, ArgumentValueError, "no texts"),
    ({"delta_timestamps": {TOP: [0.1]}, "columns": "action"}, ArgumentValueError, "in columns"),
    ({"root": "/nothing"}, ArgumentValueError, "'/nothing/meta/info.json'"),
]


@pytest.mark.parametrize(("wrong", "kind", "message"), ERRORS)
def test_arguments_that_do_not_fit(
    wrong: dict[str, Any], kind: type[Exception], message: str, tmp_path: Path
) -> None:
    Written().write(tmp_path)
    with pytest.raises(kind, match=message):
        values_of({"root": str(tmp_path), **wrong}, 1)


HOSTILE: list[tuple[str, Any, str]] = [
    ("codebase_version", "v1.6", "codebase_version must be one of"),
    ("fps", 0, "fps must be positive"),
    ("data_path", "../{chunk_index}/{file_index}", "must not lead out of the folder"),
    ("data_path", "/etc/passwd", "must not lead out of the folder"),
    ("data_path", "{chunk_index.__class__}", "must have fields such as"),
    ("video_path", "{nothing}", "unknown field"),
    ("features", {"a": {"dtype": 7, "shape": [1]}}, "has the dtype 7"),
    ("features", {"a": {"dtype": "int64", "shape": [1 << 50]}}, "has the shape"),
    ("features", [1], "cannot be used"),
]


@pytest.mark.parametrize(("name", "value", "message"), HOSTILE)
def test_hostile_metadata(name: str, value: Any, message: str, tmp_path: Path) -> None:
    Written().write(tmp_path)
    change_info(tmp_path, lambda info: info.update({name: value}))
    with pytest.raises(ArgumentValueError, match=message):
        values_of({"root": str(tmp_path)}, 1)


def test_videos_in_remote_storage_need_a_folder(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    Written().write(tmp_path)
    store = fsspec.filesystem("memory")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            store.pipe_file(f"/robots{path}", path.read_bytes())
    root = f"memory://robots{tmp_path}"
    with pytest.raises(ArgumentTypeError, match="cache_dir must be given for cameras"):
        values_of({"root": root}, 1)
    (sample,) = values_of({"root": root, "columns": ["action"]}, 1)
    assert sample["action"].tolist() == [0, 0.5]


@pytest.mark.parametrize(
    ("suite", "count"),
    [(TestColumns, 60), (TestColumnsOfVersion2, 60), (CamerasWithoutDecoding, 40)],
)
def test_mutated_files(suite: type[ReaderSuite], count: int, tmp_path: Path) -> None:
    counts = outcomes(suite(), tmp_path, 0, count)
    assert counts["refused"] > 0
    assert counts["read"] > 0


def test_mixture_of_data_sets_with_different_features(tmp_path: Path) -> None:
    Written((8,), "v2.1", cameras={}).write(tmp_path / "old")
    Written((8,), images=True).write(tmp_path / "new")

    def part(name: str) -> Any:
        data = fn.readers.lerobot(root=str(tmp_path / name), columns=["action"])
        return data["action"], data["index"]

    pipeline = Pipeline(batch_size=4, num_threads=1, device_id=None, seed=3)
    with pipeline:
        parts = [lambda: part("old"), lambda: part("new")]
        pipeline.set_outputs(*mix_readers(parts, name="mixture"))
    actions, indices = pipeline.run()
    for action, index in zip(actions, indices, strict=True):
        assert np.array(action).tolist() == [int(np.array(index)), int(np.array(index)) + 0.5]
