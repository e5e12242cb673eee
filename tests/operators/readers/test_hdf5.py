"""`fn.readers.hdf5`: rows of data sets, and data sets in groups."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._readers.formats.hdf5 import Hdf5
from dali_core.errors import ArgumentValueError
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import Sample, read
from tests.mutated_formats import outcomes
from tests.operators.suite import ALL_TYPES, Example, numbers

h5py = pytest.importorskip("h5py", reason="not available: h5py")


def rows(folder: Path, **arguments: Any) -> dict[str, Any]:
    paths = []
    for count in (7, 4):
        path = folder / f"{count}.h5"
        with h5py.File(path, "w") as file:
            options = {"chunks": (3, 2), "compression": "gzip", "fletcher32": True}
            file.create_dataset("a/x", data=numbers("int16", (count, 4), count), **options)
            file["y"] = numbers(">f4", (count,), count)
        paths.append(str(path))
    return {"paths": paths, "datasets": ["a/x", "y"], **arguments}


def demos(folder: Path, **arguments: Any) -> dict[str, Any]:
    paths = []
    for first in (0, 5):
        path = folder / f"{first}.hdf5"
        with h5py.File(path, "w") as file:
            for number in range(first, first + 6):
                group = file.create_group(f"data/demo_{number * 3}")
                group["obs/state"] = numbers("float64", (number + 1, 3), number)
                group["actions"] = numbers("float32", (number + 1,), number)
            file["data/mask"] = np.ones(3)
        paths.append(str(path))
    datasets = ["data/demo_*/obs/state", "data/demo_*/actions"]
    return {"paths": paths, "datasets": datasets, **arguments}


def crops(folder: Path, **arguments: Any) -> dict[str, Any]:
    paths = []
    for number in range(2):
        path = folder / f"{number}.h5"
        with h5py.File(path, "w") as file:
            options = {"chunks": (3, 2, 4), "compression": "gzip", "shuffle": True}
            volume = numbers("int16", (7, 6, 8), number)
            file.create_dataset("image", data=volume, fletcher32=True, **options)
            file.create_dataset("labels", data=volume.astype("u1"), chunks=(7, 6, 2))
        paths.append(str(path))
    window = {"crop": [3, 3, 4], "num_crops": 5}
    return {"paths": paths, "datasets": ["image", "labels"], **window, **arguments}


EXAMPLES = [
    Example("crops", (), partial(crops, align=True)),
    Example("rows", (), partial(rows, random_shuffle=True)),
    Example("groups", (), demos),
]


def damage_chunk(path: Path, name: str, number: int) -> None:
    """Change a byte of a chunk that has a checksum."""
    with h5py.File(path) as file:
        info = file[name].id.get_chunk_info(number)
    data = bytearray(path.read_bytes())
    data[info.byte_offset + info.size // 2] ^= 255
    path.write_bytes(data)


class TestRows(ReaderSuite):
    format = Hdf5()
    num_samples = 11
    write = staticmethod(rows)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        damage_chunk(folder / "7.h5", "a/x", 2)
        return {n: f"7.h5', data set 'a/x', row {n}: " for n in (3, 4, 5)}


class TestGroups(ReaderSuite):
    format = Hdf5()
    num_samples = 12
    write = staticmethod(demos)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        with h5py.File(folder / "5.hdf5", "r+") as file:
            del file["data/demo_24/actions"]
        return {9: "5.hdf5', data set 'data/demo_24/actions': there is no data set"}


def found(path: Path, datasets: Any, count: int = 1, **arguments: Any) -> list[Sample]:
    return read("readers.hdf5", {"paths": [str(path)], "datasets": datasets, **arguments}, count)


def test_values_are_those_of_the_library(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    compound = np.array([(1, 2.5, "ab"), (3, -1, "")], [("i", ">i2"), ("f", "f8"), ("s", "S3")])
    ragged = h5py.vlen_dtype(np.int32)
    lists = [np.arange(3, dtype=np.int32), np.empty(0, np.int32)]
    with h5py.File(path, "w") as file:
        for kind in ALL_TYPES:
            file[kind] = numbers(kind, (2, 3), 1)
        file["big"] = numbers("uint32", (2, 3), 2).astype(">u4")
        file["text"] = ["é", ""]
        file["fixed"] = np.array([b"abc", b"d"])
        file["compound"] = compound
        file["enum"] = np.array([1, 0], h5py.enum_dtype({"a": 0, "b": 1}, "u1"))
        file.create_dataset("ragged", 2, ragged)[:] = lists
        file.create_dataset("absent", (2, 2), "i2", chunks=(1, 2), fillvalue=-7)
    simple = [*ALL_TYPES, "big", "enum", "absent"]
    names = [*simple, "text", "fixed", "compound/i", "compound/f", "compound/s", "ragged"]
    samples = found(path, names, 2)
    with h5py.File(path) as file:
        for number, sample in enumerate(samples):
            arrays = dict(zip(names, sample, strict=True))
            for name in simple:
                np.testing.assert_array_equal(arrays[name], file[name][number])
                assert arrays[name].dtype == file[name].dtype.newbyteorder("=")
            assert bytes(arrays["text"]).decode() == ["é", ""][number]
            assert bytes(arrays["fixed"]) == [b"abc", b"d"][number]
            assert bytes(arrays["compound/s"]) == [b"ab", b""][number]
            assert (arrays["compound/i"], arrays["compound/f"]) == (
                [1, 3][number],
                [2.5, -1][number],
            )
            np.testing.assert_array_equal(arrays["ragged"], lists[number], strict=True)


def test_groups_come_in_natural_order_with_lengths(tmp_path: Path) -> None:
    arguments = demos(tmp_path)
    source, _ = TestGroups().open(arguments)
    assert source.lengths is not None
    assert source.lengths.tolist() == [*range(1, 7), *range(6, 12)]
    samples = read("readers.hdf5", arguments, 12)
    assert [len(state) for state, _ in samples] == source.lengths.tolist()


def test_chunks_are_blocks(tmp_path: Path) -> None:
    arguments = rows(tmp_path)
    source, _ = TestRows().open(arguments)
    assert source.blocks == [3, 3, 1, 3, 1]
    source, _ = TestRows().open({**arguments, "datasets": "y"})
    assert source.blocks is None


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        ("z", "there is no data set 'z' in it"),
        ("g", "'g' must be a data set that is not empty"),
        ("empty", "'empty' must be a data set that is not empty"),
        ("scalar", r"must have equally many rows .*\(\)"),
        (["a", "b"], r"must have equally many rows .*\(2,\), \(3,\)"),
        ("complex", "must have numbers or one text in a row .it has complex64"),
        ("reference", "must have numbers or one text in a row"),
        ("compound", "must have numbers or one text in a row"),
        ("texts", "must have numbers or one text in a row"),
        ("none", "datasets must have at least one sample"),
        ("g*/z", "datasets must have at least one sample"),
        ("z/*", "z"),
        (["g*/x", "g*/y"], r"'g\*/y' must match for the same texts .*for 'roup'"),
        (["g*/x", "a"], r"patterns must each have one '\*'"),
        ("g*/*", r"patterns must each have one '\*'"),
        ("m*", "what 'm.' matches must have one type"),
    ],
)
def test_datasets_that_cannot_be_read(datasets: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_group("g")
        file["group/x"] = np.ones(2)
        file["a"], file["b"], file["scalar"] = np.ones(2), np.ones(3), 3.0
        file["m1"], file["m2"] = np.ones(2), np.ones(2, np.int8)
        file["none"] = np.ones((0, 2))
        file["complex"] = np.ones(2, np.complex64)
        file["compound"] = np.zeros(2, [("i", "i2")])
        file["empty"] = h5py.Empty("f4")
        file["texts"] = [["a"], ["b"]]
        file.create_dataset("reference", (2,), h5py.ref_dtype)
    with pytest.raises(ArgumentValueError, match=message):
        found(path, datasets)


@pytest.mark.parametrize("locking", [None, False, True])
def test_files_may_be_open_in_the_program(locking: bool | None, tmp_path: Path) -> None:
    arguments = rows(tmp_path)
    with h5py.File(arguments["paths"][0], locking=locking) as file:
        samples = read("readers.hdf5", arguments, 7)
        np.testing.assert_array_equal([x for x, _ in samples], file["a/x"])


def test_files_must_have_one_type(tmp_path: Path) -> None:
    for name, kind in (("a", "i4"), ("b", "f4")):
        with h5py.File(tmp_path / name, "w") as file:
            file["x"] = np.ones(2, kind)
    paths = [str(tmp_path / name) for name in "ab"]
    with pytest.raises(ArgumentValueError, match="must have the same types in all files"):
        read("readers.hdf5", {"paths": paths, "datasets": "x"}, 1)


class TestCrops(ReaderSuite):
    format = Hdf5()
    num_samples = 10
    write = staticmethod(crops)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        source, _ = self.open(arguments)
        regions = [source.regions(index) for index in range(10)]  # type: ignore[attr-defined]
        damage_chunk(folder / "1.h5", "image", 0)
        first = ((0, 3), (0, 2), (0, 4))

        def touches(region: Any) -> bool:
            return all(start < end for (start, _), (_, end) in zip(region, first, strict=True))

        bad = [n for n, (path, parts) in enumerate(regions) if path == 1 and touches(parts[0])]
        return dict.fromkeys(bad, "1.h5', data set 'image', chunk (0, 0, 0): the checksum must")


@pytest.mark.parametrize("dtype", [*ALL_TYPES, ">f4", ">i2"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": (3, 2, 4)},
        {"chunks": (3, 2, 4), "compression": "gzip"},
        {"chunks": (3, 2, 4), "compression": "gzip", "shuffle": True, "fletcher32": True},
        {"chunks": (3, 2, 4), "compression": "lzf"},
        {"chunks": (3, 2, 4), "scaleoffset": 0},
    ],
)
def test_crops_are_those_of_the_library(
    dtype: str, options: dict[str, Any], tmp_path: Path
) -> None:
    if "scaleoffset" in options and np.dtype(dtype).kind not in "iu":
        options = {"chunks": (1, 6, 8), "shuffle": True}
    volume = numbers(np.dtype(dtype).name, (7, 6, 8), 1).astype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=volume, **options)
        expected = file["x"][()].astype(volume.dtype.newbyteorder("="))
    source, fetcher = TestCrops().open(
        {"paths": [str(tmp_path / "a.h5")], "datasets": ["x"], "crop": [2, 5, 3], "num_crops": 20}
    )
    found = fetcher.fetch_many(range(20))
    assert found is not None
    for index in range(20):
        _, (region,) = source.regions(index)  # type: ignore[attr-defined]
        part = tuple(slice(*one) for one in region)
        np.testing.assert_array_equal(found[index][0], expected[part], strict=True)


def test_crops_of_chunks_that_were_never_written(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        data = file.create_dataset(
            "x", (6, 4), "f4", chunks=(2, 2), fillvalue=7, maxshape=(None, 4)
        )
        data[2:4, :2] = 1
        file["text"] = "words"
    arguments = {"paths": [str(tmp_path / "a.h5")], "datasets": ["x"], "crop": [6, 4]}
    (whole,) = TestCrops().open(arguments)[1].fetch(0)
    expected = np.full((6, 4), 7, "f4")
    expected[2:4, :2] = 1
    np.testing.assert_array_equal(whole, expected, strict=True)
    for datasets, message in ((["text"], "an array of numbers"), (["y"], "no data set 'y'")):
        with pytest.raises(ArgumentValueError, match=message):
            TestCrops().open({**arguments, "datasets": datasets})


@pytest.mark.parametrize("suite", [TestRows(), TestGroups(), TestCrops()])
def test_mutated_files(suite: ReaderSuite, tmp_path: Path) -> None:
    counts = outcomes(suite, tmp_path, 0, 60)
    assert min(counts["refused"], counts["read"]) > 10
