"""``dali-core new``: programs to start from, each of which trains on a small data set."""

from __future__ import annotations

import ast
import importlib.util
import json
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from dali_core.__main__ import main
from dali_core.commands.new import program_kinds
from tests.forgotten_modules import forgotten_modules
from tests.generated_images import encode, jpeg, photo_like
from tests.sounds import sound_file, tones


def make_photos(folder: Path) -> None:
    for name in ("cat", "dog"):
        (folder / "photos" / name).mkdir(parents=True)
        for number in range(3):
            photo = jpeg(photo_like(40, 50, seed=number))
            (folder / "photos" / name / f"{number}.jpg").write_bytes(photo)


def make_masks(folder: Path) -> None:
    for name in ("images", "masks"):
        (folder / name).mkdir()
    for number in range(3):
        (folder / "images" / f"{number}.jpg").write_bytes(jpeg(photo_like(40, 50, seed=number)))
        mask = (photo_like(40, 50, 1, seed=number) > 128).astype(np.uint8)
        (folder / "masks" / f"{number}.png").write_bytes(encode(mask, "PNG"))


def make_annotations(folder: Path) -> None:
    (folder / "images").mkdir()
    images, annotations = [], []
    for number in range(3):
        (folder / "images" / f"{number}.jpg").write_bytes(jpeg(photo_like(60, 80, seed=number)))
        name = {"file_name": f"{number}.jpg", "width": 80, "height": 60}
        images.append({"id": number, **name})
        for left in range(5, 10 * number + 15, 10):
            box = {"bbox": [left, 10, 30, 40], "category_id": 7, "area": 1200, "iscrowd": 0}
            annotations.append({"id": len(annotations), "image_id": number, **box})
    listed = {"images": images, "annotations": annotations, "categories": [{"id": 7}]}
    (folder / "annotations.json").write_text(json.dumps(listed))


def make_videos(folder: Path) -> None:
    pytest.importorskip("av", reason="not available: PyAV")
    from docs.generator import pictures

    pictures.make_videos(folder)


def make_sounds(folder: Path) -> None:
    for label, name in enumerate(("no", "yes")):
        (folder / "sounds" / name).mkdir(parents=True)
        for number in range(2):
            sound = tones(9000 + 9000 * number, seed=label)
            (folder / "sounds" / name / f"{number}.wav").write_bytes(sound_file(sound))


DATA: dict[str, tuple[Callable[[Path], None], str]] = {
    "audio": (make_sounds, "torch"),
    "classifier": (make_photos, "torch"),
    "detection": (make_annotations, "torch"),
    "jax": (make_photos, "jax"),
    "segmentation": (make_masks, "torch"),
    "video": (make_videos, "torch"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("DALI_CORE_VIDEO_CACHE", str(tmp_path / "cache"))
    with forgotten_modules(tmp_path):
        yield tmp_path


def test_kinds() -> None:
    assert program_kinds() == list(DATA)


@pytest.mark.parametrize("kind", DATA)
def test_programs_are_guarded_and_say_their_name(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "my-program.py", "--kind", kind]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "my-program.py",
        "Next: python my-program.py --help",
        "      dali-core show my-program.py:pipeline",
        "      dali-core bench my-program.py:pipeline",
    ]
    text = Path("my-program.py").read_text("utf-8")
    program = ast.parse(text)
    assert ast.unparse(program.body[-1]).startswith("if __name__ == '__main__':\n    main()")
    doc = ast.get_docstring(program)
    assert doc is not None
    assert {"python my-program.py --", "dali-core bench my-program.py:pipeline"} <= {
        line.strip().partition("  ")[0].partition("--")[0] + "--" * ("--" in line)
        for line in doc.splitlines()
    }
    assert f"{kind}.py" not in text


@pytest.mark.parametrize("kind", DATA)
def test_programs_are_measured(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    framework = "torch" if kind != "jax" else "jax"
    pytest.importorskip(framework, reason=f"not available: {framework}")
    make, _ = DATA[kind]
    make(folder)
    assert main(["new", "mine.py", "--kind", kind]) == 0
    capsys.readouterr()
    short = ["--batch-size", "2", "--seconds", "0", "--rounds", "1", "--max-threads", "1"]
    assert main(["bench", "mine.py:pipeline", *short, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["batch_size"] == 2
    if importlib.util.find_spec("PIL") and importlib.util.find_spec("jinja2"):
        assert main(["show", "mine.py:pipeline", "--samples", "1", "--out", "a.png"]) == 0
        assert Path("a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", DATA)
def test_programs_train(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make, framework = DATA[kind]
    pytest.importorskip(framework, reason=f"not available: {framework}")
    make(folder)
    assert main(["new", kind]) == 0
    (program,) = folder.glob("*.py")
    assert program.name == ("train_jax.py" if kind == "jax" else f"{kind}.py")
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", [program.name, "--epochs", "2"])
    runpy.run_path(program.name, run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 0", "epoch 1"]
    assert not any("nan" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clasifier.py"], "Did you mean classifier.py?"),
        (["program.py"], "one of the kinds audio, classifier, detection, jax"),
        (["program"], "the suffix .py (got 'program')"),
        (["detector"], "Did you mean detection.py?"),
        (["a b_video.py"], "a name of letters, digits"),
        (['x"""_video.py'], "a name of letters, digits"),
        (["jax.py"], "must not be called like a module (got 'jax.py', which would be imported"),
        (["random.py", "--kind", "video"], "must not be called like a module"),
        (["no_such_folder/video.py"], "No such file or directory"),
    ],
)
def test_names_that_are_refused(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert list(folder.iterdir()) == []


def test_files_are_never_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("video.py").write_text("mine")
    Path("audio.py").symlink_to(folder / "elsewhere")
    for name in ("video.py", "video", "audio.py"):
        assert main(["new", name]) == 2
        assert "the file must not exist yet" in capsys.readouterr().err
    assert Path("video.py").read_text() == "mine"
    assert not (folder / "elsewhere").exists()


def test_kinds_by_name(folder: Path) -> None:
    (folder / "sub").mkdir()
    for name, word in (("train_video.py", "videos"), ("sub/audio-2.py", "sounds")):
        assert main(["new", name]) == 0
        assert Path(name).read_text().startswith(f'"""Train a classifier on {word}')
