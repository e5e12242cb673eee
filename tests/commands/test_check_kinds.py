"""``dali-core check``: files are told apart by name and by content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.__main__ import main
from dali_core.commands._media import list_media
from tests.generated_images import encode, jpeg, photo_like
from tests.sounds import sound_file, tones

SOUNDS = {
    "a.opus": ("OGG", "OPUS"),
    "a.oga": ("OGG", "VORBIS"),
    "a.aiff": ("AIFF", None),
    "a.aif": ("AIFF", None),
    "a.au": ("AU", None),
    "a.snd": ("AU", None),
    "a.caf": ("CAF", None),
    "a.w64": ("W64", None),
    "a.wave": ("WAV", None),
    "nothing": ("FLAC", None),
    "a.part": ("RF64", None),
    "a.AIFC": ("AIFF", None),
}


def report_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    target = folder.parent / "report.json"
    status = main(["check", str(folder), "--json", "--out", str(target)])
    report: dict[str, Any] = json.loads(target.read_text())
    assert status == int(report["bad"] > 0)
    capsys.readouterr()
    return report


def test_sounds_of_all_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for name, (form, subtype) in SOUNDS.items():
        (folder / name).write_bytes(sound_file(tones(500), form, subtype))
    report = report_of(folder, capsys)
    assert report["kinds"] == {"audio": len(SOUNDS)}
    assert (report["bad"], report["other_files"]) == (0, {})
    assert "unknown" not in report["formats"]
    # A name is enough for what is damaged in its first bytes.
    (folder / "b.opus").write_bytes(b"no sound")
    assert [entry["path"] for entry in report_of(folder, capsys)["bad_files"]] == ["b.opus"]


def test_content_where_names_say_nothing(tmp_path: Path) -> None:
    photo = photo_like(20, 30)
    files = {
        "a": jpeg(photo),
        "b.dat": encode(photo, "PNG"),
        "c.txt": b"BM is how this text begins",
        "d.csv": b"P5 text",
        "e.heic": b"\0\0\0\x18ftypheic\0\0\0\0",
        "f": b"",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    found, others = list_media(str(tmp_path))
    assert {file.name: file.kind for file in found} == {"a": "image", "b.dat": "image"}
    assert {file.name: file.content() for file in others} == {
        "c.txt": "text",
        "d.csv": "text",
        "e.heic": "HEIC image",
        "f": "empty file",
    }


@pytest.mark.parametrize(
    ("name", "codec", "form"),
    [("a.webm", "libopus", "webm"), ("a.mp4", "aac", "mp4"), ("a.mkv", "libopus", "matroska")],
)
def test_sound_in_files_of_videos(
    name: str, codec: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no damage, so nothing makes a user delete it."""
    av = pytest.importorskip("av", reason="not available: PyAV")
    folder = tmp_path / "data"
    folder.mkdir()
    with av.open(folder / name, "w", format=form) as container:
        stream = container.add_stream(codec, rate=48000, layout="mono")
        context = stream.codec_context
        context.open()
        samples = np.ascontiguousarray(tones(9600, 1, rate=48000).T)
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
        frame.sample_rate = 48000
        split = av.AudioResampler(
            format=context.format.name,
            layout="mono",
            rate=48000,
            frame_size=context.frame_size,
        )
        for part in (*split.resample(frame), *split.resample(None), None):
            container.mux(stream.encode(part))
    (folder / "b.mp4").write_bytes(b"no video")
    (folder / "c.jpg").write_bytes(jpeg(photo_like(20, 30)))
    report = report_of(folder, capsys)
    assert [entry["path"] for entry in report["bad_files"]] == ["b.mp4"]
    assert (report["files"], report["good"]) == (2, 1)
    assert report["other_files"] == {f"{Path(name).suffix} with sound only": 1}


def test_files_that_readers_leave_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    photo = photo_like(20, 30)
    folder = tmp_path / "photos"
    (folder / "cats").mkdir(parents=True)
    contents = {
        "0.jpg": jpeg(photo),
        "1.GIF": encode(photo, "GIF"),
        "2": encode(photo, "GIF"),
        "3.avif": b"\0\0\0\x20ftypavif\0\0\0\0",
        "4": jpeg(photo),
        "5.opus": sound_file(tones(500), "OGG", "OPUS"),
        "6.aiff": sound_file(tones(500), "AIFF"),
        "7.jpg.gz": b"\x1f\x8b\x08\0",
        "8.npy": b"\x93NUMPY\x01\0",
        "9.md": b"# text",
    }
    for name, content in contents.items():
        (folder / "cats" / name).write_bytes(content)
    report = report_of(folder, capsys)
    assert (report["good"], report["bad"]) == (4, 0)
    found = {(one["content"], one["reason"]): one["names"] for one in report["unread_files"]}
    assert found == {
        ("audio", "name"): ["cats/5.opus", "cats/6.aiff"],
        ("image", "name"): ["cats/4"],
        ("GIF image", "content"): ["cats/2", "cats/1.GIF"],
        ("AVIF image", "content"): ["cats/3.avif"],
        ("gzip file", "content"): ["cats/7.jpg.gz"],
        ("NumPy file", "content"): ["cats/8.npy"],
        ("text", "content"): ["cats/9.md"],
    }
    assert main(["check", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert 'Pass file_filters=["*.aiff", "*.opus"] to fn.readers.file' in shown
    assert "no decoder takes: AVIF image 1 ('cats/3.avif'). Convert them to JPEG or PNG." in shown
    assert "fn.readers.numpy reads them." in shown
    assert "--write-list good.txt" in shown


def test_list_includes_files_of_unusual_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels are those of `file_root`, also if all files of a class are bad."""
    for label in ("a", "b", "c"):
        (tmp_path / "photos" / label).mkdir(parents=True)
    (tmp_path / "photos" / "a" / "0.jpg").write_bytes(b"bad")
    (tmp_path / "photos" / "b" / "1.jpg").write_bytes(jpeg(photo_like(20, 30)))
    (tmp_path / "photos" / "c" / "2").write_bytes(jpeg(photo_like(21, 30)))
    target = tmp_path / "good.txt"
    assert main(["check", str(tmp_path / "photos"), "--write-list", str(target)]) == 1
    assert "good.txt" not in capsys.readouterr().out
    assert target.read_text() == "photos/b/1.jpg 1\nphotos/c/2 2\n"
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipeline:
        encoded, label = fn.readers.file(file_list=str(target))
        pipeline.set_outputs(fn.shapes(fn.decoders.image(encoded)), label)
    shapes, labels = pipeline.run()
    assert shapes.as_array()[:, 0].tolist() == [20, 21]
    assert labels.as_array().ravel().tolist() == [1, 2]


def test_folders_without_media(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        (tmp_path / f"{number}.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0")
    assert main(["check", str(tmp_path)]) == 2
    assert "got 3 other files: HEIC image 3" in capsys.readouterr().err


def test_gifs_alone_are_videos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("av", reason="not available: PyAV")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.gif").write_bytes(encode(photo_like(20, 30), "GIF"))
    assert report_of(folder, capsys)["kinds"] == {"video": 1}


def test_a_mark_in_front_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(jpeg(photo_like(20, 30)))
    listed = tmp_path / "list.txt"
    listed.write_bytes(b"\xef\xbb\xbfa.jpg 3\n")
    (file,) = list_media(str(listed))[0]
    assert (file.name, file.label) == ("a.jpg", "3")
