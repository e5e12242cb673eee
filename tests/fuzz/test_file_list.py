"""Lists of files for readers.file: any bytes are a valid list or an error that names the line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dali_core._storage import stored
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.file.listing import open_files

LIST = stored(open_files)
SETTINGS = settings(
    max_examples=500,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TELLING = st.sampled_from([b" ", b"\t", b"\n", b"\r", b"\0", b"-", b"+", b"1", b"9", b"a", b"/"])
ANY_BYTES = st.one_of(
    st.binary(max_size=200),
    st.lists(st.one_of(TELLING, st.binary(max_size=3)), max_size=60).map(b"".join),
)
NAMES = st.text(
    st.characters(exclude_characters="\n\r\0\v\f\x1c\x1d\x1e\x85\u2028\u2029", codec="utf-8"),
    min_size=1,
    max_size=30,
).filter(lambda name: name == name.strip())
LABELS = st.integers(-(2**31), 2**31 - 1)


@SETTINGS
@given(content=ANY_BYTES)
@example(content=b"a " + b"9" * 5000 + b"\n")
@example(content=b"\xff\xfe 1\n")
@example(content=b" " * 10000 + b"1\n")
@example(content=b"1 " * 10000 + b"x\n")
def test_any_bytes_are_listed_or_raise(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)
    try:
        listing = LIST({"file_list": str(path)})
    except ArgumentValueError as error:
        message = str(error)
        assert str(path) in message
        return
    assert (
        0
        < len(listing.files)
        == len(listing.labels)
        <= content.count(b"\n") + content.count(b"\r") + 1
    )
    assert all(name and os.fsencode(name) in content for name in listing.files)
    assert not any("\0" in name for name in listing.files)
    assert all(-(2**31) <= label < 2**31 for label in listing.labels)


@SETTINGS
@given(entries=st.lists(st.tuples(NAMES, LABELS), min_size=1, max_size=10))
def test_file_list_round_trip(entries: list[tuple[str, int]], tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("".join(f"{name} {label}\n" for name, label in entries), encoding="utf-8")
    listing = LIST({"file_list": str(path)})
    assert list(zip(listing.files, listing.labels, strict=True)) == entries


@pytest.mark.parametrize("name", ["no such file", ""])
def test_lists_that_cannot_be_opened(name: str) -> None:
    with pytest.raises(ArgumentValueError):
        LIST({"file_list": name})
