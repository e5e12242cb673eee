"""`fn.experimental.readers.video`: selected clips, additional outputs, and rejected arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.readers.video_clips import (
    numbers,
    numbers_of,
    read,
    reader_pipeline,
    take,
    videos_in,
)
from tests.operators.suite import Example

pytest.importorskip("av", reason="not available: PyAV")

Video: TypeAlias = Callable[[str], Path]


def clips(folder: Path) -> dict[str, Any]:
    return videos_in(folder, "vp8.webm", "h264.mp4") | {
        "sequence_length": 5,
        "stride": 2,
        "pad_mode": "edge",
        "labels": [3, -4],
        "enable_frame_num": "sequence",
        "enable_timestamps": True,
    }


def shuffled_clips(folder: Path) -> dict[str, Any]:
    return videos_in(folder, "vp8.webm", "h264.mp4") | {
        "sequence_length": 3,
        "clips_per_video": 3,
        "random_shuffle": True,
        "image_type": types.GRAY,
        "color_matrix": "auto",
    }


EXAMPLES = [Example("clips", (), clips), Example("shuffled", (), shuffled_clips)]


def test_example_in_full(video: Video) -> None:
    found = read(
        filenames=[str(video("h264.mp4")), str(video("h264_uneven.mp4"))],
        sequence_length=4,
        stride=3,
        step=20,
        pad_mode="constant",
        labels=[7, 8],
        enable_frame_num="sequence",
        enable_timestamps=True,
    )
    assert [clip.source for clip in found] == ["h264.mp4"] * 2 + ["h264_uneven.mp4"] * 2
    assert numbers(found) == [[0, 3, 6, 9], [20, 23, 26, 29]] * 2
    assert [clip.others[0] for clip in found] == [[7], [7], [8], [8]]
    assert [clip.others[1] for clip in found] == numbers(found)
    np.testing.assert_allclose(found[0].others[2], [0, 0.12, 0.24, 0.36])
    times = found[2].others[2]
    assert np.ptp(np.diff(times)) > 0.01, "the frame rate of this one varies"


@pytest.mark.parametrize(
    "name",
    ["h264_pyramid.mp4", "hevc_open_gop.mkv", "av1.mp4", "mpeg4.mp4", "mjpeg_422.mov"],
)
def test_all_codecs_give_the_frames_that_were_drawn(video: Video, name: str) -> None:
    (found, *_) = read(filenames=str(video(name)), sequence_length=15, stride=2)
    assert found.numbers == list(range(0, 30, 2))


@pytest.mark.parametrize(
    ("image_type", "channels"),
    [(types.RGB, 3), (types.BGR, 3), (types.GRAY, 1), (types.YCbCr, 3)],
)
def test_colours(video: Video, image_type: Any, channels: int) -> None:
    pipeline = reader_pipeline(
        filenames=str(video("vp8.webm")), sequence_length=2, image_type=image_type
    )
    (frames,) = pipeline.run()
    pipeline.close()
    assert frames.layout() == "FHWC"
    assert frames.shape() == [(2, 48, 64, channels)]
    reader = reader_pipeline(filenames=str(video("vp8.webm")), sequence_length=2)
    expected = np.array(reader.run()[0].at(0)).astype(int)
    reader.close()
    ours = np.array(frames.at(0)).astype(int)
    if image_type == types.BGR:
        np.testing.assert_array_equal(ours[..., ::-1], expected)
    elif image_type == types.RGB:
        np.testing.assert_array_equal(ours, expected)
    else:
        luma = expected @ [0.299, 0.587, 0.114]
        scaled = luma if channels == 1 else 16 + luma * 219 / 255
        assert np.abs(ours[..., 0] - scaled).max() <= 3


def test_random_clips(video: Video) -> None:
    names = [str(video("h264.mp4")), str(video("vp9.webm"))]
    arguments: dict[str, Any] = {
        "filenames": names,
        "sequence_length": 4,
        "stride": 3,
        "clips_per_video": 5,
        "enable_frame_num": "sequence",
    }
    pipeline = reader_pipeline(settings={"seed": 5}, **arguments)
    assert pipeline.epoch_size("reader") == 10
    found = take(pipeline, 200)
    pipeline.close()
    starts = [clip.numbers[0] for clip in found]
    for clip in found:
        assert clip.numbers == clip.others[0] == [clip.numbers[0] + 3 * i for i in range(4)]
    assert {clip.source for clip in found[:5]} == {"h264.mp4"}
    # Each of the starts from 0 to 20 has a probability of 1/21.
    assert set(starts) == set(range(21))
    assert starts[:10] != starts[10:20], "every epoch draws anew"
    again = reader_pipeline(settings={"seed": 5, "num_threads": 1}, batch_size=4, **arguments)
    assert take(again, 10) == found[:40]
    again.close()
    other = reader_pipeline(settings={"seed": 6}, **arguments)
    assert take(other, 10) != found[:10]
    other.close()


def test_random_clips_do_not_depend_on_the_number_of_shards(video: Video) -> None:
    arguments: dict[str, Any] = {
        "filenames": [str(video("h264.mp4")), str(video("vp9.webm"))],
        "sequence_length": 2,
        "clips_per_video": 4,
        "settings": {"seed": 3},
    }
    whole = reader_pipeline(**arguments)
    expected = take(whole, 8)
    whole.close()
    parts = []
    for shard in range(3):
        pipeline = reader_pipeline(num_shards=3, shard_id=shard, stick_to_shard=True, **arguments)
        parts += take(pipeline, (shard + 1) * 8 // 3 - shard * 8 // 3)
        pipeline.close()
    assert parts == expected


def test_random_clips_of_short_videos(video: Video) -> None:
    names = [str(video("h264_one_frame.mp4")), str(video("h264.mp4"))]
    found = read(filenames=names, sequence_length=30, clips_per_video=2)
    assert numbers(found) == [list(range(30))] * 2, "videos that are too short give none"
    found = read(filenames=names, sequence_length=3, clips_per_video=1, pad_mode="edge")
    assert found[0].numbers == [0, 0, 0]


def test_resumes_at_every_step(video: Video) -> None:
    def make(**settings: Any) -> Any:
        return reader_pipeline(
            filenames=[str(video("h264.mp4")), str(video("vp9.webm"))],
            sequence_length=2,
            clips_per_video=3,
            random_shuffle=True,
            num_shards=2,
            settings={"seed": 3, **settings},
        )

    pipeline = make()
    states, given = [], []
    for _ in range(8):
        states.append(json.dumps(pipeline.state_dict()))
        given += take(pipeline, 1)
    pipeline.close()
    for step, state in enumerate(states):
        other = make(num_threads=1 + step % 2, prefetch_queue_depth=1 + step % 3)
        other.load_state_dict(json.loads(state))
        assert take(other, 8 - step) == given[step:], step
        other.close()


def test_thread_count_does_not_change_results(video: Video) -> None:
    arguments: dict[str, Any] = {
        "filenames": [str(video(name)) for name in ("h264.mp4", "hevc.mp4", "vp9_uneven.mkv")],
        "sequence_length": 3,
        "step": 2,
        "pad_mode": "reflect",
        "batch_size": 4,
        "enable_timestamps": True,
        "random_shuffle": True,
    }
    taken = []
    for threads in (1, 4):
        pipeline = reader_pipeline(settings={"num_threads": threads}, **arguments)
        taken.append(take(pipeline, 11))
        pipeline.close()
    assert taken[0] == taken[1]


def test_frames_that_follow_run_in_one_chain(video: Video) -> None:
    def run(optimize: bool) -> tuple[str, list[np.ndarray]]:
        with Pipeline(3, 2, None, seed=4, optimize=optimize) as pipeline:
            frames, label = fn.experimental.readers.video(
                filenames=[str(video("h264.mp4"))], labels=[1], sequence_length=4
            )
            frames = fn.crop(frames, crop=(30, 40), crop_pos_x=fn.random.uniform(range=(0, 1)))
            frames = fn.resize(frames, size=(21, 33))
            pipeline.set_outputs(
                fn.crop_mirror_normalize(frames, std=[50.0], output_layout="FCHW"), label
            )
        text = pipeline.plan()
        samples = [np.array(batch[0].at(i)) for batch in [pipeline.run()] * 2 for i in range(3)]
        pipeline.close()
        return str(text), samples

    for ours, expected in zip(run(True)[1], run(False)[1], strict=True):
        np.testing.assert_array_equal(ours, expected)


def write_broken(folder: Path, video: Video) -> list[str]:
    """Write a text, half a video, and an empty file, all with names of videos."""
    whole = video("h264.mp4").read_bytes()
    for name, content in {
        "text.mp4": b"no video at all",
        "half.mp4": whole[: len(whole) // 2],
        "empty.webm": b"",
    }.items():
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in ("text.mp4", "half.mp4", "empty.webm")]


def test_broken_files_are_bad_samples(video: Video, tmp_path: Path) -> None:
    broken = [*write_broken(tmp_path, video), str(tmp_path / "missing.mp4")]
    names = [broken[0], str(video("h264.mp4")), *broken[1:]]
    arguments: dict[str, Any] = {
        "filenames": names,
        "sequence_length": 10,
        "labels": [0, 1, 2, 3, 4],
    }
    pipeline = reader_pipeline(**arguments)
    assert pipeline.epoch_size("reader") == 3 + 4
    for sample in range(7):
        if 0 < sample < 4:
            assert take(pipeline, 1)[0].others == [[1]]
        else:
            with pytest.raises(SampleError, match="must be a sound video") as caught:
                pipeline.run()
            assert str(names[max(sample - 2, 0)]) in str(caught.value)
    pipeline.close()

    pipeline = reader_pipeline(
        settings={"on_sample_error": "replace", "max_bad_samples": 1.0}, **arguments
    )
    assert {clip.source for clip in take(pipeline, 7)} == {"h264.mp4"}
    assert {Path(bad.source).name for bad in pipeline.bad_samples} == {
        Path(name).name for name in broken
    }
    pipeline.close()


def test_folders_name_the_classes(video: Video, tmp_path: Path) -> None:
    for name in ("b", "a", "empty"):
        (tmp_path / name).mkdir()
    for name in ("a", "b"):
        (tmp_path / name / "clip.webm").write_bytes(video("vp8.webm").read_bytes())
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(
            *fn.experimental.readers.video(file_root=str(tmp_path), sequence_length=1, name="clips")
        )
    assert pipeline.reader_meta("clips")["class_names"] == ["a", "b", "empty"]


def test_other_files_in_a_folder_warn(video: Video, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "notes.txt").write_text("not to be decoded")
    (folder / "a.mp4").write_bytes(video("h264.mp4").read_bytes())
    (folder / "b.unknown").write_bytes(video("vp8.webm").read_bytes())
    with pytest.warns(UserWarning, match=r"notes\.txt' is no video.*left out"):
        found = read(file_root=str(tmp_path), sequence_length=30)
    assert [clip.source for clip in found] == ["a.mp4", "b.unknown"]
    (folder / "broken.mp4").write_bytes(b"no video")
    with (
        pytest.warns(UserWarning, match=r"notes\.txt"),
        pytest.raises(SampleError, match=r"broken\.mp4"),
    ):
        read(file_root=str(tmp_path), sequence_length=30)


def listed(folder: Path, content: str) -> str:
    path = folder / "list.txt"
    path.write_text(content)
    return str(path)


def test_lists_beyond_the_reference(video: Video, tmp_path: Path) -> None:
    path = tmp_path / "with space.mp4"
    path.write_bytes(video("h264.mp4").read_bytes())
    text = f"{path} -3 27\n{path} 2 1.0 100\n"
    frames = read(file_list=listed(tmp_path, text), file_list_format="frames", sequence_length=1)
    assert numbers(frames) == [[27], [28], [29], *([i] for i in range(1, 30))]
    assert [clip.others for clip in frames[:4]] == [[[-3]]] * 3 + [[[2]]]
    times = read(file_list=listed(tmp_path, f"{path} 1 1.0 100\n{path} 2 1.1"), sequence_length=1)
    assert numbers(times) == [[i] for i in (25, 26, 27, 28, 29, 27, 28, 29)]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ("-0.2", (25, 30)),
        ("0 -0.2", (0, 25)),
        ("-1 -0.33", (5, 22)),
        ("-7 -1", (0, 5)),
        ("-0.2 1e300", (0, 30)),
        ("-0.2 0.5", (0, 13)),
    ],
)
def test_negative_times_count_from_the_end(
    video: Video, tmp_path: Path, ends: str, expected: tuple[int, int]
) -> None:
    text = listed(tmp_path, f"{video('h264.mp4')} 0 {ends}")
    assert numbers(read(file_list=text, sequence_length=1)) == [[i] for i in range(*expected)]


def test_negative_times_of_a_late_start(video: Video, tmp_path: Path) -> None:
    """Times are those of the file, whose first one is not 0."""
    text = listed(tmp_path, f"{video('h264_late.mp4')} 0 0.6 -0.8\n{video('h264_late.mp4')} 1 -0.1")
    found = numbers(read(file_list=text, sequence_length=1))
    assert found == [[i] for i in (5, 6, 7, 8, 9, 27, 28, 29)]


@pytest.mark.parametrize("line", ["a.mp4", "a.mp4 text", "a.mp4 1 x", "a.mp4 9999999999", "a\0b 1"])
def test_invalid_lists_raise(tmp_path: Path, line: str) -> None:
    with pytest.raises(ArgumentValueError, match="line 2"):
        read(file_list=listed(tmp_path, f"\n{line}\n"), sequence_length=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sequence_length": 0}, r"sequence_length.* from 1 to .*got 0"),
        ({"stride": 0}, r"stride.* from 1 to .*got 0"),
        ({"sequence_length": 31}, r"at least one video must be long enough .*at most 30 frames"),
        (
            {"labels": [1, 2]},
            r"an entry for each of the 1 files \(got 2\)\. Pass as many",
        ),
        ({"labels": [2**31]}, r"must fit into 32 bits"),
        ({"image_type": types.ANY_DATA}, r"image_type must be RGB"),
        ({"pad_mode": "constant", "fill_value": [1, 2]}, r"fill_value must have one entry"),
        ({"color_matrix": "bt2020nc"}, "color_matrix"),
    ],
    ids=str,
)
def test_invalid_arguments_raise(video: Video, arguments: dict[str, Any], message: str) -> None:
    given = {"filenames": str(video("vp8.webm")), "sequence_length": 3} | arguments
    with pytest.raises(ArgumentValueError, match=message):
        read(**given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of filenames, file_root and file_list must be given"),
        ({"filenames": "a", "file_root": "b"}, "got filenames and file_root"),
        ({"file_root": "b", "labels": [1]}, "labels must come with filenames"),
        ({"filenames": "a", "clips_per_video": 2, "step": 3}, "clips_per_video and step"),
        ({"filenames": "a", "clips_per_video": 2, "uniform_sample": True}, "uniform_sample"),
    ],
    ids=str,
)
def test_contradictions(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        read(sequence_length=3, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"file_root": "."}, r"one folder for each class .*Move them there, or pass their paths"),
        ({"file_list": "none.txt"}, r"'none.txt': No such file or directory\)\. Check the path"),
        ({"file_list": "empty.txt"}, r"at least one file \(got none\)\. Write a path and a label"),
    ],
    ids=str,
)
def test_errors_suggest_the_fix(
    arguments: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").touch()
    with pytest.raises(ArgumentValueError, match=message):
        read(sequence_length=1, **arguments)


def test_frames_of_one_colour(video: Video) -> None:
    pipeline = reader_pipeline(
        filenames=str(video("vp8.webm")),
        sequence_length=32,
        pad_mode="constant",
        fill_value=[1, 2, 3],
    )
    frames = np.array(pipeline.run()[0].at(0))
    pipeline.close()
    assert numbers_of(frames) == [*range(30), -1, -1]
    assert (frames[30:] == [1, 2, 3]).all()
