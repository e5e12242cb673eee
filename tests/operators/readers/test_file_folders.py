"""Files below folders, and in texts, listed by native code: the order, filters and labels."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dali_core._runtime.path_list import PathList
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.file.listing import KNOWN_EXTENSIONS
from tests.operators.readers.folder_trees import LIST, expected_files

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_PARTS = st.sampled_from(
    [
        *(text.encode() for text in ("a", "B", "b", "é", "\u212a", "ſ", " ", "\n", "*", "[")),
        *(text.encode() for text in (".jpg", ".JPG", ".png", ".tif", ".tıf", ".txt", "0", "10")),
        b"\xff",
    ]
)
NAMES = st.lists(_PARTS, min_size=1, max_size=4).map(b"".join)
PATTERNS = st.lists(
    st.lists(
        st.sampled_from(["*", "?", "a", "B", "k", "s", "[ab]", "[!a]", ".jpg", ".tif", "é", "\n"]),
        max_size=4,
    ).map("".join),
    min_size=1,
    max_size=3,
)
KINDS = st.sampled_from(["file", "folder", "link to file", "link to folder", "dangling link"])


def make_entry(path: bytes, kind: str) -> None:
    if os.path.lexists(path):
        return
    if kind == "folder":
        os.mkdir(path)
    elif kind == "file":
        open(path, "w").close()
    else:
        targets = {"link to file": __file__, "link to folder": os.path.dirname(__file__)}
        os.symlink(targets.get(kind, "/nowhere"), path)


@pytest.mark.filterwarnings("ignore::dali_core.errors.SkippedFilesWarning")
@SETTINGS
@given(
    folders=st.dictionaries(NAMES, st.dictionaries(NAMES, KINDS, max_size=6), max_size=4),
    files=st.one_of(st.just(KNOWN_EXTENSIONS), PATTERNS),
    dir_filters=st.one_of(st.none(), PATTERNS),
    case_sensitive=st.booleans(),
)
def test_any_tree_is_listed_in_order(
    folders: dict[bytes, dict[bytes, str]],
    files: list[str],
    dir_filters: list[str] | None,
    case_sensitive: bool,
) -> None:
    with tempfile.TemporaryDirectory() as root:
        for folder, entries in folders.items():
            path = os.path.join(os.fsencode(root), folder)
            os.mkdir(path)
            for name, kind in entries.items():
                make_entry(os.path.join(path, name), kind)
        expected = expected_files(root, files, dir_filters, case_sensitive)
        arguments = {
            "file_root": root,
            "file_filters": files,
            "dir_filters": dir_filters,
            "case_sensitive_filter": case_sensitive,
        }
        if expected:
            listing = LIST(arguments)
            assert list(zip(listing.files, listing.labels, strict=True)) == expected
        else:
            with pytest.raises(ArgumentValueError, match="must have folders with files"):
                LIST(arguments)


@SETTINGS
@given(
    lines=st.lists(
        st.lists(
            st.sampled_from(
                [
                    *(b"a", b" ", b"\t", b"\r", b"\x1c", b"\x0b", b"\x85", b"\xff", b"\0"),
                    *(b"+", b"-", b"7", b"12345", b"/"),
                    *(text.encode() for text in ("\u00a0", "\u2003", "é")),
                ]
            ),
            max_size=8,
        ).map(b"".join),
        max_size=4,
    )
)
def test_native_lines_match_python_text_files(lines: list[bytes]) -> None:
    """Native code reads the plain ones."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\n".join(lines))
        file.flush()
        expected: list[tuple[str, int]] | None = []
        with open(file.name, encoding="utf-8", errors="surrogateescape") as text:
            for line in text:
                entry = re.fullmatch(r"(.*\S)[ \t]+([+-]?[0-9]+)", line.rstrip())
                if not line.strip():
                    continue
                if entry is None or "\0" in line or abs(int(entry[2])) >= 2**31:
                    expected = None
                    break
                assert expected is not None
                expected.append((entry[1], int(entry[2])))
        if expected:
            listing = LIST({"file_list": file.name})
            assert list(zip(listing.files, listing.labels, strict=True)) == expected
        else:
            with pytest.raises(ArgumentValueError, match="file_list"):
                LIST({"file_list": file.name})


def test_large_labels_are_named_after_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"a 1\nb {2**31}\nc -{10**30}\n")
    with pytest.raises(ArgumentValueError, match=r"entry 1 must fit into 32 bits \(got 2147483648"):
        LIST({"file_list": str(path)})
    path.write_text(f"a {2**31}\nb\n")
    with pytest.raises(ArgumentValueError, match="line 2"):
        LIST({"file_list": str(path)})
    path.write_text(f"a -{2**31}\nb +{2**31 - 1}\n")
    assert list(LIST({"file_list": str(path)}).labels) == [-(2**31), 2**31 - 1]


def test_files_with_file_urls_are_paths(tmp_path: Path) -> None:
    files = ["b", f"file://{tmp_path}/a%20b"]
    listing = LIST({"files": files, "labels": [3, 4]})
    assert list(listing.files) == ["b", f"{tmp_path}/a b"]
    assert list(listing.labels) == [3, 4]


def test_paths_are_a_sequence() -> None:
    paths = PathList()
    paths.extend(["a", "b\udcff", ""], [1, 2, 3])
    assert [len(paths), paths[0], paths[-2], paths[2]] == [3, "a", "b\udcff", ""]
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"got {index}"):
            paths[index]
