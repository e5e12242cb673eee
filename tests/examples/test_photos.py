"""The generated photos are as varied as documented, and always the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from examples.photos import CLASSES, HELD_OUT, TRAIN, generate
from examples.photos.files import LARGEST_SIDE, SMALLEST_SIDE, Storage, save

PER_CLASS = 15
ORIENTATION_TAG = 0x0112


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("data") / "photos", per_class=PER_CLASS, seed=3)


def photos(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*/*.jpg"))


def read(path: Path) -> Image.Image:
    picture = Image.open(path)
    picture.load()
    return picture


def test_folders_are_the_classes_in_both_parts(folder: Path) -> None:
    for part, expected in ((TRAIN, 12), (HELD_OUT, 3)):
        counts = Counter(path.parent.name for path in (folder / part).rglob("*.jpg"))
        assert counts == dict.fromkeys(CLASSES, expected)


def test_no_photo_is_in_both_parts(folder: Path) -> None:
    contents = [path.read_bytes() for path in photos(folder)]
    assert len(set(contents)) == len(CLASSES) * PER_CLASS


def test_sizes_vary_within_their_range(folder: Path) -> None:
    sizes = [read(path).size for path in photos(folder)]
    sides = [side for size in sizes for side in size]
    assert SMALLEST_SIDE <= min(sides) < 130
    assert 700 < max(sides) <= LARGEST_SIDE
    assert any(width > height for width, height in sizes)
    assert any(width < height for width, height in sizes)


def test_kinds_of_files(folder: Path) -> None:
    pictures = [read(path) for path in photos(folder)]
    modes = Counter(picture.mode for picture in pictures)
    assert modes["CMYK"] == 1
    assert modes["L"] >= 3
    assert modes["RGB"] > 100
    assert {picture.getexif().get(ORIENTATION_TAG) for picture in pictures} == {None, *range(1, 9)}
    assert {"progression" in picture.info for picture in pictures} == {False, True}
    luma = {picture.layer[0][1:3] for picture in pictures if picture.mode == "RGB"}
    assert luma == {(1, 1), (2, 1), (2, 2)}


@pytest.mark.parametrize("orientation", range(9))
def test_orientation_makes_pixels_upright(tmp_path: Path, orientation: int) -> None:
    upright = np.zeros((80, 120, 3), np.uint8)
    upright[:40, :60, 0] = 200
    upright[40:, :60, 1] = 100
    path = tmp_path / "photo.jpg"
    save(path, upright, Storage("RGB", orientation, 95, 0, progressive=False))
    shown = np.asarray(ImageOps.exif_transpose(read(path)))
    assert shown.shape == upright.shape
    assert np.abs(shown.astype(int) - upright).mean() < 2


def test_same_seed_same_bytes_for_any_number_of_threads(folder: Path, tmp_path: Path) -> None:
    again = generate(tmp_path / "again", ["wood"], per_class=PER_CLASS, seed=3, num_threads=1)
    for path in photos(again):
        assert path.read_bytes() == (folder / path.relative_to(again)).read_bytes()


def test_another_seed_gives_other_pictures(folder: Path, tmp_path: Path) -> None:
    other = generate(tmp_path / "other", ["wood"], per_class=2, seed=4)
    for path in photos(other):
        assert path.read_bytes() != (folder / path.relative_to(other)).read_bytes()


def test_mean_colour_does_not_reveal_the_class(folder: Path) -> None:
    def means_and_classes(part: str) -> tuple[np.ndarray, np.ndarray]:
        paths = sorted((folder / part).rglob("*.jpg"))
        means = [np.asarray(read(path).convert("RGB")).mean((0, 1)) for path in paths]
        return np.array(means), np.array([CLASSES.index(path.parent.name) for path in paths])

    means, classes = means_and_classes(TRAIN)
    held_out, expected = means_and_classes(HELD_OUT)
    centres = np.array([means[classes == number].mean(0) for number in range(len(CLASSES))])
    distances = np.linalg.norm(held_out[:, None] - centres, axis=2)
    assert (distances.argmin(1) == expected).mean() < 0.35


def test_finished_set_is_kept_and_others_are_replaced(tmp_path: Path) -> None:
    folder = generate(tmp_path / "photos", ["clouds"], per_class=2)
    path = photos(folder)[0]
    written = path.stat().st_mtime_ns
    generate(folder, ["clouds"], per_class=2)
    assert path.stat().st_mtime_ns == written
    generate(folder, ["wood"], per_class=1)
    assert [photo.parent.name for photo in photos(folder)] == ["wood"]
    assert [child.name for child in tmp_path.iterdir()] == ["photos"]


def test_interrupted_run_is_started_afresh(tmp_path: Path) -> None:
    leftover = tmp_path / "photos.unfinished" / TRAIN / "wood" / "9999.jpg"
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half a photo")
    folder = generate(tmp_path / "photos", ["wood"], per_class=1)
    assert [path.name for path in photos(folder)] == ["0000.jpg"]


def test_unrelated_folders_are_not_modified(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"precious")
    with pytest.raises(FileExistsError, match="Choose another folder"):
        generate(tmp_path, ["wood"], per_class=1)
    assert (tmp_path / "holiday.jpg").read_bytes() == b"precious"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"classes": ["cats"]}, "got cats"), ({"per_class": 0}, "must be positive")],
)
def test_invalid_arguments(tmp_path: Path, arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate(tmp_path / "photos", **arguments)
