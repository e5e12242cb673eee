"""`fn.readers.mxnet`: images, labels, records in parts, and damaged files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
from dali_core.operators.readers.archive_index import open_indices
from dali_core.operators.readers.mxnet.record_format import FORMAT
from tests.operators.readers.record_files import image_record, images, write_recordio
from tests.operators.suite import Example


def one_file(folder: Path) -> dict[str, Any]:
    path = write_recordio(folder / "a.rec", images(0, 9))
    return {"path": str(path), "index_path": [str(path.with_suffix(".idx"))]}


def without_index(folder: Path) -> dict[str, Any]:
    return {"path": [one_file(folder)["path"]], "random_shuffle": True}


EXAMPLES = [Example("one file", (), one_file), Example("no index", (), without_index)]


def outcomes(**arguments: Any) -> list[tuple[bytes, list[float]] | str]:
    """Return image and labels of each record, or what is wrong with it."""
    with Pipeline(1, 2, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(*fn.readers.mxnet(name="reader", **arguments))
    size = pipeline.epoch_size("reader")
    assert isinstance(size, int)
    found: list[tuple[bytes, list[float]] | str] = []
    for _ in range(size):
        try:
            image, labels = pipeline.run()
            found.append((image.at(0).tobytes(), labels.at(0).tolist()))
        except SampleError as error:
            found.append(f"{error.source}: {error.message}")
    return found


def expected(first: int, count: int) -> list[tuple[bytes, list[float]]]:
    """Return what records of `images` hold."""
    found = []
    for number, record in enumerate(images(first, count), first):
        labels = [float(number)] if number % 3 else [number + 0.5, 1.0, 2.0]
        start = 24 if number % 3 else 24 + 4 * len(labels)
        found.append((record[start:], labels))
    return found


def test_records(tmp_path: Path) -> None:
    arguments = one_file(tmp_path)
    assert outcomes(**arguments) == expected(0, 9)
    assert outcomes(path=arguments["path"]) == expected(0, 9)
    # Lines in any order, and not for all records.
    lines = Path(arguments["index_path"][0]).read_text().splitlines()
    Path(arguments["index_path"][0]).write_text("\n".join([lines[7], lines[2], "", lines[4]]))
    assert outcomes(**arguments) == [expected(number, 1)[0] for number in (2, 4, 7)]


def test_damage_makes_bad_samples(tmp_path: Path) -> None:
    arguments = one_file(tmp_path)
    path = Path(arguments["path"])
    (index,) = open_indices([str(path)], FORMAT)
    data = path.read_bytes()
    place = index.offsets[4]
    # Nothing protects the lengths but that they end inside of the file.
    for offset in (0, 7):
        changed = bytearray(data)
        changed[place + offset] ^= 0x81
        path.write_bytes(changed)
        for given in (arguments, {"path": str(path)}):
            found = outcomes(**given)
            assert [*found[:4], *found[5:]] == [*expected(0, 4), *expected(5, 4)]
            assert str(found[4]).startswith(f"{path} at index {place}: the file must have a whole")
    path.write_bytes(data[:-100])
    assert outcomes(**arguments)[:8] == expected(0, 8)
    assert "must have a whole record" in str(outcomes(**arguments)[8])
    for record, message in (
        (b"short", "must have a header of 24 bytes"),
        (b"\x05" + bytes(30), "as many labels as its header says"),
    ):
        (found,) = outcomes(path=str(write_recordio(path, [record])))
        assert message in found
    path.write_bytes(b"no records at all")
    assert "must have a whole record at byte 0" in str(outcomes(path=str(path))[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": []}, "must have 1 entry"),
        ({"path": ["a", "b"]}, "must have 1 entry"),
        ({"index_path": ["a", "b"]}, "must have 1 entry"),
        ({"path": "/none", "index_path": None}, "'/none': No such file"),
        ({"index_path": "/none"}, "'/none': No such file"),
        ({"num_shards": 10}, "num_shards"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        outcomes(**{**one_file(tmp_path), **arguments})


def test_damaged_index_files(tmp_path: Path) -> None:
    arguments = one_file(tmp_path)
    for text in ("0\n", "x\t0\n", "0\t-1\n", "0\t1\t2\n"):
        Path(arguments["index_path"][0]).write_text(text)
        with pytest.raises(ArgumentValueError, match="must be the number and offset of a record"):
            outcomes(**arguments)
    Path(arguments["index_path"][0]).write_text("0\t1\n1\t99999999\n")
    assert all("must have a whole record" in str(found) for found in outcomes(**arguments))


def test_labels_are_floats(tmp_path: Path) -> None:
    path = write_recordio(tmp_path / "a.rec", [image_record(b"", np.inf), image_record(b"x", 0.1)])
    assert outcomes(path=str(path)) == [(b"", [np.inf]), (b"x", [float(np.float32(0.1))])]
