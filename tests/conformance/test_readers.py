"""`fn.readers.file` finds, orders, labels and shards files as NVIDIA DALI does.

Shuffled orders differ: here they are permutations of the whole data set. Where this library differs
on purpose: signed labels are read from a `file_list`, and labels that are out of range are
rejected.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import dali_core
import dali_core.fn
from tests.conformance.comparing import described

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

# The reference skips files without a word.
pytestmark = pytest.mark.filterwarnings("ignore::dali_core.errors.SkippedFilesWarning")

FOLDERS = ("b", "B", "a", "é", "10", "9", ".hidden", "with space", "[x]")
FILES = (
    *("z.jpg", "A.JPG", "m.png", "n.txt", ".h.jpg", "no extension", "q.jpeg.bak", "é.bmp"),
    *("x y.jpg", "below/deep.jpg", "s.tiff", "t.tif", "u.webp", "v.pgm", "w.jp2", "a.wav", "b.mp4"),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("files")
    for folder in FOLDERS:
        for name in FILES:
            path = root / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"{folder}/{name}".encode())
    (root / "empty").mkdir()
    (root / "top.jpg").write_bytes(b"top")
    (root / "linked").symlink_to(root / "a", target_is_directory=True)
    (root / "a" / "link.jpg").symlink_to(root / "b" / "z.jpg")
    return root


def read(library: Any, batch_size: int = 1, epochs: int = 1, **arguments: Any) -> list[Any]:
    """Return source, label and content of all samples, batch by batch."""
    pipeline = library.Pipeline(batch_size, 1, None)
    with pipeline:
        pipeline.set_outputs(*library.fn.readers.file(name="reader", **arguments))
    pipeline.build()
    size = pipeline.epoch_size("reader")
    batches: list[Any] = [described(pipeline.reader_meta("reader")), size]
    for _ in range(-(-epochs * size // batch_size)):
        data, labels = pipeline.run()
        batches.append(
            [
                (data[i].source_info(), labels.at(i).tolist(), data.at(i).tobytes())
                for i in range(len(data))
            ]
        )
    return batches


def check(**arguments: Any) -> list[Any]:
    expected = read(reference, **arguments)
    assert read(dali_core, **arguments) == expected
    return expected


def check_both_refuse(**arguments: Any) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            read(library, **arguments)


def test_folders(root: Path) -> None:
    batches = check(file_root=str(root))
    assert len(batches) > 100
    check(file_root=str(root) + "/")


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_filters": ["*.JPG"]},
        {"file_filters": ["*.JPG"], "case_sensitive_filter": True},
        {"file_filters": "*.png"},
        {"file_filters": ["*.jpg", "z*"]},
        {"file_filters": ["[a-m].*"]},
        {"file_filters": ["[!z].*"]},
        {"file_filters": ["?.jpg"]},
        {"file_filters": ["*"], "dir_filters": ["a"]},
        {"file_filters": ["no extension"]},
        {"dir_filters": ["b", "9"]},
        {"dir_filters": ["b", "9"], "case_sensitive_filter": True},
        {"dir_filters": ["?"]},
        {"dir_filters": "empty*", "file_filters": ["*"]},
        {"dir_filters": ["*i*", "empty"]},
    ],
)
def test_filters(arguments: dict[str, Any], root: Path) -> None:
    if arguments.get("dir_filters") == "empty*":
        check_both_refuse(file_root=str(root), **arguments)
    else:
        check(file_root=str(root), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"labels": [5, 0, -1]},
        {"labels": [2**31 - 1, -(2**31), 7], "batch_size": 2},
    ],
)
def test_files(arguments: dict[str, Any], root: Path) -> None:
    names = ["b/z.jpg", "a/x y.jpg", "b/z.jpg"]
    check(files=names, file_root=str(root), **arguments)
    check(files=[str(root / name) for name in names], **arguments)
    check(files=[str(root / name) for name in names], file_root="/elsewhere", **arguments)


def test_one_file(root: Path) -> None:
    check(files="a/n.txt", file_root=str(root))


@pytest.mark.parametrize(
    "text",
    [
        "a/z.jpg 3\nb/z.jpg 4\n",
        "b/z.jpg 4\na/z.jpg 3",
        "a/x y.jpg 3\n",
        "a/z.jpg\t3\n",
        "a/z.jpg    3   \n",
        "\na/z.jpg 1\n\n\nb/z.jpg 2\n\n",
        "a/z.jpg 1\r\nb/z.jpg 2\r\n",
        "a/z.jpg 010\n",
        "a/z.jpg 1\na/z.jpg 2\n",
        "with space/x y.jpg 0\n",
        "a/n.txt 7\n",
        "é/é.bmp 7\n",
    ],
)
def test_file_list(text: str, root: Path, tmp_path: Path) -> None:
    listing = tmp_path / "list.txt"
    listing.write_bytes(text.encode())
    check(file_list=str(listing), file_root=str(root))
    beside = root / "list.txt"
    beside.write_bytes(text.encode())
    check(file_list=str(beside))
    beside.unlink()


@pytest.mark.parametrize(
    "text",
    [
        *("", "a/z.jpg\n", "a/z.jpg 1\nb/z.jpg\n", "a/z.jpg cat\n", "a/z.jpg 1.5\n", "# c\n"),
        "   a/z.jpg 3\n",
    ],
)
def test_bad_file_lists(text: str, root: Path, tmp_path: Path) -> None:
    listing = tmp_path / "list.txt"
    listing.write_text(text)
    check_both_refuse(file_list=str(listing), file_root=str(root))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"files": []},
        {"files": ["a"], "labels": [1, 2]},
        {"labels": [1, 2], "file_root": "."},
        {"files": ["a"], "file_list": "b"},
        {"files": ["missing.jpg"]},
        {"file_root": "/missing"},
        {"file_list": "/missing"},
        {"file_root": ".", "file_filters": []},
        {"file_root": ".", "dir_filters": []},
    ],
)
def test_wrong_arguments(arguments: dict[str, Any]) -> None:
    check_both_refuse(**arguments)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 5])
@pytest.mark.parametrize("pad_last_batch", [False, True])
@pytest.mark.parametrize("stick_to_shard", [False, True])
@pytest.mark.parametrize("num_shards", [1, 2, 3, 5])
def test_shards(
    num_shards: int, stick_to_shard: bool, pad_last_batch: bool, batch_size: int, root: Path
) -> None:
    names = [f"a/{name}" for name in FILES[:8]]
    for count in (5, 8):
        for shard in range(num_shards):
            check(
                files=names[:count],
                file_root=str(root),
                batch_size=batch_size,
                epochs=4,
                num_shards=num_shards,
                shard_id=shard,
                stick_to_shard=stick_to_shard,
                pad_last_batch=pad_last_batch,
            )


def test_shuffled_epochs_hold_the_same_files(root: Path) -> None:
    names = [f"a/{name}" for name in FILES[:8]]
    for arguments in ({"random_shuffle": True}, {"shuffle_after_epoch": True}):
        found = [
            read(library, files=names, file_root=str(root), epochs=3, **arguments)[2:]
            for library in (reference, dali_core)
        ]
        for epoch in range(3):
            ours, theirs = (batches[8 * epoch : 8 * epoch + 8] for batches in found)
            assert sorted(ours) == sorted(theirs)
            for order in (ours, theirs):  # the first epoch is no exception
                assert [batch[0][1] for batch in order] != [[i] for i in range(8)]


def test_paths_and_contents_of_unusual_files(root: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "large").write_bytes(os.urandom(1_500_000))
    check(files=["large"], file_root=str(tmp_path))
    assert read(dali_core, files=["empty"], file_root=str(tmp_path))[2] == [("empty", [0], b"")]
