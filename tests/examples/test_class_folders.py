"""Class folders of any kind are split into training and held-out photos."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.shared import class_folders
from examples.shared.class_folders import ClassFolderError


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def test_train_and_val_are_used_as_they_are(tmp_path: Path) -> None:
    make(
        tmp_path, "train/b/1.jpg", "train/a/2.png", "train/c/3.JPEG", "val/b/4.jpg", "val/c/5.webp"
    )
    split = class_folders.find(tmp_path)
    assert split.classes == ["a", "b", "c"]
    assert [Path(file).name for file in split.train.files] == ["2.png", "1.jpg", "3.JPEG"]
    assert split.train.labels == [0, 1, 2]
    assert [Path(file).name for file in split.held_out.files] == ["4.jpg", "5.webp"]
    assert split.held_out.labels == [1, 2]


def test_a_fifth_of_each_class_is_held_out_by_name(tmp_path: Path) -> None:
    names = [f"{name}/{number}.jpg" for name in ("cat", "dog", "emu") for number in range(20)]
    first = class_folders.find(make(tmp_path / "first", *names))
    second = class_folders.find(make(tmp_path / "second", *reversed(names)))
    for split in (first, second):
        assert [split.held_out.labels.count(label) for label in range(3)] == [4, 4, 4]
        assert len(split.train) == 48
        assert not set(split.train.files) & set(split.held_out.files)
    relative = [
        {Path(file).relative_to(tmp_path / name) for file in split.held_out.files}
        for name, split in (("first", first), ("second", second))
    ]
    assert relative[0] == relative[1]


def test_class_of_one_photo_is_trained_on(tmp_path: Path) -> None:
    split = class_folders.find(make(tmp_path, "rare/1.jpg", "common/1.jpg", "common/2.jpg"))
    assert split.classes == ["common", "rare"]
    assert split.train.labels == [0, 1]
    assert split.held_out.labels == [0]


def test_folders_and_files_without_photos_are_ignored(tmp_path: Path) -> None:
    make(tmp_path, "a/1.jpg", "a/2.jpg", "a/notes.txt", "b/deeper/3.jpg", "b/4.jpg", "empty/x.txt")
    split = class_folders.find(tmp_path)
    assert split.classes == ["a", "b"]
    assert len(split.train) + len(split.held_out) == 4


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "must have a folder of photos for each class"),
        (["1.jpg", "2.jpg"], "Put each class into a folder of its name"),
        (["a/1.jpg", "b/2.jpg"], "at least one class must have two photos"),
        (["train/a/1.jpg", "val/a/2.jpg", "val/b/3.jpg"], r"got b too"),
        (["train/a/1.jpg", "val/a/2.txt"], "val: must have a folder of photos for each class"),
    ],
)
def test_missing_classes_and_photos_raise(tmp_path: Path, files: list[str], message: str) -> None:
    with pytest.raises(ClassFolderError, match=message):
        class_folders.find(make(tmp_path, *files))


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ClassFolderError, match="Check the path"):
        class_folders.find(tmp_path / "nowhere")
