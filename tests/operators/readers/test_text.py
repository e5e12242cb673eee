"""`fn.readers.text`: lines, whole files, compression, the index of lines, and what is damaged."""

from __future__ import annotations

import gzip
import os
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core._readers.texts import line_index
from dali_core._readers.texts.line_index import LineIndex, TextFiles
from dali_core._runtime.text_lines import LineScanner
from dali_core._storage import Storage
from dali_core._storage.options import StorageOptions
from dali_core.errors import ArgumentConflictError, ArgumentValueError, SampleError
from dali_core.operators.readers.archive_index import CACHE_VARIABLE
from tests.caches import warned_of_cache
from tests.operators.readers.texts import COMPRESS, make, read, write
from tests.operators.suite import Example

MARK = b"\xef\xbb\xbf"


def example(folder: Path, **arguments: Any) -> dict[str, Any]:
    """Write two files, and return arguments that read them."""
    paths = [
        write(folder / "a.txt", b"one\n\nthree\n"),
        write(folder / "b.txt", MARK + b"four\r\nfive\nsix"),
    ]
    return {"paths": paths, **arguments}


EXAMPLES = [
    Example("lines", (), partial(example, random_shuffle=True)),
    Example("filled", (), partial(example, skip_blank_lines=True)),
    Example("documents", (), partial(example, sample_by="document")),
]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the index cache of a test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    return folder


def scanned(data: bytes, piece: int, *, skips_blank: bool) -> tuple[list[bytes], list[int]]:
    """Return the lines of a text that comes in pieces, and the places of blank ones."""
    scanner = LineScanner(skips_blank=skips_blank)
    for start in range(0, len(data), piece):
        scanner.scan(data[start : start + piece])
    starts, sizes, blanks = scanner.finish()
    found = [data[i : i + n] for i, n in zip(starts.tolist(), sizes.tolist(), strict=True)]
    return found, blanks.tolist()


@settings(max_examples=200, deadline=None)
@given(
    parts=st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", b" ", b"\t", b"a", b"bc", MARK])),
    marked=st.booleans(),
    piece=st.integers(3, 50),
    skips_blank=st.booleans(),
)
def test_lines_are_found(parts: list[bytes], marked: bool, piece: int, skips_blank: bool) -> None:
    data = (MARK if marked else b"") + b"".join(parts)
    expected = [line.removesuffix(b"\r") for line in data.removeprefix(MARK).split(b"\n")]
    # What follows the last line feed is a line only if there is something.
    last = data.removeprefix(MARK).split(b"\n")[-1]
    expected[-1:] = [last] if last else []
    places: list[int] = []
    if skips_blank:
        filled = [line for line in expected if line.strip(b" \t\r")]
        for place, line in enumerate(expected):
            if not line.strip(b" \t\r"):
                places.append(place - len(places))
        expected = filled
    assert scanned(data, piece, skips_blank=skips_blank) == (expected, places)


def test_lines(tmp_path: Path) -> None:
    arguments = example(tmp_path)
    assert read("text", 6, **arguments) == [b"one", b"", b"three", b"four", b"five", b"six"]
    filled = [b"one", b"three", b"four", b"five", b"six"]
    assert read("text", 5, **arguments, skip_blank_lines=True) == filled
    documents = [b"one\n\nthree\n", b"four\r\nfive\nsix"]
    assert read("text", 2, **arguments, sample_by="document") == documents


def source_of(paths: list[str]) -> tuple[TextFiles, Storage]:
    storage = Storage(StorageOptions())
    return TextFiles(paths, storage), storage


def test_lengths_and_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dali_core._readers.formats.text import Documents
    from dali_core._readers.texts import lines
    from dali_core._readers.texts.lines import TextLines

    paths = example(tmp_path)["paths"]
    files, storage = source_of(paths)
    source = TextLines(files, files.find_lines(skips_blank=False), storage)
    assert source.lengths.tolist() == [3, 0, 5, 4, 4, 3]
    assert source.lengths.dtype == np.int64
    monkeypatch.setattr(lines, "_BLOCK_BYTES", 4)
    assert source.blocks == [1, 2, 1, 1, 1]
    assert sum(source.blocks) == len(source)
    documents = Documents(files, storage)
    assert documents.lengths is not None
    assert documents.lengths.tolist() == [11, 17]
    gz = write(tmp_path / "c.txt.gz", gzip.compress(b"x"))
    assert Documents(source_of([*paths, gz])[0], storage).lengths is None


