"""Conventions of all commands of ``dali-core``: help, suggestions, standard output, suffixes."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dali_core
from dali_core import Pipeline, fn
from dali_core.__main__ import main
from tests.forgotten_modules import forgotten_modules
from tests.generated_images import jpeg, photo_like

SCRIPT = """
from dali_core import Pipeline, fn, pipeline_def, types

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def from_folder(folder, size):
    return fn.random.uniform(range=[0, 1], shape=[size])

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def images():
    return fn.random.uniform(range=[0, 255], shape=[6, 8, 3], dtype=types.UINT8)

ready = images()
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loaders.py").write_text(SCRIPT)
    with forgotten_modules(tmp_path):
        yield "loaders.py"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    root = tmp_path / "photos"
    for name in ("cats", "dogs"):
        (root / name).mkdir(parents=True)
        (root / name / "1.jpg").write_bytes(jpeg(photo_like(16, 16)))
    (root / "dogs" / "2.jpg").write_bytes(b"not an image")
    (root / "dogs" / "3 x.jpg").write_bytes(jpeg(photo_like(16, 16)))
    return root


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"dali_core {dali_core.__version__}\n"


def test_no_arguments_print_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("usage: dali-core")
    assert "decode a data set" in shown.out
    assert shown.err == ""


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["chek", "photos"], "check"),
        (["show", "a.py:b", "--sample", "3", "--reprot"], "--report"),
        (["bench", ".", "--batchsize=3"], "--batch-size"),
        (["completion", "bsh"], "bash"),
    ],
)
def test_suggestions(
    arguments: list[str], suggestion: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert f"Did you mean {suggestion}?\n" in capsys.readouterr().err


def test_no_suggestion_for_other_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["info", "--zzz"])
    error = capsys.readouterr().err
    assert "unrecognized arguments: --zzz" in error
    assert "Did you mean" not in error


@pytest.mark.parametrize("command", ["check", "bench"])
def test_json_to_standard_output_or_a_file(
    command: str, photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--seconds", "0", "--rounds", "1", "--max-threads", "1"] if command == "bench" else []
    for out in ([], ["--out", "-"]):
        main([command, str(photos), *short, "--json", *out])
        assert json.loads(capsys.readouterr().out)["path"] == str(photos)
    target = photos.parent / "report"
    main([command, str(photos), *short, "--json", "--out", str(target)])
    assert json.loads(target.read_text())["path"] == str(photos)
    main([command, str(photos), *short, "--out", str(target)])
    assert "1 thread;" in target.read_text() if command == "bench" else True
    assert capsys.readouterr().out == ""


def test_check_suggests_a_list_of_good_files(
    photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(photos)]) == 1
    assert "--write-list good.txt" in capsys.readouterr().out
    (photos / "dogs" / "2.jpg").unlink()
    assert main(["check", str(photos)]) == 0
    assert "--write-list" not in capsys.readouterr().out


def labels_of(pipeline: Pipeline, num_files: int) -> list[int]:
    with pipeline:
        labels = pipeline.run()[1].as_array().ravel().tolist()
    assert len(labels) == num_files
    return [int(label) for label in labels]


@pytest.mark.parametrize("place", [".", "below", "photos"])
def test_list_of_good_files(
    place: str, photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / place).mkdir(exist_ok=True)
    target = tmp_path / place / "good.txt"
    assert main(["check", str(photos), "--write-list", str(target)]) == 1
    capsys.readouterr()
    pipeline = Pipeline(batch_size=3, num_threads=1, device_id=None)
    with pipeline:
        encoded, label = fn.readers.file(file_list=str(target))
        pipeline.set_outputs(fn.decoders.image(encoded), label)
    assert labels_of(pipeline, 3) == [0, 1, 1]


