"""``dali-core check``: files are told apart by name and by content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
    assert others == {".txt": 1, ".csv": 1, ".heic": 1, "(none)": 1}


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


def test_a_mark_in_front_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(jpeg(photo_like(20, 30)))
    listed = tmp_path / "list.txt"
    listed.write_bytes(b"\xef\xbb\xbfa.jpg 3\n")
    (file,) = list_media(str(listed))[0]
    assert (file.name, file.label) == ("a.jpg", "3")