@pytest.mark.parametrize("compression", COMPRESS)
def test_compressed_files(tmp_path: Path, cache: Path, compression: str) -> None:
    texts = [b"line %d" % n * (n % 7) for n in range(300)]
    content = b"\r\n".join(texts)
    paths = [
        # Names say nothing.
        write(tmp_path / "a.txt", COMPRESS[compression](MARK + content)),
        write(tmp_path / "b", COMPRESS[compression](b"")),
        write(tmp_path / "c", b"last"),
    ]
    order = np.random.default_rng(0).permutation(301).tolist()
    expected = [[*texts, b"last"][n] for n in order]
    assert read("text", 301, paths=paths, sampler=order) == expected
    kept = [path for path in cache.glob("texts-1/*") if "-" not in path.name]
    assert len(kept) == (0 if compression == "plain" else 2)
    for path in kept:
        os.utime(path, ns=(5, 5))
    assert read("text", 301, paths=paths, sampler=order) == expected
    for path in kept:  # what was removed is made again
        path.unlink()
    assert read("text", 301, paths=paths, sampler=order) == expected
    assert read("text", 1, paths=paths[:1], sample_by="document") == [content]


@pytest.mark.parametrize("is_off", [True, False])
def test_without_a_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, is_off: bool
) -> None:
    path = write(tmp_path / "a.gz", gzip.compress(b"a\nb\n"))
    if is_off:
        monkeypatch.setenv(CACHE_VARIABLE, "")
    else:
        cache.write_text("no folder")
    with warned_of_cache("", is_expected=not is_off):
        assert read("text", 2, paths=[path]) == [b"a", b"b"]
    assert is_off != cache.exists()


