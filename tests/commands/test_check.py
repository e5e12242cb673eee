"""``dali-core check``: bad files are found, and nothing is decoded twice after an end."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dali_core import _progress_bar as progress_bar
from dali_core.__main__ import main
from dali_core._extras import install_command
from dali_core.commands import _check_state, _checking
from dali_core.commands._checking import Checked, check_files
from dali_core.commands._media import MediaFile, list_media
from tests import video_files
from tests.generated_images import encode, jpeg, photo_like, truncated
from tests.sounds import sound_file, tones

NOT_AN_IMAGE = b"not an image"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with two classes of images, three of which are bad, and other files."""
    root = tmp_path / "photos"
    for label, count in (("cats", 4), ("dogs", 6)):
        (root / label).mkdir(parents=True)
        for number in range(count):
            content = jpeg(photo_like(20 + number, 30, seed=number))
            (root / label / f"{number}.jpg").write_bytes(content)
    (root / "cats" / "1.jpg").write_bytes(truncated(jpeg(photo_like(64, 64)), 0.5))
    (root / "dogs" / "2.jpg").write_bytes(NOT_AN_IMAGE)
    (root / "dogs" / "3.png").write_bytes(encode(photo_like(50, 60), "PNG"))
    (root / "dogs" / "4.jpg").write_bytes(b"")
    (root / "notes.txt").write_text("no image")
    return root


