"""Loaders for folders: what they give, and the programs that they show."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import dali_core
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
)
from tests import video_files

RANDOM = np.random.default_rng(0)
SMALL: dict[str, Any] = {"batch_size": 4, "num_threads": 2}


def save(path: Path, height: int, width: int = 20, channels: int = 3, most: int = 256) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = (height, width) if channels == 1 else (height, width, channels)
    Image.fromarray(RANDOM.integers(0, most, shape, np.uint8)).save(path)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for number in range(10):
        save(tmp_path / "photos" / ("cat", "dog")[number % 2] / f"{number}.png", 24 + number)
    return tmp_path / "photos"


@pytest.fixture
def table(tmp_path: Path, photos: Path) -> Path:
    paths = sorted(str(path.relative_to(tmp_path)) for path in photos.rglob("*.png"))
    with open(tmp_path / "table.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "kind", "Age (years)", "class"])
        for number, path in enumerate(paths):
            writer.writerow([path, path.split(os.sep)[1], number, number / 2])
    return tmp_path / "table.csv"


@pytest.fixture
def masks(tmp_path: Path) -> tuple[Path, Path]:
    for number in range(5):
        save(tmp_path / "images" / "a" / f"{number}.png", 20 + number)
        save(tmp_path / "masks" / "a" / f"{number}.bmp", 20 + number, channels=1, most=5)
    return tmp_path / "images", tmp_path / "masks"


@pytest.fixture
def sounds(tmp_path: Path) -> Path:
    soundfile: Any = pytest.importorskip("soundfile", reason="not available: soundfile")
    for number in range(6):
        path = tmp_path / "sounds" / "xy"[number % 2] / f"{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, RANDOM.normal(size=800 + 400 * number) * 0.1, 8000)
    return tmp_path / "sounds"


def test_image_folder_for_validation_gives_every_file_once_in_order(photos: Path) -> None:
    loader = dali_core.image_folder(photos, size=16, train=False, **SMALL)
    assert (len(loader), loader.classes) == (3, ["cat", "dog"])
    for _ in range(2):
        batches = list(loader)
        assert [images.shape for images, _ in batches] == [(4, 16, 16, 3)] * 2 + [(2, 16, 16, 3)]
        labels = np.concatenate([labels for _, labels in batches])
        assert labels.tolist() == [0] * 5 + [1] * 5
        assert labels.dtype == np.int64


def test_file_names_of_every_function(
    photos: Path, masks: tuple[Path, Path], table: Path, sounds: Path
) -> None:
    named: dict[str, Any] = {"train": False, "file_names": True, **SMALL}
    loaders = {
        "image_folder": dali_core.image_folder(photos, size=8, **named),
        "segmentation_folder": dali_core.segmentation_folder(*masks, size=8, **named),
        "csv_folder": dali_core.csv_folder(table, size=8, **named),
        "audio_folder": dali_core.audio_folder(sounds, seconds=0.1, **named),
    }
    expected = {
        "image_folder": sorted(str(path.relative_to(photos)) for path in photos.rglob("*.png")),
        "segmentation_folder": [str(masks[0] / "a" / f"{number}.png") for number in range(5)],
        "csv_folder": sorted(f"photos/{path.relative_to(photos)}" for path in photos.rglob("*.*")),
        "audio_folder": sorted(str(path.relative_to(sounds)) for path in sounds.rglob("*.wav")),
    }
    for function, loader in loaders.items():
        for _ in range(2):
            found = [name for *_, names in loader for name in names]
            assert found == expected[function]
        assert "file_names = fn.get_property(" in loader.code()
        again: dict[str, Any] = {"__name__": "program"}
        exec(loader.code(), again)
        batch = next(iter(again["make_loader"]()))
        assert batch[-1] == found[: len(batch[0])]


def test_file_names_of_clips(tmp_path: Path) -> None:
    pytest.importorskip("av", reason="not available: PyAV")
    (tmp_path / "videos" / "run").mkdir(parents=True)
    video = video_files.make(tmp_path / "videos" / "run", "h264.mp4")
    loader = dali_core.video_folder(
        tmp_path / "videos", num_frames=4, size=8, file_names=True, train=False, **SMALL
    )
    names = [name for _, _, found in loader for name in found]
    assert len(names) > 1
    assert set(names) == {str(video)}


def test_file_names_follow_their_samples(photos: Path) -> None:
    training = dali_core.image_folder(photos, size=8, file_names=True, as_dict=True, **SMALL)
    for batch in training:
        assert list(batch) == ["images", "labels", "file_names"]
        classes = [training.classes[label] for label in batch["labels"]]
        assert classes == [name.split("/")[0] for name in batch["file_names"]]
    plain = dali_core.image_folder(photos, size=8, **SMALL)
    same = dali_core.image_folder(photos, size=8, file_names=True, **SMALL)
    for (images, labels), (images_too, labels_too, names) in zip(plain, same, strict=True):
        assert np.array_equal(images, images_too)
        assert np.array_equal(labels, labels_too)
        assert len(names) == len(labels)
    with pytest.raises(ArgumentTypeError, match="file_names: must be True or False"):
        dali_core.image_folder(photos, file_names="yes")  # type: ignore[call-overload]


def test_image_folder_normalizes_colors(tmp_path: Path) -> None:
    save(tmp_path / "a" / "1.png", 16, 16, most=1)
    images, _ = next(iter(dali_core.image_folder(tmp_path, size=8, train=False)))
    expected = -np.array([0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(images[0, 4, 4], expected, rtol=1e-5)
    plain = dali_core.image_folder(tmp_path, size=8, train=False, mean=[0] * 3, std=[1] * 3)
    assert np.abs(next(iter(plain))[0]).max() == 0


def test_training_is_shuffled_and_deterministic(photos: Path) -> None:
    def read(**options: Any) -> list[Any]:
        loader = dali_core.image_folder(photos, size=16, **SMALL, **options)
        return [np.concatenate(part) for part in zip(*loader, strict=True)]

    images, labels = read()
    again, labels_again = read()
    assert np.array_equal(images, again)
    assert labels.tolist() == labels_again.tolist() != [0] * 5 + [1] * 5
    assert sorted(labels.tolist()) == [0] * 5 + [1] * 5
    assert not np.array_equal(images, read(seed=1)[0])


def test_shards_together_are_the_folder(photos: Path) -> None:
    parts = [
        dali_core.image_folder(photos, size=8, shard_id=shard, num_shards=2, **SMALL)
        for shard in range(2)
    ]
    labels = [label for part in parts for _, found in part for label in found.tolist()]
    assert sorted(labels) == [0] * 5 + [1] * 5


def test_segmentation_folder_keeps_images_and_masks_together(masks: tuple[Path, Path]) -> None:
    for path in masks[0].rglob("*.png"):  # images that show their masks
        mask = np.full((24, 20), 1, np.uint8)
        mask[: 4 + 3 * int(path.stem), 5:] = 4
        Image.fromarray(mask).save(masks[1] / "a" / f"{path.stem}.bmp")
        Image.fromarray(np.repeat(mask[..., None] * 50, 3, axis=2)).save(path)
    shapes: dict[str, Any] = {"mean": [0] * 3, "std": [1 / 255] * 3}
    images_folder, masks_folder = masks
    loader = dali_core.segmentation_folder(
        images_folder, masks_folder, size=200, train=True, **shapes, **SMALL
    )
    count = 0
    for images, found in loader:
        assert found.dtype == np.int64
        assert found.shape == images.shape[:3] == (len(found), 200, 200)
        assert set(np.unique(found)) <= set(range(5))
        # All but the pixels near a border agree.
        agree = np.abs(images[..., 0] - found * 50) < 20
        assert agree.mean() > 0.85
        count += len(found)
    assert count == 5
    loader = dali_core.segmentation_folder(*masks, size=(8, 12), train=False, **SMALL)
    assert [(len(a), b.shape) for a, b in loader] == [(4, (4, 8, 12)), (1, (1, 8, 12))]


def test_csv_folder_gives_columns(table: Path) -> None:
    loader = dali_core.csv_folder(table, size=8, train=False, **SMALL)
    kinds, ages, halves = (np.concatenate(part) for part in list(zip(*loader, strict=True))[1:])
    assert kinds.tolist() == [0] * 5 + [1] * 5
    assert ages.tolist() == list(range(10))
    assert halves.tolist() == [i / 2 for i in range(10)]
    assert [ages.dtype, halves.dtype] == [np.int64, np.float32]
    assert "age__years" in loader.code()
    one = dali_core.csv_folder(table, size=8, train=False, columns=["kind"], **SMALL)
    assert one.classes == ["cat", "dog"]
    assert [label for _, found in one for label in found.tolist()] == [0] * 5 + [1] * 5
    dtypes = {
        column: next(iter(dali_core.csv_folder(table, columns=[column], size=8, **SMALL)))[1].dtype
        for column in ("class", "Age (years)")
    }
    assert dtypes == {"class": np.float32, "Age (years)": np.int64}


def test_parquet_table(tmp_path: Path, photos: Path) -> None:
    pyarrow: Any = pytest.importorskip("pyarrow", reason="not available: PyArrow")
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="not available: PyArrow")
    paths = sorted(str(path) for path in photos.rglob("*.png"))
    columns = {"file": paths, "score": [i / 4 for i in range(10)], "good": [True, False] * 5}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    loader = dali_core.csv_folder(tmp_path / "t.parquet", path="file", train=False, size=8, **SMALL)
    scores, good = (np.concatenate(part) for part in list(zip(*loader, strict=True))[1:])
    assert scores.tolist() == [i / 4 for i in range(10)]
    assert good.tolist() == [1, 0] * 5


@pytest.mark.parametrize("train", [True, False])
def test_audio_folder_cuts_and_fills(sounds: Path, train: bool) -> None:
    loader = dali_core.audio_folder(sounds, seconds=0.2, sample_rate=8000, train=train, **SMALL)
    waves = np.concatenate([waves for waves, _ in loader])
    assert waves.shape == (6, 1600)
    silent = [int((wave != 0).sum()) for wave in waves]
    assert sorted(silent)[:2] == [800, 1200]
    assert loader.classes == ["x", "y"]
    mels = dali_core.audio_folder(
        sounds, seconds=0.2, sample_rate=8000, num_mels=20, train=train, **SMALL
    )
    assert next(iter(mels))[0].shape == (4, 20, 21)


def test_video_folder(tmp_path: Path) -> None:
    av: Any = pytest.importorskip("av", reason="not available: PyAV")
    for number in range(2):
        path = tmp_path / "videos" / "pq"[number] / "v.mp4"
        path.parent.mkdir(parents=True)
        with av.open(str(path), "w") as container:
            stream = container.add_stream("mpeg4", rate=10)
            stream.width, stream.height = 48, 32
            for _ in range(12):
                frame = RANDOM.integers(0, 256, (32, 48, 3), np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(frame)))
            container.mux(stream.encode(None))
    for train in (True, False):
        loader = dali_core.video_folder(
            tmp_path / "videos", num_frames=4, size=16, train=train, **SMALL
        )
        batches = list(loader)
        assert sum(len(clips) for clips, _ in batches) == 6
        assert batches[0][0].shape == (4, 4, 16, 16, 3)
        assert loader.classes == ["p", "q"]


def loaders(photos: Path, table: Path, masks: tuple[Path, Path], sounds: Path) -> list[Any]:
    makes: list[Any] = [
        lambda **options: dali_core.image_folder(photos, size=8, **options),
        lambda **options: dali_core.segmentation_folder(*masks, size=8, **options),
        lambda **options: dali_core.csv_folder(table, size=8, as_dict=True, **options),
        lambda **options: dali_core.audio_folder(
            sounds, sample_rate=8000, seconds=0.1, num_mels=8, **options
        ),
    ]
    return [make(train=train, **SMALL) for train in (True, False) for make in makes]


def values(batch: Any) -> Any:
    return batch.values() if isinstance(batch, dict) else batch


def test_code_is_a_program_that_runs_and_is_formatted(
    photos: Path, table: Path, masks: tuple[Path, Path], sounds: Path, tmp_path: Path
) -> None:
    programs = []
    for number, loader in enumerate(loaders(photos, table, masks, sounds)):
        text = loader.code()
        program = tmp_path / f"program_{number}.py"
        program.write_text(text, encoding="utf-8")
        programs.append(str(program))
        names: dict[str, Any] = {"__name__": "program"}
        exec(compile(text, str(program), "exec"), names)
        for ours, theirs in zip(loader, names["make_loader"](), strict=True):
            pairs = zip(values(ours), values(theirs), strict=True)
            assert all(np.array_equal(one, other) for one, other in pairs)
    output = subprocess.run(
        [sys.executable, programs[0]], check=True, capture_output=True, text=True
    ).stdout
    assert output.splitlines()[0] == "(4, 8, 8, 3) (4,)"
    if ruff := shutil.which("ruff"):
        subprocess.run([ruff, "format", "--isolated", "--check", "--diff", *programs], check=True)


def test_names_from_outside_are_only_texts(tmp_path: Path) -> None:
    name = '"]) or print("""x\\\n{'
    save(tmp_path / name / "a'b" / "1.png", 16)
    loader = dali_core.image_folder(tmp_path / name, size=8, train=False)
    assert loader.classes == ["a'b"]
    assert len(list(loader)) == 1
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [["path", "import os", "print"], [str(tmp_path / name / "a'b" / "1.png"), 1, 2]]
        )
    loader = dali_core.csv_folder(tmp_path / "t.csv", size=8, train=False)
    assert len(next(iter(loader))) == 3


