"""`fn.readers.file`: listing and reading files, and rejected arguments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline, fn
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    SampleError,
    SerializationError,
)
from tests.folders import make_folders
from tests.operators.suite import Example


def class_folders(folder: Path) -> dict[str, Any]:
    make_folders(folder, (2, 1, 3))
    return {"file_root": folder}


def shuffled_list(folder: Path) -> dict[str, Any]:
    make_folders(folder, (3, 2))
    paths = sorted(folder.glob("*/*"))
    list_file = folder / "files.txt"
    list_file.write_text("".join(f"{path} {label}\n" for label, path in enumerate(paths)))
    return {"file_list": list_file, "random_shuffle": True, "seed": 3, "pad_last_batch": False}


EXAMPLES = [Example("folders", (), class_folders), Example("list", (), shuffled_list)]


def reader_pipeline(batch_size: int = 1, **arguments: Any) -> Pipeline:
    with Pipeline(batch_size, 2, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(*fn.readers.file(name="reader", **arguments))
    return pipeline


def read(count: int | None = None, **arguments: Any) -> list[tuple[str, int, bytes]]:
    """Return source, label and content of the first samples, by default of one epoch."""
    pipeline = reader_pipeline(**arguments)
    size = pipeline.epoch_size("reader") if count is None else count
    assert isinstance(size, int)
    samples = []
    for _ in range(size):
        data, labels = pipeline.run()
        samples.append((data[0].source_info(), int(labels.at(0)[0]), data.at(0).tobytes()))
    pipeline.close()
    return samples


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode())


def names_and_labels(**arguments: Any) -> list[tuple[str, int]]:
    return [(source, label) for source, label, _ in read(**arguments)]


@pytest.mark.filterwarnings("ignore::dali_core.errors.SkippedFilesWarning")
def test_folders_are_classes(tmp_path: Path) -> None:
    contents = make_folders(tmp_path, (2, 0, 3))
    samples = read(file_root=tmp_path)
    assert [content for _, _, content in samples] == contents
    assert [label for _, label, _ in samples] == [0, 0, 2, 2, 2]
    assert samples[0][0] == os.path.join("class_0", "000.jpg")


def test_outputs(tmp_path: Path) -> None:
    make_folders(tmp_path)
    data, labels = reader_pipeline(file_root=tmp_path, batch_size=5).run()
    assert data.dtype.name == "UINT8"
    assert data.shape() == [(3,), (4,), (5,), (6,), (3,)]
    assert not data.is_dense_tensor()
    assert labels.dtype.name == "INT32"
    assert labels.as_array().tolist() == [[0], [0], [0], [0], [1]]
    assert data.layout() == labels.layout() == ""
    assert labels[4].source_info() == os.path.join("class_1", "000.jpg")


def test_names_sort_by_their_bytes(tmp_path: Path) -> None:
    write(tmp_path, "b/é.jpg", "b/z.jpg", "b/Z.jpg", "B/1.jpg", "10/1.jpg", "9/1.jpg")
    assert names_and_labels(file_root=tmp_path) == [
        ("10/1.jpg", 0),
        ("9/1.jpg", 1),
        ("B/1.jpg", 2),
        ("b/Z.jpg", 3),
        ("b/z.jpg", 3),
        ("b/é.jpg", 3),
    ]


def test_only_files_directly_in_class_folders_count(tmp_path: Path) -> None:
    write(tmp_path, "top.jpg", "a/1.jpg", "a/below/2.jpg", "a/x.jpg/3.jpg")
    assert names_and_labels(file_root=tmp_path) == [("a/1.jpg", 0)]


@pytest.mark.filterwarnings("ignore::dali_core.errors.SkippedFilesWarning")
def test_filters(tmp_path: Path) -> None:
    write(tmp_path, "a/1.JPG", "a/2.txt", "a/3.png", "B/4.jpg", "c/5.png")
    every = ["B/4.jpg", "a/1.JPG", "a/3.png", "c/5.png"]

    def names(**arguments: Any) -> list[str]:
        return [name for name, _ in names_and_labels(file_root=tmp_path, **arguments)]

    assert names() == every
    assert names(file_filters="*.jpg") == ["B/4.jpg", "a/1.JPG"]
    assert names(file_filters=["*.JPG"], case_sensitive_filter=True) == ["a/1.JPG"]
    assert names(file_filters=["[12].*", "*.txt"]) == ["a/1.JPG", "a/2.txt"]
    assert names(file_filters=["?.png"]) == ["a/3.png", "c/5.png"]
    assert names(dir_filters=["b", "c"]) == ["B/4.jpg", "c/5.png"]
    assert names(dir_filters=["b", "c"], case_sensitive_filter=True) == ["c/5.png"]
    # Labels count the folders that are used.
    assert names_and_labels(file_root=tmp_path, dir_filters=["c"]) == [("c/5.png", 0)]


def test_files(tmp_path: Path) -> None:
    write(tmp_path, "a/1.jpg", "b/any name", "c/3")
    names = ["c/3", "a/1.jpg", "b/any name", "c/3"]
    assert read(files=names, file_root=tmp_path) == [
        (name, label, name.encode()) for label, name in enumerate(names)
    ]
    assert [
        label
        for _, label, _ in read(files=names, labels=[7, -2, 0, 2**31 - 1], file_root=str(tmp_path))
    ] == [7, -2, 0, 2**31 - 1]
    absolute = str(tmp_path / "a" / "1.jpg")
    assert read(files=[absolute]) == [(absolute, 0, b"a/1.jpg")]
    assert read(files=absolute, file_root="/nowhere") == [(absolute, 0, b"a/1.jpg")]


def test_file_list(tmp_path: Path) -> None:
    write(tmp_path, "a/1.jpg", "a/x y.jpg", "b/2.jpg")
    listing = tmp_path / "list.txt"
    listing.write_text("b/2.jpg 3\n\na/x y.jpg\t-4  \r\n  \na/1.jpg   5")
    expected = [("b/2.jpg", 3), ("a/x y.jpg", -4), ("a/1.jpg", 5)]
    assert names_and_labels(file_list=listing) == expected
    elsewhere = tmp_path / "lists" / "list.txt"
    elsewhere.parent.mkdir()
    elsewhere.write_text("1.jpg 9\n")
    assert names_and_labels(file_list=elsewhere, file_root=tmp_path / "a") == [("1.jpg", 9)]
    elsewhere.write_text(f"{tmp_path}/a/1.jpg 9\n")
    assert names_and_labels(file_list=elsewhere) == [(f"{tmp_path}/a/1.jpg", 9)]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"a/\xff.jpg")
    write(tmp_path, "a/1.jpg")
    (tmp_path / name).write_bytes(b"content")
    assert read(file_root=tmp_path)[1] == (name, 0, b"content")


def test_symbolic_links_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "real/1.jpg")
    (tmp_path / "linked").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "real" / "2.jpg").symlink_to(tmp_path / "real" / "1.jpg")
    assert [content for _, _, content in read(file_root=tmp_path)] == [b"real/1.jpg"] * 4


def test_large_and_empty_files(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "large").write_bytes(content)
    (tmp_path / "empty").write_bytes(b"")
    samples = read(files=["large", "empty"], file_root=tmp_path)
    assert [data for _, _, data in samples] == [content, b""]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ArgumentTypeError, "file_root, file_list or files must be given"),
        ({"files": ["x"], "file_list": "y"}, ArgumentTypeError, "must not both be given"),
        ({"labels": [1], "file_root": "x"}, ArgumentTypeError, "must come together with files"),
        ({"files": []}, ArgumentValueError, "at least one file"),
        ({"files": ["x"], "labels": [1, 2]}, ArgumentValueError, "each of the 1 files"),
        ({"files": ["x"], "labels": [2**31]}, ArgumentValueError, "32 bits"),
        ({"file_root": "/nowhere"}, ArgumentValueError, "'/nowhere': No such file"),
        ({"file_list": "/nowhere/x"}, ArgumentValueError, "'/nowhere/x': No such file"),
        ({"file_root": "{}"}, ArgumentValueError, "must have folders with files"),
        ({"file_root": "{}", "dir_filters": []}, ArgumentValueError, "at least one pattern"),
        ({"file_root": "{}", "file_filters": []}, ArgumentValueError, "at least one pattern"),
        ({"files": ["x"], "num_shards": 2}, ArgumentValueError, "num_shards"),
        ({"files": ["x"], "shard_id": 1}, ArgumentValueError, "shard_id"),
        (
            {"files": ["x"], "shuffle_after_epoch": True, "random_shuffle": True},
            ArgumentValueError,
            "shuffle_after_epoch and random_shuffle must not both be True",
        ),
        (
            {"files": ["x"], "shuffle_after_epoch": True, "stick_to_shard": True},
            ArgumentValueError,
            "shuffle_after_epoch and stick_to_shard must not both be True",
        ),
        ({"files": ["x"], "prefetch_queue_depth": 0}, ArgumentValueError, "must be at least 1"),
        ({"files": ["x"], "tensor_init_bytes": -1}, ArgumentValueError, "must be at least 0"),
    ],
)
def test_wrong_arguments(
    arguments: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    if arguments.get("file_root") == "{}":
        arguments = arguments | {"file_root": tmp_path}
    with pytest.raises(error, match=message) as caught:
        reader_pipeline(**arguments).build()
    assert "fn.readers.file at" in str(caught.value)
    assert "test_file.py:" in str(caught.value)


@pytest.mark.parametrize("line", ["a.jpg", "a.jpg one", "a.jpg 1.5", " 7", "a.jpg 1 # comment"])
def test_bad_lines_in_a_file_list(line: str, tmp_path: Path) -> None:
    listing = tmp_path / "list.txt"
    listing.write_text(f"good.jpg 1\n{line}\n")
    with pytest.raises(ArgumentValueError, match=r"line 2: must be a path, a space and"):
        reader_pipeline(file_list=listing).build()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(b"good")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    os.mkfifo(tmp_path / "pipe")
    reasons = {
        "missing": "No such file or directory",
        "folder": "Is a directory",
        "dangling": "No such file or directory",
        "circle": "Too many levels of symbolic links",
        "pipe": "must be a regular file",
        "": "Is a directory",
    }
    pipeline = reader_pipeline(files=[*reasons, "good"], file_root=tmp_path)
    for number, (name, reason) in enumerate(reasons.items()):
        with pytest.raises(SampleError, match=reason) as caught:
            pipeline.run()
        assert caught.value.operator == "readers.file"
        assert caught.value.source == (name or None)
        assert (caught.value.iteration, caught.value.sample) == (number, 0)
    data, _ = pipeline.run()
    assert data.at(0).tobytes() == b"good"


def test_lazy_readers_list_files_on_demand(tmp_path: Path) -> None:
    root = tmp_path / "later"
    pipeline = reader_pipeline(file_root=root, lazy_init=True)
    pipeline.build()
    with pytest.raises(ArgumentValueError, match="No such file"):
        pipeline.epoch_size("reader")
    make_folders(root)
    assert pipeline.epoch_size("reader") == 12
    again = reader_pipeline(file_root=root, lazy_init=True)
    again.build()
    assert again.run()[0].at(0).tobytes() == b"0/0"
    eager = reader_pipeline(file_root=tmp_path / "nothing", lazy_init=False)
    with pytest.raises(ArgumentValueError, match="No such file"):
        eager.build()


def test_shuffling_after_an_epoch(tmp_path: Path) -> None:
    contents = make_folders(tmp_path)

    def epochs(**arguments: Any) -> list[list[bytes]]:
        samples = read(2 * len(contents), file_root=tmp_path, **arguments)
        found = [content for _, _, content in samples]
        return [found[: len(contents)], found[len(contents) :]]

    first, second = epochs(shuffle_after_epoch=True)
    assert sorted(first) == sorted(second) == sorted(contents)
    assert first != second
    assert epochs(shuffle_after_epoch=True, shuffle_after_epoch_seed=4) != [first, second]
    assert epochs(shuffle_after_epoch=True) == [first, second]


@pytest.mark.parametrize("more", [{}, {"seed": 9}, {"sampler": range(10)}])
def test_shards_stay_in_place_when_shuffling_after_an_epoch(
    more: dict[str, Any], tmp_path: Path
) -> None:
    for number in range(10):
        (tmp_path / f"{number}").write_bytes(bytes([number]))
    arguments = {"file_root": tmp_path, "files": [f"{number}" for number in range(10)], **more}
    sizes = (3, 3, 4)
    streams = []
    for shard, size in enumerate(sizes):
        way = {"shuffle_after_epoch": True, "num_shards": 3, "shard_id": shard}
        samples = read(4 * size, **arguments, **way)
        streams.append([content for _, _, content in samples])
        plan = reader_pipeline(**arguments, **way)
        assert plan.reader_meta("reader")["stick_to_shard"] == 1
    for epoch in range(4):
        parts = [
            stream[epoch * size : (epoch + 1) * size]
            for stream, size in zip(streams, sizes, strict=True)
        ]
        assert len({content for part in parts for content in part}) == 10
    assert len(set(streams[0])) > 3


@pytest.mark.parametrize(
    "arguments",
    [
        {"read_ahead": False},
        {"read_ahead": True},
        {"read_ahead": True, "prefetch_queue_depth": 7},
        {"initial_fill": 1, "tensor_init_bytes": 0, "dont_use_mmap": True},
        {"skip_cached_images": True, "lazy_init": True},
    ],
)
def test_how_files_are_read_makes_no_difference(arguments: dict[str, Any], tmp_path: Path) -> None:
    make_folders(tmp_path, (40, 30, 50))
    expected = read(240, file_root=tmp_path, random_shuffle=True)
    assert read(240, file_root=tmp_path, random_shuffle=True, **arguments) == expected


@pytest.mark.parametrize("read_ahead", [True, False])
def test_read_ahead_buffers_return_to_the_pool(read_ahead: bool, tmp_path: Path) -> None:
    make_folders(tmp_path, (40, 30, 50))
    with Pipeline(16, 2, None, prefetch_queue_depth=4) as pipeline:
        data, labels = fn.readers.file(
            file_root=tmp_path, read_ahead=read_ahead, prefetch_queue_depth=3
        )
        pipeline.set_outputs(data, labels)
    for _ in range(30):
        pipeline.run()
    runner = pipeline._run.runner
    assert runner is not None
    pipeline.close()
    assert runner.executor.reading_stats() == (0, 0)
    assert runner.executor.memory_stats() == {"used_bytes": 0, "idle_bytes": 0}


def global_batches(root: Path, num_shards: int, **arguments: Any) -> list[list[int]]:
    """Read 40 steps of all shards, with a global batch size of 12."""
    pipelines = [
        reader_pipeline(
            12 // num_shards,
            files=sorted(map(str, root.glob("*/*"))),
            labels=list(range(23)),
            num_shards=num_shards,
            shard_id=shard_id,
            interleaved_shards=True,
            **arguments,
        )
        for shard_id in range(num_shards)
    ]
    batches = []
    for _ in range(40):
        labels = [pipeline.run()[1].as_array().ravel() for pipeline in pipelines]
        batches.append([int(label) for taken in zip(*labels, strict=True) for label in taken])
    for pipeline in pipelines:
        pipeline.close()
    return batches


@pytest.mark.parametrize("pad_last_batch", [False, True])
@pytest.mark.parametrize("random_shuffle", [False, True])
def test_interleaved_shards_give_the_same_global_batches(
    pad_last_batch: bool, random_shuffle: bool, tmp_path: Path
) -> None:
    make_folders(tmp_path, (11, 12))
    options = {"pad_last_batch": pad_last_batch, "random_shuffle": random_shuffle}
    alone = global_batches(tmp_path, 1, **options)
    if pad_last_batch:
        assert sorted(set(alone[0] + alone[1])) == list(range(23))
        assert alone[1][-1] == alone[1][-2]
    else:
        stream = [label for batch in alone for label in batch]
        assert sorted(stream[23:46]) == list(range(23))
    for num_shards in (2, 3, 4, 6):
        assert global_batches(tmp_path, num_shards, **options) == alone


def test_interleaved_shards_with_stick_to_shard_raise(tmp_path: Path) -> None:
    make_folders(tmp_path)
    pipeline = reader_pipeline(file_root=tmp_path, interleaved_shards=True, stick_to_shard=True)
    with pytest.raises(ArgumentValueError, match=r"test_file\.py:\d+.*interleaved"):
        pipeline.build()


NUL_PATHS: dict[str, Any] = {
    "files": {"files": ["a/1.jpg", "a/1.jpg\0.png"]},
    "file": {"files": "a/1.jpg\0"},
    "file_root": {"file_root": "\0"},
    "file_root of files": {"files": ["a/1.jpg"], "file_root": "\0elsewhere"},
    "file_list": {"file_list": "list.txt\0"},
    "path": {"file_list": Path("list.txt\0.bak")},
    "file_filters": {"file_root": ".", "file_filters": ["*.jpg\0"]},
}


@pytest.mark.parametrize("arguments", NUL_PATHS.values(), ids=NUL_PATHS)
def test_paths_with_nul_raise(
    arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part before the character may be an existing file."""
    write(tmp_path, "a/1.jpg")
    (tmp_path / "list.txt").write_text("a/1.jpg 0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentValueError, match="must be text without NUL characters") as caught:
        reader_pipeline(**arguments).build()
    assert __file__ in str(caught.value)


def test_lists_with_nul_raise(tmp_path: Path) -> None:
    write(tmp_path, "a/1.jpg")
    listing = tmp_path / "list.txt"
    listing.write_text("a/1.jpg 0\na/1.jpg\0.png 1\n")
    with pytest.raises(ArgumentValueError, match="line 2: must be .* without NUL characters"):
        reader_pipeline(file_list=listing).build()


def test_documents_with_nul_raise(tmp_path: Path) -> None:
    write(tmp_path, "a/1.jpg")
    document = reader_pipeline(file_root=tmp_path, files=["a/1.jpg"]).serialize()
    assert b'"a/1.jpg"' in document
    root = os.fsencode(tmp_path)
    for old, new in ((b"a/1.jpg", rb"a/1.jpg\u0000.png"), (root, root + rb"\u0000")):
        changed = document.replace(old, new)
        assert rb"\u0000" in changed
        with pytest.raises(SerializationError, match=r"operators\[0\].*NUL"):
            Pipeline.deserialize(changed)


def test_loop_of_links_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a/1.jpg")
    for folder in (tmp_path, tmp_path / "a"):
        loop = folder / "loop"
        loop.symlink_to(loop)
        with pytest.raises(ArgumentValueError, match="Too many levels") as caught:
            reader_pipeline(file_root=tmp_path).build()
        assert f"got {str(loop)!r}" in str(caught.value)
        loop.unlink()
    loop.symlink_to(loop)
    with pytest.raises(SampleError, match="Too many levels") as error:
        reader_pipeline(files=[str(loop)]).run()
    assert error.value.source == str(loop)