def checked(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> dict[str, Any]:
    target = tmp_path / "report.json"
    status = main(["check", *arguments, "--json", "--out", str(target)])
    report: dict[str, Any] = json.loads(target.read_text())
    assert status == int(report["bad"] > 0)
    capsys.readouterr()
    return report


def test_bad_files_are_found(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = checked(capsys, tmp_path, str(folder))
    assert list(report) == [
        *("path", "files", "good", "bad", "kinds", "formats", "bytes", "sizes", "classes"),
        *("archives", "other_files", "unread_files", "bad_files"),
    ]
    assert (report["files"], report["good"], report["bad"]) == (11, 8, 3)
    assert report["formats"] == {"JPEG": 8, "unknown": 2, "PNG": 1}
    assert report["classes"] == {"cats": 4, "dogs": 7}
    assert report["other_files"] == {".txt": 1}
    # The bad ones are left out: cats of heights 20, 22 and 23, dogs of 20, 21, 23, 25 and 50.
    heights = [20, 20, 21, 22, 23, 23, 25, 50]
    assert report["sizes"]["image"]["height"] == {
        "smallest": 20,
        "median": heights[3],
        "largest": 50,
        "total": sum(heights),
    }
    found = {entry["path"]: entry["reason"] for entry in report["bad_files"]}
    assert list(found) == ["cats/1.jpg", "dogs/2.jpg", "dogs/4.jpg"]
    assert found["cats/1.jpg"].endswith("The file is damaged.")  # whatever decodes JPEG
    assert "12 bytes that start like no known format" in found["dogs/2.jpg"]
    assert "The file is empty." in found["dogs/4.jpg"]


def test_the_report_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "11 files: 8 good, 3 bad"
    assert "image height: 20 to 50, median 22" in lines
    assert "classes: 2; fewest files in 'cats' (4), most in 'dogs' (7)" in lines
    assert [line.split(": ")[1] for line in lines if line.startswith("bad: ")] == [
        *("cats/1.jpg", "dogs/2.jpg", "dogs/4.jpg")
    ]


def test_all_files_are_bad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.jpg").write_bytes(NOT_AN_IMAGE)
    report = checked(capsys, tmp_path, str(folder))
    assert (report["good"], report["bad"]) == (0, 5)
    assert report["sizes"] == {}
    assert len({entry["reason"] for entry in report["bad_files"]}) == 1


def test_lists_and_single_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a b.jpg").write_bytes(jpeg(photo_like(20, 30)))
    (tmp_path / "c").write_bytes(encode(photo_like(20, 30), "PNG"))
    listed = tmp_path / "list.txt"
    listed.write_text("a b.jpg 7\n\nc 8\nnone.jpg\na b.jpg 7\n")
    report = checked(capsys, tmp_path, str(listed))
    assert (report["good"], report["bad"]) == (2, 1)
    assert report["classes"] == {"7": 1, "8": 1}
    (entry,) = report["bad_files"]
    assert entry["path"] == "none.jpg"
    assert "No such file or directory" in entry["reason"]
    assert report["formats"] == {"JPEG": 1, "PNG": 1, "unreadable": 1}
    alone = checked(capsys, tmp_path, str(tmp_path / "a b.jpg"))
    assert (alone["files"], alone["good"]) == (1, 1)


def test_other_than_regular_files_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("pipe.jpg", "pipe.mp4", "pipe.wav"):
        os.mkfifo(folder / name)  # opening it would wait for somebody who writes
    (folder / "lost.jpg").symlink_to("nowhere")
    (folder / "good.jpg").write_bytes(jpeg(photo_like(20, 30)))
    (folder / "loop").symlink_to(folder)
    report = checked(capsys, tmp_path, str(folder))
    assert (report["files"], report["good"]) == (5, 1)
    found = {entry["path"]: entry["reason"] for entry in report["bad_files"]}
    assert found["pipe.wav"].startswith("it must be a regular file")
    assert "No such file or directory" in found["lost.jpg"]


def test_sounds_and_videos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "good.wav").write_bytes(sound_file(tones(1000, 2)))
    (folder / "bad.wav").write_bytes(sound_file(tones(1000))[:20])
    video = video_files.make(folder, "h264.mp4")
    (folder / "bad.mp4").write_bytes(video.read_bytes()[:100])
    damaged = bytearray(video.read_bytes())
    middle = (damaged.index(b"mdat") + len(damaged)) // 2
    damaged[middle : middle + 100] = b"\xff" * 100
    (folder / "damaged.mp4").write_bytes(damaged)
    report = checked(capsys, tmp_path, str(folder))
    assert report["kinds"] == {"video": 3, "audio": 2}
    assert [entry["path"] for entry in report["bad_files"]] == ["bad.mp4", "bad.wav", "damaged.mp4"]
    assert report["sizes"]["audio"]["samples"]["total"] == 1000
    assert report["sizes"]["audio"]["channels"]["largest"] == 2
    frames = len(video_files.frames_of(video))
    assert report["sizes"]["video"]["frames"]["total"] == frames


def test_names_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / os.fsdecode(b"\xff.jpg")).write_bytes(jpeg(photo_like(20, 30)))
    (folder / os.fsdecode(b"\xfe.jpg")).write_bytes(NOT_AN_IMAGE)
    state = str(tmp_path / "state.json")
    first = checked(capsys, tmp_path, str(folder), "--state", state)
    assert [entry["path"] for entry in first["bad_files"]] == [os.fsdecode(b"\xfe.jpg")]
    assert checked(capsys, tmp_path, str(folder), "--state", state) == first


