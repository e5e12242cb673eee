"""`fn.readers.caffe`: entries of databases, their messages, and damaged databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.readers.database_files import datum, datums, lmdb, write_database
from tests.operators.suite import Example, list_of


def one_database(folder: Path) -> dict[str, Any]:
    return {"path": str(write_database(folder / "db", datums(9)))}


def two_databases(folder: Path) -> dict[str, Any]:
    paths = [str(write_database(folder / name, datums(5))) for name in "ab"]
    return {"path": paths, "image_available": False, "random_shuffle": True}


EXAMPLES = [Example("one", (), one_database), Example("two", (), two_databases)]


def outcomes(**arguments: Any) -> list[list[Any] | str]:
    """Return the values of each entry, or what is wrong with it."""
    with Pipeline(1, 2, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(*list_of(fn.readers.caffe(name="reader", **arguments)))
    size = pipeline.epoch_size("reader")
    assert isinstance(size, int)
    found: list[list[Any] | str] = []
    for _ in range(size):
        try:
            found.append([output.at(0).tolist() for output in pipeline.run()])
        except SampleError as error:
            found.append(f"{error.source}: {error.message}")
    return found


def expected(count: int) -> list[list[Any]]:
    return [[[i % 256] * (i * 397 % 9000), [i - 3]] for i in range(count)]


def test_entries(tmp_path: Path) -> None:
    # So many that the tree has several levels.
    path = str(write_database(tmp_path / "a", datums(700)))
    assert outcomes(path=path) == expected(700)
    assert outcomes(path=[f"{path}/data.mdb"], label_available=False)[5] == [expected(6)[5][0]]
    entries = [(b"b", datum(None, 3)), (b"a", datum(b"xy", None)), (b"\xff\n", b"\xff")]
    path = str(write_database(tmp_path / "b", entries))
    found = outcomes(path=path)
    assert found[:2] == [[[120, 121], []], [[], [3]]]
    assert str(found[2]).startswith(f"{path} at key \\xff\n: the record must be a message")
    with lmdb.open(path) as environment, environment.begin(write=True) as transaction:
        transaction.delete(b"b")
        transaction.put(b"c", datum(b"new", 9))
    assert outcomes(path=path)[:2] == [[[120, 121], []], [[110, 101, 119], [9]]]


def test_damage_makes_bad_samples(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a", datums(700)) / "data.mdb"
    data = path.read_bytes()
    sound = expected(700)
    leaves = [p for p in range(0, len(data), 4096) if data[p + 10 : p + 12] == b"\x02\0"]
    assert len(leaves) > 10
    for place, change in ((leaves[5] + 10, b"\xff"), (leaves[5], bytes(4096))):
        path.write_bytes(data[:place] + change + data[place + len(change) :])
        found = outcomes(path=str(path.parent))
        assert len(found) == 700
        bad = [number for number, one in enumerate(found) if isinstance(one, str)]
        assert 2 < len(bad) < 200
        assert [number for number in range(700) if found[number] != sound[number]] == bad
        assert all("must be a sound file of LMDB" in str(found[number]) for number in bad)
    for content in (b"", b"x" * 10000, data[:4096], bytes(8192)):
        path.write_bytes(content)
        assert all(isinstance(one, str) for one in outcomes(path=str(path.parent)))


def test_other_databases(tmp_path: Path) -> None:
    with pytest.raises(ArgumentValueError, match=r"at least one entry \(got none\)"):
        outcomes(path=str(write_database(tmp_path / "empty", [])))
    with lmdb.open(str(tmp_path / "nested"), max_dbs=2) as environment:
        nested = environment.open_db(b"nested")
        several = environment.open_db(b"several", dupsort=True)
        with environment.begin(write=True) as transaction:
            transaction.put(b"a", b"b", db=nested)
            for value in (b"1", b"2"):
                transaction.put(b"a", value, db=several)
    found = outcomes(path=str(tmp_path / "nested"))
    assert all("it is a database of its own" in str(one) for one in found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": []}, "at least 1 entry"),
        ({"path": "/none"}, "'/none': No such file"),
        ({"num_shards": 10}, "num_shards"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        outcomes(**{**one_database(tmp_path), **arguments})
