"""`fn.readers.webdataset`: samples, outputs, index files, and damaged archives."""

from __future__ import annotations

import os
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from dali_core.operators.readers.archive_index import open_indices
from dali_core.operators.readers.webdataset import listing
from dali_core.operators.readers.webdataset import record_format as tar_format
from tests.caches import warned_of_cache
from tests.operators.readers.tar_files import UNUSUAL, sample_entries, special, write_tar
from tests.operators.suite import Example, list_of


def two_archives(folder: Path) -> dict[str, Any]:
    """Write two archives, and return the arguments that read them."""
    parts = [write_tar(folder / f"{i}.tar", sample_entries(10 * i, 5 + i)) for i in range(2)]
    return {"paths": [str(part) for part in parts], "ext": ["jpg;png", "cls"]}


def with_types(folder: Path) -> dict[str, Any]:
    entries = [(f"{i}.{name}", bytes(range(8 * i))) for i in range(4) for name in ("f", "i")]
    path = write_tar(folder / "numbers.tar", entries)
    dtypes = [types.FLOAT, types.INT16]
    return {"paths": str(path), "ext": ["f", "i"], "dtypes": dtypes, "random_shuffle": True}


EXAMPLES = [Example("two archives", (), two_archives), Example("types", (), with_types)]


def reader_pipeline(batch_size: int = 1, num_threads: int = 2, **arguments: Any) -> Pipeline:
    options = arguments.pop("options", {})
    with Pipeline(batch_size, num_threads, None, prefetch_queue_depth=1, **options) as pipeline:
        pipeline.set_outputs(*list_of(fn.readers.webdataset(name="reader", **arguments)))
    return pipeline


def read(**arguments: Any) -> list[tuple[str, list[bytes]]]:
    """Return source and contents of each sample of an epoch."""
    pipeline = reader_pipeline(**arguments)
    size = pipeline.epoch_size("reader")
    assert isinstance(size, int)
    samples = []
    for _ in range(size):
        outputs = pipeline.run()
        samples.append((outputs[0][0].source_info(), [out.at(0).tobytes() for out in outputs]))
    pipeline.close()
    return samples


def contents(**arguments: Any) -> list[list[bytes]]:
    return [content for _, content in read(**arguments)]


def test_samples(tmp_path: Path) -> None:
    arguments = two_archives(tmp_path)
    expected = sample_entries(0, 5) + sample_entries(10, 6)
    pairs = [[expected[i][1], expected[i + 1][1]] for i in range(0, len(expected), 2)]
    assert contents(**arguments) == pairs
    assert read(**arguments)[6][0] == f"{tmp_path}/1.tar:3072:part/011.jpg"
    every = contents(**arguments, random_shuffle=True)
    assert sorted(every) == sorted(pairs)
    assert every != pairs
    for threads in (1, 3):
        assert contents(**arguments, random_shuffle=True, num_threads=threads) == every
    shards = [
        contents(**arguments, num_shards=3, shard_id=i, read_ahead=i != 1, batch_size=1)[:3]
        for i in range(3)
    ]
    assert [sample for shard in shards for sample in shard] == pairs[:3] + pairs[3:6] + pairs[7:10]


