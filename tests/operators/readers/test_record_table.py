"""Rows and lengths of listings: record files, archives, folders, and data sets of the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._call.arguments import check_arguments
from dali_core._readers.record_table import Record, RecordSource, RecordTable
from dali_core._readers.user_data import UserData
from dali_core._registry.specs import find_own
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests.operators.readers.record_files import examples, write_tfrecords
from tests.operators.readers.tar_files import write_tar


def opened(name: str, **arguments: Any) -> RecordSource:
    """Return what a reader lists for the arguments of a call."""
    spec = find_own(name)
    assert spec is not None
    assert spec.reader is not None
    checked, _ = check_arguments(spec, spec.bind((), arguments)[1] if spec.bind else arguments, "")
    source = spec.reader(checked)
    assert isinstance(source, RecordSource)
    return source


def test_record_files_know_the_bytes_of_their_records(tmp_path: Path) -> None:
    from dali_core.tfrecord import VarLenFeature, int64

    paths = [str(write_tfrecords(tmp_path / f"{i}.rec", examples(i, 3 + i))) for i in range(2)]
    source = opened("readers.tfrecord", path=paths, features={"label": VarLenFeature(int64)})
    lengths = source.lengths
    assert lengths is not None
    assert lengths.dtype == np.int64
    assert lengths[:3].sum() == Path(paths[0]).stat().st_size
    assert lengths[3:].sum() == Path(paths[1]).stat().st_size
    assert source.records(0) == [Record(paths[0], 0, int(lengths[0]))]
    assert source.records(4) == [Record(paths[1], int(lengths[3]), int(lengths[4]))]


def test_archives_know_the_bytes_of_the_files_that_are_read(tmp_path: Path) -> None:
    entries = [("0.a", b"12345"), ("0.b", b"1"), ("0.c", b"not read"), ("1.a", b"12")]
    path = str(write_tar(tmp_path / "0.tar", entries))
    source = opened("readers.webdataset", paths=[path], ext=["a", "b"])
    assert source.lengths is not None
    assert source.lengths.tolist() == [6, 2]
    whole, missing = source.records(1)
    assert missing is None
    assert whole is not None
    assert Path(path).read_bytes()[whole.offset :][: whole.size] == b"12"


@pytest.mark.parametrize("name", ["readers.file", "readers.numpy"])
def test_files_of_folders_are_whole_records_of_unknown_length(name: str, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    path = tmp_path / "class" / "0.npy"
    path.write_bytes(b"123")
    arguments = {"file_filters": ["*.npy"]} if name == "readers.file" else {}
    source = opened(name, file_root=str(tmp_path), **arguments)
    assert source.lengths is None
    assert source.records(0) == [Record(str(path))]
    assert source.problem(0) == ""


def test_problems_are_those_of_their_rows() -> None:
    table = RecordTable(["a", "b"], num_parts=2)
    table.extend(0, [0, 5, 10, 0], [5, 5, 2, -1], {})
    table.extend(1, [7, 8], [1, 3], {0: "damaged"})
    assert len(table) == 3
    assert table.lengths.tolist() == [10, 2, 4]
    assert [table.problem(i) for i in range(3)] == ["", "", "damaged"]
    assert table.records(1) == [Record("a", 10, 2), None]
    assert table.records(2) == [Record("b", 7, 1), Record("b", 8, 3)]
    assert table.native_arguments()["bad"] == [2]
    assert RecordTable([]).lengths.tolist() == []


class Words:
    """A data set whose samples are numbers of words."""

    def __init__(self, lengths: Any) -> None:
        self.lengths = lengths

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> np.ndarray:
        return np.zeros(index)


@pytest.mark.parametrize("lengths", [[3, 0, 7], np.array([3, 0, 7], np.uint16), lambda: (3, 0, 7)])
def test_data_sets_may_have_lengths(lengths: Any) -> None:
    found = UserData(Words(lengths)).lengths
    assert found is not None
    assert found.dtype == np.int64
    assert found.tolist() == [3, 0, 7]


def test_data_sets_may_have_several_kinds_of_lengths() -> None:
    found = UserData(Words([[3, 1], [0, 0], [7, 2]])).lengths
    assert found is not None
    assert found.tolist() == [[3, 1], [0, 0], [7, 2]]


def test_lengths_of_64_bits_are_not_copied() -> None:
    lengths = np.array([3, 0, 7])
    assert np.shares_memory(UserData(Words(lengths)).lengths, lengths)


def test_data_sets_need_no_lengths() -> None:
    assert UserData([1, 2]).lengths is None
    assert UserData(Words(None)).lengths is None


@pytest.mark.parametrize(
    ("lengths", "error", "reason"),
    [
        ([1, 2], ArgumentValueError, r"each of the 3 samples \(got 2\)"),
        ([1, -2, 3], ArgumentValueError, r"from 0 on \(got -2 for sample 1\)"),
        (np.array([1, 2, 2**63], np.uint64), ArgumentValueError, "for sample 2"),
        ([1.5, 2, 3], ArgumentTypeError, "integers"),
        ([[1, 2, 3]], ArgumentValueError, r"each of the 3 samples \(got 1\)"),
        ([[[1], [2], [3]]], ArgumentTypeError, "3 dimensions"),
        ([[1, 2], [3, -4], [5, 6]], ArgumentValueError, r"got \[ 3 -4\] for sample 1"),
        ("abc", ArgumentTypeError, "integers"),
    ],
)
def test_wrong_lengths_are_refused(lengths: Any, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        _ = UserData(Words(lengths)).lengths