def test_errors_show_lines_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.png").write_bytes(b"no image")
    loader = dali_core.image_folder(tmp_path, size=8)
    with pytest.raises(DaliCoreError, match=r"<image_folder \d+>:\d+"):
        next(iter(loader))
    with pytest.raises(DaliCoreError) as caught:
        dali_core.image_folder(tmp_path / "missing", size=8)
    assert "return Loader(define()" in "".join(traceback.format_exception(caught.value))


def test_code_of_a_loader_of_a_pipeline(photos: Path) -> None:
    names: dict[str, Any] = {}
    exec(dali_core.image_folder(photos, size=8).code(), names)
    with pytest.raises(ArgumentTypeError, match="made of a pipeline"):
        dali_core.Loader(names["define"]()).code()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": 0}, ArgumentValueError, "size: must be from 1"),
        ({"size": (1, 2, 3)}, ArgumentValueError, "height and width"),
        ({"batch_size": 2.5}, ArgumentTypeError, "batch_size: must be an integer"),
        ({"train": 1}, ArgumentTypeError, "train: must be True or False"),
        ({"shuffle": True}, ArgumentTypeError, "'shuffle' is no argument.*code"),
        ({"shard_id": 1}, ArgumentConflictError, "given together"),
        ({"shard_id": 2, "num_shards": 2}, ArgumentValueError, "below num_shards"),
        ({"mean": ["x"]}, ValueError, "x"),
        ({"last_batch": "some"}, ArgumentValueError, "last_batch"),
    ],
)
def test_wrong_options(
    photos: Path, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        dali_core.image_folder(photos, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, b: (b / "a" / "3.bmp").unlink(), r"got 1 without: '.*3\.png'"),
        (lambda a, b: save(b / "a" / "9.bmp", 9), r"got 1 without: '.*9\.bmp'"),
        (lambda a, b: save(b / "a" / "3.png", 9), "more than the extension"),
        (lambda a, b: shutil.rmtree(b), "folder with files"),
    ],
)
def test_masks_that_are_missing(
    masks: tuple[Path, Path], change: Callable[[Path, Path], Any], message: str
) -> None:
    change(*masks)
    with pytest.raises(ArgumentValueError, match=message):
        dali_core.segmentation_folder(*masks, size=8)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("path,a\n", {}, "at least one line"),
        ("path\nx\n", {}, "a column besides"),
        ("file,a\nx,1\n", {}, "must have a column 'path'"),
        ("path,a\nx,1\n", {"columns": ["b"]}, "must have a column 'b'"),
        ("path,a\nx,1\ny\n", {}, "line 2 below the header must have 2 fields"),
        ("path,a\nx,1\n,2\n", {}, "line 2 below the header has ''"),
        ("path,a\nx,1\ny,\n", {}, "line 2 below the header has none"),
        ("path,a\nx,99999999999\n", {}, "32 bits"),
        ("path,a\nx,1e999\n", {}, "32 bits"),
        ("path,a,b\nx,99999999,0.5\n", {}, "would be rounded"),
        ("path,a\nx,1\n", {"columns": ["path"]}, "must not have the column of paths"),
    ],
)
def test_damaged_tables(tmp_path: Path, text: str, options: dict[str, Any], message: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ArgumentValueError, match=message):
        dali_core.csv_folder(tmp_path / "t.csv", **options)