def test_names_and_extensions(tmp_path: Path) -> None:
    path = str(write_tar(tmp_path / "a.tar", UNUSUAL))
    with pytest.warns(UserWarning, match=r"several files for one output \(such as 'a.jpg'\)"):
        found = contents(paths=path, ext=["left.jpg;jpg", "cls"])
    assert found == [
        *([b"aj", b"1"], [b"x", b""], [b"", b""], [b"", b""], [b"q", b""]),
        *([b"a1", b""], [b"", b"3"], [b"e", b""]),
    ]
    assert contents(paths=path, ext="JPG", case_sensitive_extensions=True)[2] == [b"cj"]
    with pytest.warns(UserWarning, match="several files"):
        found = contents(paths=path, ext=["Jpg", "CLS"], case_sensitive_extensions=False)
    assert found[2] == [b"cj", b""]
    behavior = {"missing_component_behavior": "Skip"}
    found = contents(paths=path, ext=["left.jpg", "cls"], **behavior)
    assert found == [[b"aj", b"1"]]
    write_tar(tmp_path / "a.tar", UNUSUAL[:6])
    with pytest.raises(SampleError, match="it has none for output 1") as caught:
        contents(paths=path, ext=["left.jpg;jpg", "cls"], missing_component_behavior="error")
    assert caught.value.source == f"{path}:3072:e/a.jpg"


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_formats_of_tar(form: int, tmp_path: Path) -> None:
    long = f"{'d' * 60}/{'x' * 90}"
    entries = [(f"{long}.jpg", b"aj"), (f"{long}.cls", b"1"), ("é.jpg", b"q")]
    if form != tarfile.USTAR_FORMAT:
        entries += [(f"{'y' * 3000}.jpg", b"z"), (f"{'y' * 3000}.cls", b"y")]
    path = write_tar(tmp_path / "a.tar", entries, form)
    expected = [[b"aj", b"1"], [b"q", b""], [b"z", b"y"]][: 2 + (len(entries) > 3)]
    assert contents(paths=str(path), ext=["jpg", "cls"]) == expected
    # Python's module for tar archives agrees on every name and place.
    (index,) = open_indices([str(path)], tar_format.FORMAT)
    with tarfile.open(path) as archive:
        known = [(member.name, member.offset_data, member.size) for member in archive]
    assert list(zip(index.names, index.offsets, index.sizes, strict=True)) == known


