"""`fn.readers.zarr`: rows and crops of Zarr arrays."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._readers.formats.zarr import Zarr
from dali_core._storage import Storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import open_format, read
from tests.mutated_formats import outcomes
from tests.operators.readers.zarr_files import write_v2, write_v3
from tests.operators.suite import ALL_TYPES, Example, numbers


def rows(folder: Path, **arguments: Any) -> dict[str, Any]:
    for count in (7, 4):
        write_v2(folder / f"{count}" / "x", numbers("int16", (count, 4), count), (3, 2))
        write_v3(folder / f"{count}" / "a" / "y", numbers("float32", (count,), count), (2,))
    paths = [str(folder / "7"), str(folder / "4")]
    return {"paths": paths, "arrays": ["x", "a/y"], **arguments}


def crops(folder: Path, **arguments: Any) -> dict[str, Any]:
    volume = numbers("uint16", (2, 9, 8, 7), 1)
    write_v3(folder / "image", volume, (1, 2, 2, 2), (1, 4, 4, 4))
    return {"paths": [str(folder / "image")], "crop": [3, 5, 4], "num_crops": 9, **arguments}


EXAMPLES = [
    Example("rows", (), partial(rows, random_shuffle=True)),
    Example("crops", (), partial(crops, crop_seed=3)),
]


class TestRows(ReaderSuite):
    format = Zarr()
    num_samples = 11
    write = staticmethod(rows)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "7" / "x" / "1.1").write_bytes(b"no gzip")
        chunk = folder / "4" / "a" / "y" / "c" / "1"
        chunk.write_bytes(chunk.read_bytes()[:-1])
        bad = dict.fromkeys((3, 4, 5), "7/x/1.1'")
        return {**bad, 9: "4/a/y/c/1': a chunk must have 8 bytes", 10: "4/a/y/c/1'"}


class TestCrops(TestRows):
    num_samples = 9
    write = staticmethod(crops)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        shard = folder / "image" / "c" / "1" / "0" / "0" / "0"
        shard.write_bytes(shard.read_bytes()[:-128])
        source, _ = self.open(arguments)
        regions = [source.regions(index)[1][0] for index in range(9)]  # type: ignore[attr-defined]
        starts = [[start for start, _ in region[1:]] for region in regions]
        return {n: "image/c/1/0/0/0'" for n in range(9) if max(starts[n]) < 4}


def fetched(arguments: dict[str, Any]) -> list[np.ndarray]:
    source, fetcher = open_format(Zarr(), arguments)
    found = fetcher.fetch_many(range(len(source)))
    assert found is not None
    return [sample[0] for sample in found]


def check(path: Path, expected: np.ndarray) -> None:
    """Compare rows, and crops at all kinds of places."""
    found = fetched({"paths": [str(path)]})
    np.testing.assert_array_equal(np.stack(found), expected, strict=True)
    crop = [-(-extent // 2) for extent in expected.shape]
    anchors = np.random.default_rng(0).integers(0, np.array(expected.shape) - crop + 1, (9, 3))
    found = fetched({"paths": [str(path)], "crop": crop, "anchors": anchors})
    for anchor, sample in zip(anchors.tolist(), found, strict=True):
        part = tuple(slice(at, at + size) for at, size in zip(anchor, crop, strict=True))
        np.testing.assert_array_equal(sample, expected[part], strict=True)


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types_and_byte_orders_are_those_of_the_library(dtype: str, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr", reason="not available: zarr")
    volume = numbers(dtype, (7, 5, 6), 1)
    for number, order in enumerate("<>"):
        stored = volume.astype(volume.dtype.newbyteorder(order))
        options = {"chunks": (2, 3, 4), "shape": volume.shape, "dtype": stored.dtype}
        for version in (2, 3):
            path = tmp_path / f"{version}{number}"
            array = zarr.create_array(path, zarr_format=version, **options)
            array[:] = stored
            check(path, zarr.open_array(path)[:].astype(volume.dtype))


@pytest.mark.parametrize(
    "options",
    [
        {"compressors": None},
        {"compressors": "blosc lz4"},
        {"compressors": "blosc zstd"},
        {"compressors": "gzip crc32c"},
        {"compressors": "zstd"},
        {"filters": "transpose"},
        {"shards": (4, 6, 8)},
        {"shards": (4, 6, 8), "filters": "transpose", "compressors": "gzip crc32c"},
        {"chunk_key_encoding": {"name": "v2", "separator": "/"}},
        {"chunk_key_encoding": {"name": "default", "separator": "."}},
    ],
)
def test_codecs_of_version_3_are_those_of_the_library(
    options: dict[str, Any], tmp_path: Path
) -> None:
    zarr = pytest.importorskip("zarr", reason="not available: zarr")
    codecs = zarr.codecs
    named = {
        "blosc lz4": codecs.BloscCodec(cname="lz4", shuffle="bitshuffle", typesize=4),
        "blosc zstd": codecs.BloscCodec(cname="zstd", shuffle="shuffle", typesize=4),
        "gzip crc32c": [codecs.GzipCodec(), codecs.Crc32cCodec()],
        "transpose": [codecs.TransposeCodec(order=(2, 0, 1))],
        "zstd": codecs.ZstdCodec(level=3, checksum=True),
    }
    given = {k: named.get(v, v) if isinstance(v, str) else v for k, v in options.items()}
    volume = numbers("int32", (7, 9, 10), 2)
    array = zarr.create_array(
        tmp_path / "a", shape=volume.shape, dtype=volume.dtype, chunks=(2, 3, 4), **given
    )
    array[:] = volume
    array[4:6, 3:6, :] = 0  # chunks of the fill value are not written
    check(tmp_path / "a", array[:])


@pytest.mark.parametrize("location", ["start", "end"])
def test_shards_in_shards(location: str, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr", reason="not available: zarr")
    codecs = zarr.codecs
    inner = codecs.ShardingCodec(
        chunk_shape=(2, 2, 2), codecs=[codecs.BytesCodec()], index_location=location
    )
    outer = codecs.ShardingCodec(chunk_shape=(4, 4, 4), codecs=[inner], index_location=location)
    volume = numbers("float64", (9, 6, 11), 1)
    array = zarr.create(
        store=tmp_path / "a",
        shape=volume.shape,
        chunks=(8, 8, 8),
        dtype="f8",
        codecs=[outer],
        fill_value=7.5,
    )
    array[:5] = volume[:5]
    check(tmp_path / "a", array[:])


@pytest.mark.parametrize(
    ("filters", "compressor"),
    [
        ([], "Zlib"),
        ([], "BZ2"),
        ([], "LZ4"),
        ([], "Zstd"),
        ([], "Blosc"),
        (["Shuffle"], "GZip"),
        (["Delta"], "Zlib"),
        (["FixedScaleOffset"], None),
        (["Quantize", "CRC32"], "Blosc"),
        (["BitRound"], "Zstd"),
        (["AsType"], "Zlib"),
    ],
)
@pytest.mark.parametrize("order", "CF")
def test_codecs_of_version_2_are_those_of_the_library(
    filters: list[str], compressor: str | None, order: str, tmp_path: Path
) -> None:
    zarr = pytest.importorskip("zarr", reason="not available: zarr")
    numcodecs = pytest.importorskip("numcodecs", reason="not available: numcodecs")
    options: dict[str, dict[str, Any]] = {
        "AsType": {"encode_dtype": "<f8", "decode_dtype": "<f4"},
        "BitRound": {"keepbits": 5},
        "Delta": {"dtype": "<f4"},
        "FixedScaleOffset": {"offset": 3, "scale": 8, "dtype": "<f4", "astype": "<i2"},
        "Quantize": {"digits": 2, "dtype": "<f4"},
    }
    volume = numbers("int8", (7, 5, 6), 2).astype("f4")
    array = zarr.create_array(
        tmp_path / "a",
        shape=volume.shape,
        dtype="<f4",
        chunks=(2, 3, 4),
        zarr_format=2,
        order=order,
        filters=[getattr(numcodecs, name)(**options.get(name, {})) for name in filters] or None,
        compressors=getattr(numcodecs, compressor)() if compressor else None,
    )
    array[:] = volume
    check(tmp_path / "a", array[:])


@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")
def test_filters_of_version_3_are_those_of_the_library(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr", reason="not available: zarr")
    numcodecs = pytest.importorskip("zarr.codecs.numcodecs", reason="not available: zarr 3.1")
    volume = numbers("int8", (7, 5, 6), 2).astype("f4")
    for name, options in (
        ("FixedScaleOffset", {"offset": 3, "scale": 8, "dtype": "float32", "astype": "int16"}),
        ("Delta", {"dtype": "float32"}),
    ):
        array = zarr.create_array(
            tmp_path / name,
            shape=volume.shape,
            dtype="float32",
            chunks=(2, 3, 4),
            filters=[getattr(numcodecs, name)(**options)],
            compressors=[numcodecs.Zlib()],
        )
        array[:] = volume
        check(tmp_path / name, array[:])


@pytest.mark.parametrize(
    ("dtype", "fill", "expected"),
    [
        ("float32", "NaN", np.nan),
        ("float16", "-Infinity", -np.inf),
        ("float64", "0x3ff0000000000000", 1),
        ("int8", -7, -7),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("bool", True, True),
    ],
)
def test_absent_chunks_have_the_fill_value(
    dtype: str, fill: Any, expected: Any, tmp_path: Path
) -> None:
    volume = numbers(dtype, (4, 3, 2), 1)
    write_v3(tmp_path / "a", volume, (2, 3, 2), fill_value=fill)
    (tmp_path / "a" / "c" / "1" / "0" / "0").unlink()
    volume[2:] = expected
    check(tmp_path / "a", volume)


def test_an_array_that_is_gone_is_an_error(tmp_path: Path) -> None:
    write_v2(tmp_path / "a", numbers("int16", (8, 2), 1), (2, 2))
    _, fetcher = open_format(Zarr(), {"paths": [str(tmp_path / "a")], "max_cached_bytes": 0})
    (tmp_path / "a" / "1.0").unlink()
    assert fetcher.fetch(2)[0].tolist() == [0, 0]
    (tmp_path / "a").rename(tmp_path / "b")
    with pytest.raises(ValueError, match=r"a/\.zarray': the array must be there"):
        fetcher.fetch(2)


def test_failed_requests_are_no_absent_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    write_v2(tmp_path / "a", numbers("int16", (8, 2), 1), (2, 2))
    store = fsspec.filesystem("memory")
    for file in (tmp_path / "a").iterdir():
        if file.name != "3.0":
            store.pipe_file(f"/zarr/denied/{file.name}", file.read_bytes())
    arguments = {"paths": ["memory://zarr/denied"], "max_cached_bytes": 0}
    _, fetcher = open_format(Zarr(), arguments)
    assert fetcher.fetch(6)[0].tolist() == [0, 0]

    def deny(self: Storage, path: str, offset: int = 0, size: int = -1) -> Any:
        raise PermissionError("403")

    monkeypatch.setattr(Storage, "read", deny)
    with pytest.raises(ValueError, match="denied/3.0': access is denied"):
        fetcher.fetch(6)
    monkeypatch.undo()
    (tmp_path / "a" / "1.0").unlink()
    (tmp_path / "a" / "1.0").mkdir()
    _, fetcher = open_format(Zarr(), {"paths": [str(tmp_path / "a")]})
    with pytest.raises(ValueError, match=r"a/1\.0': "):
        fetcher.fetch(2)


@pytest.mark.parametrize("version", [2, 3])
def test_pyramids(version: int, tmp_path: Path) -> None:
    levels = [numbers("uint8", (8 >> level, 4, 4), level) for level in (0, 1)]
    for level, volume in enumerate(levels):
        write_v3(tmp_path / "p" / f"s{level}", volume, (2, 2, 4))
    described = {"multiscales": [{"datasets": [{"path": "s0"}, {"path": "s1"}]}]}
    if version == 2:
        (tmp_path / "p" / ".zgroup").write_text('{"zarr_format": 2}')
        (tmp_path / "p" / ".zattrs").write_text(json.dumps(described))
    else:
        node = {"zarr_format": 3, "node_type": "group", "attributes": {"ome": described}}
        (tmp_path / "p" / "zarr.json").write_text(json.dumps(node))
    path = str(tmp_path / "p")
    np.testing.assert_array_equal(np.stack(fetched({"paths": [path]})), levels[0])
    np.testing.assert_array_equal(np.stack(fetched({"paths": [path], "arrays": ["s1"]})), levels[1])
    described["multiscales"][0]["datasets"][0]["path"] = "../secret"
    for name in (".zattrs", "zarr.json"):
        if (tmp_path / "p" / name).exists():
            text = (tmp_path / "p" / name).read_text()
            (tmp_path / "p" / name).write_text(text.replace("s0", "../secret"))
    with pytest.raises(ArgumentValueError, match="it must be an array .it is a group"):
        fetched({"paths": [path]})


def test_random_crops(tmp_path: Path) -> None:
    volume = numbers("int32", (50, 40), 1)
    write_v3(tmp_path / "a", volume, (8, 16))
    arguments = {"paths": [str(tmp_path / "a")], "crop": [8, 16], "num_crops": 500}

    def places(**changes: Any) -> list[tuple[int, ...]]:
        source, _ = open_format(Zarr(), {**arguments, **changes})
        return [tuple(s for s, _ in source.regions(n)[1][0]) for n in range(500)]  # type: ignore[attr-defined]

    assert places() == places() != places(crop_seed=1)
    assert {place[0] for place in places()} == set(range(43))
    assert {place[1] for place in places()} == set(range(25))
    aligned = places(align=True)
    assert {place[0] for place in aligned} == {0, 8, 16, 24, 32, 40, 42}
    assert {place[1] for place in aligned} == {0, 16, 24}


def test_anchors_of_several_paths(tmp_path: Path) -> None:
    volumes = [numbers("int32", (4, 6), number) for number in range(2)]
    for number, volume in enumerate(volumes):
        write_v2(tmp_path / f"{number}", volume, (3, 3))
    arguments = {"paths": [str(tmp_path / "0"), str(tmp_path / "1")], "crop": [2]}
    found = fetched({**arguments, "anchors": [[1], [4]]})
    expected = [volume[:, at : at + 2] for volume in volumes for at in (1, 4)]
    np.testing.assert_array_equal(found, expected)
    found = fetched({**arguments, "anchors": [[1, 4], [0, 0]]})
    np.testing.assert_array_equal(found, [volumes[1][:, 4:], volumes[0][:, :2]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"anchors": [[0, 0]]}, "anchors must be of crops inside .* at most"),
        ({"anchors": [[0, 0, 5]]}, "anchors must be of crops inside"),
        ({"anchors": [[-1, 0, 0]]}, "anchors must be of crops inside"),
        ({"anchors": [[1, 0, 0, 0]]}, "anchors must begin with numbers of paths, 0 to 0"),
        ({"anchors": [[0.5, 0, 0]]}, "anchors must have 3 integers for each crop"),
        ({"anchors": [[0], [1, 2]]}, "anchors must have 3 integers for each crop"),
        ({"anchors": [[0, 0, 0]], "num_crops": 2}, "num_crops must not be given with anchors"),
        ({"crop": [9, 1, 1]}, "the same last 3 extents, .* or larger"),
        ({"crop": [1] * 4}, "the same last 4 extents"),
        ({"crop": None, "align": True}, "crop must be given with align"),
        ({"arrays": ["b"]}, r"a/b': it must have zarr.json, .zarray or .zgroup in it"),
        ({"paths": []}, "paths must name at least one"),
    ],
)
def test_wrong_arguments(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    write_v3(tmp_path / "a", numbers("int32", (5, 5, 5), 1), (2, 2, 2))
    arguments = {"paths": [str(tmp_path / "a")], "crop": [2, 2, 1], **changes}
    if "anchors" in changes and len(changes["anchors"][0]) == 2:
        arguments["crop"] = [2, 4]
        arguments["anchors"] = [[0, 2]]
    with pytest.raises((ArgumentTypeError, ArgumentValueError), match=message):
        fetched({name: value for name, value in arguments.items() if value is not None})


def test_arrays_must_fit_each_other(tmp_path: Path) -> None:
    write_v3(tmp_path / "a", numbers("int32", (5, 5), 1), (2, 2))
    write_v3(tmp_path / "b", numbers("int32", (4, 5), 1), (2, 2))
    write_v3(tmp_path / "c", numbers("int16", (5, 5), 1), (2, 2))
    a, b, c = (str(tmp_path / name) for name in "abc")
    assert len(fetched({"paths": [a, b]})) == 9
    with pytest.raises(ArgumentValueError, match="same type and number of axes everywhere"):
        fetched({"paths": [a, c]})
    with pytest.raises(ArgumentValueError, match="must have equally many rows"):
        fetched({"paths": [str(tmp_path)], "arrays": ["a", "b"]})
    (tmp_path / "a.zip").write_bytes(b"PK")
    with pytest.raises(ArgumentValueError, match=r"a\.zip': it must be a folder"):
        fetched({"paths": [str(tmp_path / "a.zip")]})


@pytest.mark.parametrize(
    ("version", "changes", "message"),
    [
        (2, {"dtype": "|O", "filters": [{"id": "pickle"}]}, "real numbers of up to 64 bits"),
        (2, {"filters": [{"id": "pickle"}]}, "must be ones that are known .got 'pickle'"),
        (2, {"filters": [{"id": "delta", "dtype": "V999999999"}]}, "real numbers of up to 64"),
        (2, {"dimension_separator": "/../"}, "the separator of chunks must be"),
        (2, {"chunks": [0, 1]}, "extents must be integers from 1 on"),
        (2, {"chunks": [1 << 40, 1]}, "a chunk must have at most"),
        (2, {"shape": [-1, 3]}, "extents must be integers from 0 on"),
        (2, {"shape": [3.0, 3]}, "extents must be integers from 0 on"),
        (2, {"shape": [1 << 61, 3]}, "must be in at most 65536 chunks|needs .* bytes|ok"),
        (2, {"order": "K"}, "order must be 'C' or 'F'"),
        (2, {"fill_value": 1 << 70}, "fill_value must be one of int32"),
        (3, {"data_type": "complex64"}, "real numbers of up to 64 bits"),
        (3, {"data_type": {"name": "struct"}}, "real numbers of up to 64 bits"),
        (3, {"chunk_grid": {"name": "rectilinear"}}, "chunk_grid must be 'regular'"),
        (3, {"chunk_key_encoding": {"name": "x"}}, "chunk_key_encoding must be"),
        (3, {"storage_transformers": [{"name": "x"}]}, "no storage_transformers"),
        (3, {"codecs": []}, "codecs must have 'bytes' or"),
        (3, {"codecs": [{"name": "vlen-utf8"}]}, "must be ones that are known, in order"),
        (3, {"codecs": ["bytes", "import_os"]}, "must be ones that are known .got 'import_os'"),
        (3, {"codecs": [{"name": "transpose", "configuration": {"order": [0, 0]}}]}, "an order"),
        (3, {"shape": [3] * 40}, "1 to 32 dimensions"),
    ],
)
def test_hostile_metadata(
    version: int, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    write = write_v2 if version == 2 else write_v3
    write(tmp_path / "a", numbers("int32", (4, 4), 1), (2, 2), **changes)
    if changes.get("shape") == [1 << 61, 3]:
        source, fetcher = open_format(Zarr(), {"paths": [str(tmp_path / "a")]})
        assert len(source) == 1 << 61
        assert fetcher.fetch((1 << 61) - 1)[0].tolist() == [0, 0, 0]
        return
    with pytest.raises(ArgumentValueError, match=message) as raised:
        fetched({"paths": [str(tmp_path / "a")]})
    assert str(tmp_path / "a") in str(raised.value)


def test_rows_of_too_many_chunks_or_bytes_are_bad(tmp_path: Path) -> None:
    write_v3(tmp_path / "a", numbers("int32", (2, 2), 1), (1, 1), shape=[2, 1 << 40])
    with pytest.raises(ValueError, match="a sample must be in at most 65536 chunks"):
        fetched({"paths": [str(tmp_path / "a")]})
    write_v3(tmp_path / "b", numbers("int8", (2, 2), 1), (1, 1 << 30), shape=[2, 1 << 45])
    with pytest.raises(ValueError, match=r"b': .*memory"):
        fetched({"paths": [str(tmp_path / "b")]})


def test_decoded_chunks_are_kept(tmp_path: Path) -> None:
    arguments = rows(tmp_path)
    _, fetcher = open_format(Zarr(), arguments)
    _, other = open_format(Zarr(), {**arguments, "max_cached_bytes": 0})
    expected = fetcher.fetch(0)
    for file in (tmp_path / "7" / "x").glob("0.*"):
        file.write_bytes(b"")
    for mine, theirs in zip(fetcher.fetch(0), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(ValueError, match=r"7/x/0\.0'"):
        other.fetch(0)


def test_pipelines_read_crops_of_image_and_labels(tmp_path: Path) -> None:
    image, labels = numbers("int16", (2, 8, 8), 1), numbers("uint8", (8, 8), 2)
    write_v3(tmp_path / "image", image, (1, 4, 4))
    write_v2(tmp_path / "labels", labels, (3, 3))
    arguments = {"arrays": ["image", "labels"], "crop": [4, 4], "anchors": [[2, 3], [4, 0]]}
    found = read("readers.zarr", {"paths": [str(tmp_path)], **arguments}, 2)
    np.testing.assert_array_equal(found[0][0], image[:, 2:6, 3:7])
    np.testing.assert_array_equal(found[0][1], labels[2:6, 3:7])
    np.testing.assert_array_equal(found[1][1], labels[4:, :4])


@pytest.mark.parametrize("suite", [TestRows(), TestCrops()])
def test_mutated_files(suite: ReaderSuite, tmp_path: Path) -> None:
    counts = outcomes(suite, tmp_path, 0, 100)
    assert min(counts["bad"], counts["read"], counts["refused"]) > 3
