"""``dali-core check``: what is in tar archives and Parquet files."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core.__main__ import main
from dali_core.commands._archives import with_members
from dali_core.commands._media import MediaFile, list_media
from tests import video_files
from tests.generated_images import encode, jpeg, photo_like
from tests.sounds import sound_file, tones


def image(number: int) -> bytes:
    return jpeg(photo_like(20 + number, 30, seed=number))


def write_tar(path: Path, members: Mapping[str, bytes], form: int = tarfile.USTAR_FORMAT) -> Path:
    with tarfile.open(path, "w", format=form) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def report_of(source: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    status = main(["check", str(source), "--json", *options])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == int(report["bad"] > 0)
    return report


def bad_in(report: dict[str, Any]) -> dict[str, str]:
    return {entry["path"]: entry["reason"] for entry in report["bad_files"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    root.mkdir()
    return root


def test_members_of_tar_archives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    members: dict[str, bytes] = {}
    for number in range(4):
        members[f"{number}.jpg"] = image(number)
        members[f"{number}.cls"] = b"%d" % number
    members["2.jpg"] = b"no image"
    members["photo"] = encode(photo_like(50, 60), "PNG")  # known by its content
    members["5.gif"] = encode(photo_like(8, 8), "GIF")
    members[".hidden.jpg"] = b"readers leave it out"
    members["6.wav"] = sound_file(tones(700))
    write_tar(folder / "a.tar", members)
    write_tar(folder / "b.tar", {"0.jpg": image(9)})
    report = report_of(folder, capsys)
    assert report["kinds"] == {"image": 6, "audio": 1}
    assert report["formats"] == {"JPEG": 4, "unknown": 1, "PNG": 1, "WAVE": 1}
    assert report["archives"] == {str(folder / "a.tar"): 6, str(folder / "b.tar"): 1}
    assert list(bad_in(report)) == ["a.tar:2.jpg"]
    assert report["sizes"]["image"]["height"]["largest"] == 50
    assert report["sizes"]["audio"]["samples"]["largest"] == 700
    assert report["bytes"]["smallest"] == len(b"no image")
    assert report["other_files"] == {".cls": 4, ".gif": 1}
    assert report["unread_files"] == [
        {"content": "GIF image", "reason": "content", "names": ["a.tar:5.gif"]}
    ]


def test_videos_in_archives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    video = video_files.make(folder.parent, "h264.mp4")
    content = video.read_bytes()
    write_tar(folder / "a.tar", {"0.mp4": content, "1.mp4": content[:100]})
    report = report_of(folder / "a.tar", capsys)
    assert report["kinds"] == {"video": 2}
    assert report["sizes"]["video"]["frames"]["total"] == len(video_files.frames_of(video))
    ((name, reason),) = bad_in(report).items()
    assert name == "a.tar:1.mp4"
    assert str(folder) not in reason.replace(str(folder / "a.tar"), "")  # of no temporary file


def test_archives_that_lie(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write_tar(folder.parent / "whole.tar", {f"{n}.jpg": image(n) for n in range(4)})
    content = bytearray(whole.read_bytes())
    (folder / "cut.tar").write_bytes(content[: len(content) // 2])
    damaged = content.copy()
    damaged[148:156] = b"7777777\0"  # the checksum of the first header
    (folder / "damaged.tar").write_bytes(damaged)
    huge = content.copy()
    huge[124:136] = b"77777777777\0"  # 8 GiB
    huge[148:156] = b" " * 8
    huge[148:156] = b"%06o\0 " % sum(huge[:512])
    (folder / "huge.tar").write_bytes(huge)
    (folder / "empty.tar").write_bytes(b"")
    (folder / "text.tar").write_text("no archive")
    (folder / "image.tar").write_bytes(image(1))  # an image with the name of an archive
    os.mkfifo(folder / "pipe.tar")
    (folder / "lost.tar").symlink_to("nowhere")
    report = report_of(folder, capsys)
    found = bad_in(report)
    archives = {name.partition(":")[0] for name in found}
    assert {"cut.tar", "damaged.tar", "huge.tar", "text.tar"} <= archives
    assert not {"image.tar", "pipe.tar"} & archives
    assert report["good"] >= 2
    assert all(reason for reason in found.values())


@pytest.mark.parametrize("kind", ["tar", "parquet"])
def test_mutated_archives_end_with_a_report(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DALI_CORE_INDEX_CACHE", "")
    path = folder / f"a.{kind}"
    if kind == "tar":
        write_tar(path, {f"{n}.jpg": image(n) for n in range(3)})
    else:
        pytest.importorskip("pyarrow", reason="not available: pyarrow")
        TestParquet.write(path, {"a": [image(n) for n in range(6)]}, row_group_size=2)
    whole = path.read_bytes()
    generator = np.random.default_rng(0)
    for _ in range(40):
        mutated = np.frombuffer(whole, np.uint8).copy()
        count = generator.choice([1, 2, 30])
        # Half of the changes are where the structure is: in headers, or in the footer.
        places = generator.integers(0, len(whole), count)
        structure = generator.integers(0, 512, count)
        places[::2] = (structure if kind == "tar" else len(whole) - 1 - structure)[::2]
        mutated[places] = generator.integers(0, 256, count)
        path.write_bytes(mutated[: generator.integers(1, len(whole)) if count == 2 else None])
        report = report_of(folder, capsys)
        assert report["files"] == report["good"] + report["bad"] > 0


def test_names_that_are_no_paths(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("../../escape.jpg", "/absolute.jpg", "line\nfeed.jpg", "a\x1b[31m.jpg", "ä.jpg")
    write_tar(folder / "a.tar", dict.fromkeys(names, b"bad"), tarfile.PAX_FORMAT)
    assert main(["check", str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("bad: a.tar:")]) == len(names)
    assert not any("\x1b" in line for line in lines)
    assert list(folder.parent.iterdir()) == [folder]


def test_members_are_checked_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_tar(folder / "a.tar", {"0.jpg": image(0), "1.jpg": b"bad", "2.jpg": b"worse"})
    state = folder.parent / "state.json"
    first = report_of(folder, capsys, "--state", str(state))
    assert len(json.loads(state.read_text())["files"]) == 3
    assert report_of(folder, capsys, "--state", str(state)) == first
    write_tar(path, {"0.jpg": image(0), "1.jpg": image(1), "2.jpg": b"worse, and longer"})
    os.utime(path, ns=(1, 1))
    assert list(bad_in(report_of(folder, capsys, "--state", str(state)))) == ["a.tar:2.jpg"]


def test_lists_have_files_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tar(folder / "a.tar", {"0.jpg": image(0)})
    target = folder.parent / "good.txt"
    assert main(["check", str(folder), "--write-list", str(target)]) == 2
    assert "members of archives do not count" in capsys.readouterr().err
    assert not target.exists()
    (folder / "b.jpg").write_bytes(image(1))
    assert main(["check", str(folder), "--write-list", str(target)]) == 0
    assert "The 1 members of archives are not in the list" in capsys.readouterr().out
    assert target.read_text() == "data/b.jpg 0\n"


class TestParquet:
    @pytest.fixture(autouse=True)
    def _pyarrow(self) -> None:
        pytest.importorskip("pyarrow", reason="not available: pyarrow")

    @staticmethod
    def write(path: Path, columns: dict[str, Any], **options: Any) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), path, **options)

    def test_columns_with_images(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        values = [None, *map(image, range(5)), b"no image"]
        structs = [{"bytes": value, "path": "a.jpg"} for value in map(image, range(7))]
        columns = {"x": list(range(7)), "own": values, "hf": structs, "other": [b"text"] * 7}
        self.write(folder / "a.parquet", columns, row_group_size=3)
        report = report_of(folder, capsys)
        assert report["kinds"] == {"image": 14}
        assert report["formats"] == {"in Parquet": 14}
        found = bad_in(report)
        assert list(found) == ["a.parquet:own[0]", "a.parquet:own[6]"]
        assert "got null" in found["a.parquet:own[0]"]
        assert "no known format" in found["a.parquet:own[6]"]
        assert report["sizes"]["image"]["height"]["largest"] == 26

    def test_sounds_and_videos(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        video = video_files.make(folder.parent, "h264.mp4").read_bytes()
        columns = {"sound": [sound_file(tones(700))] * 2, "video": [video, video[:100]]}
        self.write(folder / "a.parquet", columns)
        report = report_of(folder, capsys)
        assert report["kinds"] == {"audio": 2, "video": 2}
        assert list(bad_in(report)) == ["a.parquet:video[1]"]

    def test_files_that_lie(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.write(folder / "good.parquet", {"a": [image(0)] * 6}, row_group_size=2)
        content = bytearray((folder / "good.parquet").read_bytes())
        (folder / "cut.parquet").write_bytes(content[:-20])
        content[100:400] = b"\xff" * 300  # of the first row group
        (folder / "damaged.parquet").write_bytes(content)
        # Runs of equal values claim any number of rows.
        self.write(folder / "rows.parquet", {"a": [image(0)] * 100_000})
        report = report_of(folder, capsys)
        found = bad_in(report)
        assert "100000 rows in" in found["rows.parquet"]
        assert "the file must be readable" in found["cut.parquet"]
        rest = {name for name in found if name.startswith("damaged.parquet")}
        assert rest
        assert not any(name.startswith("good.parquet") for name in found)

    def test_without_pyarrow(
        self,
        folder: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        self.write(folder / "a.parquet", {"a": [image(0)]})
        (folder / "b.jpg").write_bytes(image(0))
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert main(["check", str(folder)]) == 0
        shown = capsys.readouterr().out
        assert "a.parquet: reading Arrow and Parquet needs pyarrow" in shown


def test_archives_by_content_and_name(folder: Path) -> None:
    write_tar(folder / "shard-000", {"0.jpg": image(0)})
    (folder / "notes.txt").write_text("text")
    files, others = list_media(str(folder))
    assert files == []
    members, rest, remarks = with_members(others)
    assert [file.name for file in members] == ["shard-000:0.jpg"]
    assert [file.name for file in rest] == ["notes.txt"]
    assert remarks == []
    assert MediaFile("0.jpg", str(folder), "image", None).archive() == ""