def test_lines_are_found_once(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = example(tmp_path)
    first = read("text", 6, **arguments)
    made: list[LineScanner] = []

    def noting(**options: Any) -> LineScanner:
        made.append(LineScanner(**options))
        return made[-1]

    monkeypatch.setattr(line_index, "LineScanner", noting)
    assert read("text", 6, **arguments) == first
    assert made == []
    Path(arguments["paths"][0]).write_bytes(b"another\n\n\n")
    assert read("text", 3, **arguments)[0] == b"another"
    assert len(made) == 1
    damage = cache / "lines-1.sqlite"
    damage.write_bytes(damage.read_bytes().replace(b"dctl", b"dctx"))
    with warned_of_cache("a wrong checksum"):
        assert read("text", 3, **arguments)[0] == b"another"
    assert len(made) == 3


def test_saved_indices_are_checked() -> None:
    starts = np.array([0, 5], np.int64)
    index = LineIndex("gzip", 9, starts, np.array([4, 4], np.uint32), np.array([1], np.int64))
    saved = index.to_bytes()
    found = LineIndex.from_bytes(saved)
    assert (found.compression, found.num_bytes) == ("gzip", 9)
    assert [found.starts.tolist(), found.sizes.tolist(), found.blanks.tolist()] == [
        [0, 5],
        [4, 4],
        [1],
    ]
    assert [found.line_number(place) for place in (0, 1)] == [1, 3]
    for bad in (saved[:10], saved[:-1], saved[:-1] + b"x", b"dctx" + saved[4:]):
        with pytest.raises(ValueError, match="with"):
            LineIndex.from_bytes(bad)
    beyond = LineIndex("", 8, starts, index.sizes, index.blanks)
    with pytest.raises(ValueError, match="other content"):
        LineIndex.from_bytes(beyond.to_bytes())
    head = bytearray(saved[:40])
    head[24:32] = (2**62).to_bytes(8, "little")
    head[4:8] = zlib.crc32(saved[40:]).to_bytes(4, "little")
    with pytest.raises(ValueError, match="other content"):
        LineIndex.from_bytes(bytes(head) + saved[40:])


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
@pytest.mark.parametrize("damage", ["cut", "changed", "followed"])
def test_damaged_compression(tmp_path: Path, cache: Path, kind: str, damage: str) -> None:
    data = COMPRESS[kind](np.random.default_rng(0).bytes(5000).hex().encode())
    if damage == "cut":
        data = data[:-10]
    elif damage == "changed":
        data = data[:20] + bytes(30) + data[50:]
    else:
        data += b"something else"
    path = write(tmp_path / "a.txt", data)
    reason = "it ends in the middle" if damage == "cut" else "it is damaged"
    with pytest.raises(ArgumentValueError, match=rf"a\.txt': {reason}"):
        read("text", 1, paths=[path])
    assert [found for found in cache.rglob("*") if found.is_file()] == []
    with pytest.raises(SampleError, match=rf"a\.txt': {reason}"):
        read("text", 1, paths=[path], sample_by="document")


def test_texts_that_are_no_samples(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"good\n\n\xc3(\ntoo long\nend")
    with pytest.raises(SampleError, match=r"a\.txt', line 3: .* in UTF-8 \(got the byte 0xc3 at 0"):
        read("text", 3, paths=[path], skip_blank_lines=True)
    pipeline = make("text", 5, {"on_sample_error": "replace"}, paths=[path], max_sample_bytes=5)
    (batch,) = pipeline.run()
    found = [bytes(np.array(batch.at(i))) for i in range(5)]
    assert found == [b"good", b"", b"end", b"end", b"end"]
    messages = [bad.message for bad in pipeline.bad_samples]
    assert "line 3" in messages[0]
    assert "line 4: the line must have at most 5 bytes (got 8)" in messages[1]
    pipeline.close()
    for most, message in ((10, r"a\.txt': the text must have at most 10"), (100, "0xc3 at 6")):
        with pytest.raises(SampleError, match=message):
            read("text", 1, paths=[path], sample_by="document", max_sample_bytes=most)
    # A small file of which much would come.
    bomb = write(tmp_path / "bomb", gzip.compress(bytes(50_000_000)))
    with pytest.raises(SampleError, match="at most 1000 bytes"):
        read("text", 1, paths=[bomb], sample_by="document", max_sample_bytes=1000)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    good = write(tmp_path / "a.txt", b"1\n2\n3\n4\n")
    for path, reason in (("missing", "No such file"), (str(tmp_path), "Is a directory")):
        with pytest.raises(ArgumentValueError, match=f"must be .*readable file.*{reason}"):
            read("text", 1, paths=[good, path])
    empty = write(tmp_path / "b.txt", MARK)
    with pytest.raises(ArgumentValueError, match="files with at least one line"):
        read("text", 1, paths=[empty])
    with pytest.raises(ArgumentConflictError, match="skip_blank_lines must be False"):
        read("text", 1, paths=[good], sample_by="document", skip_blank_lines=True)


@pytest.mark.parametrize("change", ["longer", "removed"])
def test_files_that_change(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.txt"
    write(path, b"1\n2\n3\n4\n")
    pipeline = make("text", 1, {"prefetch_queue_depth": 1}, paths=[str(path)])
    pipeline.build()
    if change == "removed":
        path.unlink()
    else:
        write(path, b"1\n2\n3\n4\n5\n")
    reason = "No such file" if change == "removed" else "it has changed since it was listed"
    with pytest.raises(SampleError, match=rf"a\.txt': {reason}"):
        pipeline.run()
    pipeline.close()


def test_objects_in_storage(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    memory = fsspec.filesystem("memory")
    texts = [b"line %d" % n for n in range(5000)]
    content = b"\n".join(texts)
    monkeypatch.setattr(line_index, "PIECE_BYTES", 1000)
    urls = []
    for name, compress in COMPRESS.items():
        memory.pipe(f"texts/{name}", compress(content))
        urls.append(f"memory://texts/{name}")
    order = np.random.default_rng(0).permutation(15000)[:500].tolist()
    expected = [texts[n % 5000] for n in order]
    assert read("text", 500, paths=urls, sampler=order) == expected
    requests: list[int] = []
    original = Storage.read

    def noting(self: Storage, url: str, offset: int = 0, size: int = -1) -> Any:
        requests.append(size)
        return original(self, url, offset, size)

    monkeypatch.setattr(Storage, "read", noting)
    assert read("text", 5000, paths=urls[:1], options={"prefetch_queue_depth": 1}) == texts
    assert len(requests) < 5  # neighbours are read at once, and the index is kept
    assert read("text", 3, paths=urls, sample_by="document") == [content] * 3
    with pytest.raises(ArgumentValueError, match="there is no such object"):
        read("text", 1, paths=["memory://texts/missing"])