def test_list_keeps_labels_of_a_list(
    photos: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    listed = tmp_path / "all.txt"
    listed.write_text("photos/cats/1.jpg 7\nphotos/dogs/2.jpg 3\nphotos/dogs/3 x.jpg -2\n")
    assert main(["check", str(listed), "--write-list", str(tmp_path / "good.txt")]) == 1
    written = (tmp_path / "good.txt").read_text()
    assert written == "photos/cats/1.jpg 7\nphotos/dogs/3 x.jpg -2\n"
    capsysbinary.readouterr()
    main(["check", str(listed), "--write-list", "-"])
    assert capsysbinary.readouterr().out.endswith(b"dogs/3 x.jpg -2\n")


def test_list_of_a_name_with_a_line_feed(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (photos / "cats" / "a\nb.jpg").write_bytes(jpeg(photo_like(16, 16)))
    assert main(["check", str(photos), "--write-list", str(tmp_path / "good.txt")]) == 2
    assert "must have no line feeds (got 'cats/a\\nb.jpg')" in capsys.readouterr().err
    assert not (tmp_path / "good.txt").exists()


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.dat", b"GIF89a" + bytes(20), "GIF image"),
        ("a.txt.gz", gzip.compress(b"x" * 9, mtime=0), "gzip file"),
        ("a.zip", b"PK\x03\x04" + bytes(20), "ZIP archive"),
        ("a.bin", bytes(range(256)), "binary file"),
    ],
)
def test_binary_files_are_named_not_printed(
    name: str, content: bytes, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["check", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert kind in error


def test_a_pipeline_as_target(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", f"{script}:ready", "--batches", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["consumer"]["batches"] == 2
    assert main(["trace", f"{script}:ready", "--arg", "a=1"]) == 2
    assert "takes no arguments (got --arg" in capsys.readouterr().err


def test_missing_arguments_are_named(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", f"{script}:from_folder", "--arg", "size=3"]) == 2
    assert "arguments folder (got none). Add --arg folder=VALUE." in capsys.readouterr().err
    assert main(["show", f"{script}:from_folder"]) == 2
    assert "Add --arg folder=VALUE --arg size=VALUE." in capsys.readouterr().err


def test_trace_without_a_file_name(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", f"{script}:images", "--batches", "2"]) == 0
    assert json.loads(Path("trace.json").read_text())["traceEvents"]
    assert capsys.readouterr().out.startswith("2 batches in ")


def test_trace_to_standard_output(script: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["trace", f"{script}:images", "--batches", "2", "--out", "-"]) == 0
    shown = capsysbinary.readouterr()
    assert json.loads(shown.out)["traceEvents"]
    assert shown.err.startswith(b"2 batches in ")
    assert not Path("trace.json").exists()


def test_suffix_says_picture_or_report(
    script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(
        Pipeline, "report", lambda self, path, samples: written.append(str(path)), raising=False
    )
    assert main(["show", f"{script}:images", "--out", "r.HTML"]) == 0
    assert written == ["r.HTML"]
    capsys.readouterr()
    for wrong in (["--report", "--out", "r.png"], ["--out", "r.txt"], ["--out", "r"]):
        assert main(["show", f"{script}:images", *wrong]) == 2
        assert "--out must be a file with one of the suffixes" in capsys.readouterr().err


def test_picture_to_standard_output(
    script: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    pytest.importorskip("PIL", reason="not available: Pillow", exc_type=ImportError)
    assert main(["show", f"{script}:images", "--out", "-", "--samples", "1"]) == 0
    assert capsysbinary.readouterr().out.startswith(b"\x89PNG\r\n")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not importlib.util.find_spec("shtab"):
        pytest.skip("not available: shtab")
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "--write-list" in text
    assert "dali-core" in text
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)


def test_completion_without_its_library(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "Run pip install shtab." in capsys.readouterr().err


def test_report_with_names_that_are_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "photos" / "cats"
    folder.mkdir(parents=True)
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.jpg")).write_bytes(b"x")
    Path(folder, "1.jpg").write_bytes(jpeg(np.zeros((8, 8, 3), np.uint8)))
    assert main(["check", str(tmp_path / "photos"), "--out", str(tmp_path / "r.txt")]) == 1
    assert "cats/\\udcff.jpg" in (tmp_path / "r.txt").read_text()
    target = tmp_path / "good.txt"
    assert main(["check", str(tmp_path / "photos"), "--write-list", str(target)]) == 1
    assert target.read_bytes() == b"photos/cats/1.jpg 0\n"
    capsys.readouterr()