def test_large_numbers_and_unpadded_ends(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", [("a.jpg", b"a"), ("b.jpg", b"bb")])
    data = bytearray(path.read_bytes())
    binary = b"\x80" + (1).to_bytes(11, "big")
    data[124:136] = binary
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    path.write_bytes(data[: 1024 + 512 + 2])
    assert contents(paths=str(path), ext="jpg") == [[b"a"], [b"bb"]]


def test_index_files(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", [("a.jpg", b"abc"), ("a.cls", b"1"), ("b.jpg", b"de")])
    index = tmp_path / "a.idx"

    def with_index(text: str) -> list[list[bytes]]:
        index.write_text(text)
        return contents(paths=str(path), ext=["jpg", "cls"], index_paths=str(index))

    assert with_index("v1.2 2\njpg 512 3 a.jpg cls 1536 1 a.cls\njpg 2560 2 b.jpg\n") == [
        [b"abc", b"1"],
        [b"de", b""],
    ]
    assert with_index("v1.1 1\nother 0 9 jpg 513 2\n") == [[b"bc", b""]]
    with pytest.raises(SampleError, match=r"must have 9 bytes at byte 99999 \(it has 10240 in all"):
        with_index("v1.2 1\njpg 99999 9 a.jpg\n")
    bad = ("", "v1.2", "v1.3 0\n", "v1.2 x\n", "v1.2 2\njpg 1 2 a\n", "v1.2 1\njpg 1\n")
    for text in (*bad, "v1.2 1\njpg -1 2 a.jpg\n", "v1.2 1\n\n", f"v1.1 1\njpg 1 {10**30}\n"):
        with pytest.raises(ArgumentValueError, match="line [12] of .* must be"):
            with_index(text)
    with pytest.raises(ArgumentValueError, match="No such file"):
        contents(paths=str(path), ext="jpg", index_paths=str(tmp_path / "none"))


def damaged(folder: Path, changes: dict[int, bytes], cut: int | None = None) -> dict[str, Any]:
    """Return arguments that read an archive of samples 0 to 5 that was changed."""
    data = bytearray(write_tar(folder / "a.tar", sample_entries(0, 6)).read_bytes())
    for place, change in changes.items():
        data[place : place + len(change)] = change
    (folder / "a.tar").write_bytes(data[:cut])
    return {"paths": str(folder / "a.tar"), "ext": ["jpg", "cls"]}


def outcomes(**arguments: Any) -> list[bytes | str]:
    """Return the number in each sample, or what is wrong with it."""
    pipeline = reader_pipeline(**arguments)
    size = pipeline.epoch_size("reader")
    assert isinstance(size, int)
    found: list[bytes | str] = []
    for _ in range(size):
        try:
            found.append(pipeline.run()[1].at(0).tobytes())
        except SampleError as error:
            found.append(f"{error.source}: {error.message}")
    assert all(isinstance(one, bytes) or one.startswith(arguments["paths"]) for one in found)
    return found


def test_damage_makes_bad_samples(tmp_path: Path) -> None:
    sound = [b"%03d" % number for number in range(6)]
    (index,) = open_indices([damaged(tmp_path, {})["paths"]], tar_format.FORMAT)
    header = {name: offset - 512 for name, offset in zip(index.names, index.offsets, strict=True)}
    place = header["part/002.cls"]
    # A header in the middle of a sample, or the first of one: what is next to it may be incomplete.
    for change in (b"\xff" * 512, bytes(512)):
        found = outcomes(**damaged(tmp_path, {place: change}))
        assert [number for number in found if isinstance(number, bytes)] == [*sound[:2], *sound[4:]]
        assert all("sound, uncompressed tar file" in str(text) for text in found[2:4])
    found = outcomes(**damaged(tmp_path, {0: b"\xff"}))
    assert "at byte 0)" in str(found[0])
    assert found[1:] == sound[1:]
    found = outcomes(**damaged(tmp_path, {}, cut=header["part/005.jpg"] + 600))
    assert found[:5] == sound[:5]
    assert re_message(found[5], "'part/005.jpg' must be whole")
    found = outcomes(**damaged(tmp_path, {}, cut=header["part/005.jpg"] + 100))
    assert [*found[:4]] == sound[:4]
    assert re_message(found[4], "at the end of the file")


def test_two_blocks_of_zeros_end_an_archive(tmp_path: Path) -> None:
    samples = sample_entries(0, 4)
    first, second = (
        write_tar(tmp_path / f"{i}.tar", samples[4 * i : 4 * i + 4]).read_bytes() for i in range(2)
    )
    with tarfile.open(tmp_path / "0.tar") as archive:
        last = list(archive)[-1]
    members = first[: last.offset_data + 512]
    sound = [b"000", b"001"]
    path = tmp_path / "a.tar"
    arguments = {"paths": str(path), "ext": ["jpg", "cls"]}
    # With and without blocks of zeros: whatever fills the file up, with less than a block, too.
    garbage = [b"", bytes(1), bytes(100), bytes(511), bytes(512), bytes(700), bytes(1024)]
    for rest in (*garbage, bytes(1024) + b"\xff" * 700, bytes(512) + b"x"):
        path.write_bytes(members + rest)
        assert outcomes(**arguments) == sound
    for joined in (first + second, members + bytes(1024) + second, members + bytes(1536) + second):
        path.write_bytes(joined)
        with pytest.warns(UserWarning, match=r"a\.tar': .* What follows the end is not read"):
            assert outcomes(**arguments) == sound
        with tarfile.open(path) as archive:
            assert [member.offset_data for member in archive][-1] == last.offset_data
    # A single block in front of other members was never written; what is next to it is bad.
    path.write_bytes(members + bytes(512) + second)
    found = outcomes(**arguments)
    assert (found[0], found[3]) == (b"000", b"003")
    assert all("zeros, with other members behind them" in str(text) for text in found[1:3])


def re_message(found: bytes | str, part: str) -> bool:
    assert isinstance(found, str)
    assert part in found
    return True


def test_replaced_samples(tmp_path: Path) -> None:
    arguments = damaged(tmp_path, {0: b"\xff"})
    options = {"on_sample_error": "replace", "max_bad_samples": 1.0}
    pipeline = reader_pipeline(3, **arguments, options=options)
    assert pipeline.run()[1].as_array().tobytes() == b"001001002"
    (bad,) = pipeline.bad_samples
    source = f"{arguments['paths']}:1024:part/000.cls"
    assert (bad.operator, bad.source) == ("readers.webdataset", source)


def test_other_files_as_archives_raise(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    for data in (b"", b"short", os.urandom(3000), b"\x1f\x8b" + bytes(2000)):
        path.write_bytes(data)
        assert re_message(*outcomes(paths=str(path), ext=["jpg", "cls"]), "tar file (got")
    path.write_bytes(bytes(10240))
    with pytest.raises(ArgumentValueError, match=r"at least one sample \(got 0\)"):
        read(paths=str(path), ext="jpg")
    write_tar(path, [("a.jpg", b"1"), ("a.cls", b"2")])
    sparse = bytearray(path.read_bytes())
    sparse[156:157] = b"S"
    sparse[148:156] = b" " * 8
    sparse[148:156] = b"%06o\0 " % sum(sparse[:512])
    path.write_bytes(sparse)
    assert re_message(*outcomes(paths=str(path), ext=["jpg", "cls"]), "must not be a sparse file")


def test_members_are_only_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["/etc/absolute.jpg", "../above.jpg", "a/../../b.jpg", "a\nb.jpg", "a b.jpg"]
    entries = [(name, name.encode()) for name in names]
    link = special("link.jpg", tarfile.SYMTYPE, "/etc/passwd")
    path = write_tar(tmp_path / "a.tar", [*entries, link])
    assert contents(paths=str(path), ext="jpg") == [[name.encode()] for name in names]
    assert os.listdir(tmp_path) == ["a.tar"]


def test_indices_are_cached_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dali_core.operators.readers import archive_index

    cache = tmp_path / "cache"
    monkeypatch.setenv(archive_index.CACHE_VARIABLE, str(cache))
    path = write_tar(tmp_path / "a.tar", [("a.jpg", b"1")])
    walks = []

    def walk(name: bytes) -> list[Any]:
        walks.append(name)
        return tar_format.walk_tar(name)

    monkeypatch.setattr(listing, "FORMAT", replace(tar_format.FORMAT, scan=walk))
    assert contents(paths=str(path), ext="jpg") == [[b"1"]]
    assert contents(paths=[str(path)] * 2, ext="jpg") == [[b"1"], [b"1"]]
    assert len(walks) == 1
    write_tar(path, [("a.jpg", b"1"), *[(f"{i}.jpg", b"2") for i in range(30)]])
    assert len(contents(paths=str(path), ext="jpg")) == 31
    assert len(walks) == 2
    (database,) = cache.iterdir()
    database.write_bytes(b"damaged" * 100)
    with warned_of_cache(f"{archive_index._FILE} is damaged"):
        assert len(contents(paths=str(path), ext="jpg")) == 31
    assert len(walks) == 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"paths": []}, ArgumentValueError, "'paths' must have at least 1 entry"),
        ({"ext": []}, ArgumentValueError, "'ext' must have at least 1 entry"),
        ({"paths": "/none.tar"}, ArgumentValueError, "'/none.tar': No such file"),
        ({"index_paths": ["a", "b"]}, ArgumentTypeError, "entry for each of the 1 paths"),
        ({"dtypes": [types.UINT8]}, ArgumentTypeError, "entry for each of the 2 outputs"),
        ({"dtypes": [types.BOOL] * 2}, ArgumentValueError, "got BOOL"),
        ({"missing_component_behavior": "no"}, ArgumentValueError, "'empty', 'skip', 'error'"),
        ({"ext": ["x", "y"], "missing_component_behavior": "skip"}, ArgumentValueError, "all comp"),
        ({"num_shards": 9}, ArgumentValueError, "num_shards"),
    ],
)
def test_wrong_arguments(
    arguments: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = write_tar(tmp_path / "a.tar", sample_entries(0, 2))
    with pytest.raises(error, match=message) as caught:
        reader_pipeline(**{"paths": str(path), "ext": ["jpg", "cls"], **arguments}).build()
    assert "fn.readers.webdataset at" in str(caught.value)


def test_sizes_that_do_not_fit_the_type(tmp_path: Path) -> None:
    arguments = {**two_archives(tmp_path), "dtypes": [types.UINT8, types.FLOAT16]}
    with pytest.raises(SampleError, match=r"output 1 must consist of whole elements of 2 bytes"):
        read(**arguments)
    arguments["dtypes"] = [types.INT8, types.UINT8]
    images = reader_pipeline(5, **arguments).run()[0]
    assert images.dtype is types.INT8
    assert images.at(3).dtype == np.int8