CHILD = """
import os, signal, sys
from dali_core.__main__ import main

# Programs that a shell starts in the background inherit that Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from dali_core.commands import _check_state, _checking

_check_state.SAVING_SECONDS = _check_state.PAUSE = 0
_checking._BATCH["image"] = 2
write, calls = _check_state.write_whole, []

def write_some(path, content):
    calls.append(path)
    if len(calls) == 5:
        # Half a file, which was not moved to its place yet.
        partial = path.parent / f"{path.name}.{os.getpid()}.partial"
        partial.write_text(content[: len(content) // 2])
        os.kill(os.getpid(), int(sys.argv[1]))
    write(path, content)

_check_state.write_whole = write_some
sys.exit(main(["check", *sys.argv[2:]]))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_interrupted_check_resumes(
    number: signal.Signals,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = checked(capsys, tmp_path, str(folder))
    state = tmp_path / "state.json"
    command = [sys.executable, "-c", CHILD, str(int(number)), str(folder), "--state", str(state)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    interrupted = number == signal.SIGINT
    assert done.returncode == (130 if interrupted else -number)
    assert (done.stdout, done.stderr) == ("", "")
    known = json.loads(state.read_text())["files"]
    assert len(known) == (5 if interrupted else 4)
    decoded = []

    def noted(files: list[MediaFile], num_threads: int) -> Iterator[tuple[MediaFile, Checked]]:
        decoded.extend(file.path for file in files)
        return check_files(files, num_threads)

    monkeypatch.setattr(_checking, "check_files", noted)
    assert checked(capsys, tmp_path, str(folder), "--state", str(state)) == expected
    assert len(decoded) == expected["files"] - len(known)
    assert not set(decoded) & set(known)


def test_changed_files_are_decoded_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = str(tmp_path / "state.json")
    checked(capsys, tmp_path, str(folder), "--state", state)
    (folder / "dogs" / "4.jpg").write_bytes(jpeg(photo_like(20, 30)))
    (folder / "cats" / "0.jpg").unlink()
    report = checked(capsys, tmp_path, str(folder), "--state", state)
    assert [entry["path"] for entry in report["bad_files"]] == ["cats/1.jpg", "dogs/2.jpg"]
    assert report["files"] == 10


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 9}', '{"version": 1, "files": {"a": 1}}']
)
def test_other_files_as_state_raise(
    content: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state.json"
    state.write_text(content)
    assert main(["check", str(folder), "--state", str(state)]) == 2
    assert "--state must be a file that this command has written" in capsys.readouterr().err
    assert state.read_text() == content


def test_the_state_is_written_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    file = MediaFile("a", str(tmp_path / "a"), "image", None)
    now = [0.0]
    monkeypatch.setattr(_check_state.time, "monotonic", lambda: now[0])
    state = _check_state.CheckState(path)
    state.add(file, Checked("bad"))
    assert not path.exists()
    now[0] = _check_state.SAVING_SECONDS
    state.add(file, Checked("bad"))
    assert _check_state.CheckState(path).get(file) == Checked("bad")


def test_a_picture(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "sizes.png"
    assert main(["check", str(folder), "--picture", str(target)]) == 1
    pixels = np.asarray(Image.open(io.BytesIO(target.read_bytes())).convert("L"))
    assert pixels.shape[0] > 200
    assert 0.01 < np.mean(pixels < 128) < 0.9
    wrong = tmp_path / "sizes.nothing"
    assert main(["check", str(folder), "--picture", str(wrong)]) == 2
    assert "--picture must be" in capsys.readouterr().err
    assert not wrong.exists()


def test_a_picture_without_matplotlib(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["check", str(folder), "--picture", "never.png"]) == 2
    assert f"Run {install_command('check')}." in capsys.readouterr().err


def test_nothing_to_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none")]) == 2
    assert "which does not exist" in capsys.readouterr().err
    (tmp_path / "a.txt").write_text("a")
    assert main(["check", str(tmp_path)]) == 2
    assert "there must be images, audio or videos" in capsys.readouterr().err


def test_files_come_in_the_order_of_their_names(folder: Path) -> None:
    files, _ = list_media(str(folder))
    assert [file.name for file in files] == sorted(file.name for file in files)


def test_folder_deleted_while_listing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [file.name for file in list_media(str(folder))[0]]
    goes = folder / "goes"
    goes.mkdir()
    scan = os.scandir

    def scan_after_others(path: str) -> Any:
        if os.fspath(path) == str(goes):
            goes.rmdir()
        return scan(path)

    monkeypatch.setattr(os, "scandir", scan_after_others)
    assert [file.name for file in list_media(str(folder))[0]] == expected
    assert not goes.exists()


@pytest.mark.parametrize("has_bar", [True, False])
def test_progress(
    has_bar: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_bar:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    results = progress_bar.with_progress(
        range(5, 20), 20, True, unit="file", title="Check", initial=5
    )
    assert list(results) == list(range(5, 20))
    shown = capsys.readouterr().err
    assert ("20/20" if has_bar else "Check: 20 of 20 files\n") in shown
    hidden = progress_bar.with_progress(range(3), 3, False, unit="file")
    assert list(hidden) == [0, 1, 2]
    assert capsys.readouterr().err == ""
