"""`fn.readers.tfrecord`: features, sequences, checksums, and damaged files."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, ops, tfrecord
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    SampleError,
    SerializationError,
)
from dali_core.operators.readers.archive_index import open_indices
from dali_core.operators.readers.tfrecord.record_format import FORMAT
from dali_core.tfrecord import (
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
    float32,
    int64,
    string,
)
from tests.operators.readers.record_files import (
    example,
    examples,
    field,
    sequence_example,
    write_tfrecords,
)
from tests.operators.readers.record_files import tfrecord as framed
from tests.operators.suite import Example

FEATURES = {
    "image": FixedLenFeature([], string, ""),
    "label": FixedLenFeature([1], int64, -1),
    "floats": FixedLenFeature([2], float32, 0.0),
    "many": VarLenFeature(int64, 0),
}


def two_files(folder: Path) -> dict[str, Any]:
    paths = [write_tfrecords(folder / f"{i}.rec", examples(10 * i, 5 + i)) for i in range(2)]
    return {"path": [str(path) for path in paths], "features": FEATURES}


def sequences(folder: Path) -> dict[str, Any]:
    records = [
        sequence_example({"label": [n]}, {"steps": [[n, k] for k in range(n)], "none": []})
        for n in range(4)
    ]
    return {
        "path": str(write_tfrecords(folder / "s.rec", records)),
        "features": {"label": FixedLenFeature([], int64)},
        "sequence_features": {
            "steps": FixedLenSequenceFeature([2], int64),
            "none": FixedLenSequenceFeature([], float32),
        },
    }


EXAMPLES = [Example("two files", (), two_files), Example("sequences", (), sequences)]


def reader_pipeline(batch_size: int = 1, num_threads: int = 2, **arguments: Any) -> Pipeline:
    options = arguments.pop("options", {})
    with Pipeline(batch_size, num_threads, None, prefetch_queue_depth=1, **options) as pipeline:
        found = fn.readers.tfrecord(name="reader", **arguments)
        assert isinstance(found, dict)
        pipeline.set_outputs(*found.values())
    return pipeline


def read(**arguments: Any) -> list[list[np.ndarray]]:
    """Return the values of each record of an epoch."""
    pipeline = reader_pipeline(**arguments)
    size = pipeline.epoch_size("reader")
    assert isinstance(size, int)
    samples = [[output.at(0).copy() for output in pipeline.run()] for _ in range(size)]
    pipeline.close()
    return samples


def one(folder: Path, features: dict[str, Feature], record: bytes, **arguments: Any) -> list[Any]:
    """Return the values of a single record."""
    path = write_tfrecords(folder / "one.rec", [record])
    (values,) = read(path=str(path), features=features, **arguments)
    return [value.tolist() for value in values]


def test_features(tmp_path: Path) -> None:
    arguments = two_files(tmp_path)
    samples = read(**arguments)
    numbers = [*range(5), *range(10, 16)]
    assert [value.dtype.name for value in samples[0]] == ["uint8", "int64", "float32", "int64"]
    for number, (image, label, floats, many) in zip(numbers, samples, strict=True):
        assert image.tobytes() == bytes([number]) * (number * 97 % 1500)
        assert (label.tolist(), floats.tolist()) == ([number], [number * 0.5, -1.0])
        assert many.tolist() == list(range(-number, number, 2))
    index_path = [path.replace(".rec", ".idx") for path in arguments["path"]]
    for ways in ({"index_path": index_path}, {"num_threads": 1, "read_ahead": False}):
        again = read(**arguments, **ways)
        assert all(
            np.array_equal(a, b)
            for x, y in zip(samples, again, strict=True)
            for a, b in zip(x, y, strict=True)
        )
    shuffled = [int(sample[1][0]) for sample in read(**arguments, random_shuffle=True)]
    assert shuffled != numbers
    assert sorted(shuffled) == numbers
    image = reader_pipeline(7, **arguments).run()[0]
    assert image[6].source_info() == f"{arguments['path'][1]} at index " + str(
        len(framed(examples(10, 1)[0]))
    )


def test_classes(tmp_path: Path) -> None:
    with Pipeline(3, 1, None) as pipeline:
        read_records = ops.readers.TFRecord(**two_files(tmp_path))
        pipeline.set_outputs(read_records()["label"])
    assert pipeline.run()[0].as_array().tolist() == [[0], [1], [2]]


def test_shapes_and_defaults(tmp_path: Path) -> None:
    record = example({"six": [1, 2, 3, 4, 5, 6], "text": [b"abc"], "empty": []})
    given = {
        "six": (FixedLenFeature([2, 3], int64, 0), [[1, 2, 3], [4, 5, 6]]),
        "text": (FixedLenFeature([], string, ""), [97, 98, 99]),
        "empty": (FixedLenFeature([2], float32, 1.5), [1.5, 1.5]),
        "none": (FixedLenFeature([], int64, -(2**63)), -(2**63)),
        "no text": (FixedLenFeature([], string, "\xe9"), [0xC3, 0xA9]),
        "no list": (VarLenFeature([3], float32, 0.0), []),
    }
    features = {name: feature for name, (feature, _) in given.items()}
    assert one(tmp_path, features, record) == [value for _, value in given.values()]
    assert one(tmp_path, {"six": VarLenFeature([2], int64, 0)}, record) == [
        [[1, 2], [3, 4], [5, 6]]
    ]
    assert one(tmp_path, {"six": VarLenFeature([3, 2], int64)}, record) == [
        [[[1, 2], [3, 4], [5, 6]]]
    ]
    numbers = [0, 1, -1, 127, 128, 2**63 - 1, -(2**63)]
    for packed in (True, False):
        record = example({"n": numbers, "f": [0.1, -0.0, float("inf")]}, packed=packed)
        found = one(
            tmp_path, {"n": VarLenFeature(int64, 0), "f": VarLenFeature(float32, 0)}, record
        )
        assert found == [numbers, np.float32([0.1, -0.0, float("inf")]).tolist()]


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (FixedLenFeature([5], int64, 0), "must have 5 values (got 6)"),
        (FixedLenFeature([7], int64, 0), "must have 7 values (got 6)"),
        (FixedLenFeature([], int64, 0), "must have 1 values (got 6)"),
        (VarLenFeature([4], int64, 0), "must have a multiple of 4 values (got 6)"),
        (VarLenFeature([0], int64, 0), "must have a multiple of 0 values (got 6)"),
        (FixedLenFeature([6], float32, 0.0), "must hold floats (got integers)"),
        (FixedLenFeature([], string, ""), "must hold bytes (got integers)"),
    ],
)
def test_mismatched_features_are_bad_samples(
    feature: Feature, message: str, tmp_path: Path
) -> None:
    record = example({"six": [1, 2, 3, 4, 5, 6]})
    with pytest.raises(SampleError) as caught:
        one(tmp_path, {"six": feature}, record)
    assert f'feature "six" {message}' in caught.value.message
    assert caught.value.source == f"{tmp_path}/one.rec at index 0"


def test_missing_features_and_lists_of_strings(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="must be there, since it has no default"):
        one(tmp_path, {"x": FixedLenFeature([1], int64)}, example({"y": [1]}))
    with pytest.raises(SampleError, match=r"must be one string \(got 2 strings\)"):
        one(tmp_path, {"x": FixedLenFeature([], string)}, example({"x": [b"a", b"b"]}))


def test_sequences(tmp_path: Path) -> None:
    arguments = sequences(tmp_path)
    for number, (label, steps, none) in enumerate(read(**arguments)):
        assert label.tolist() == number
        assert steps.shape == (number, 2)
        assert steps.tolist() == [[number, k] for k in range(number)]
        assert (none.shape, none.dtype.name) == ((0,), "float32")
    arguments["sequence_features"] = {"steps": FixedLenSequenceFeature([3], int64)}
    with pytest.raises(SampleError, match="must have 3 values at each step"):
        read(**arguments)
    arguments["sequence_features"] = {"steps": FixedLenSequenceFeature([2], float32)}
    with pytest.raises(SampleError, match="must hold floats at each step"):
        read(**arguments)


def outcomes(path: Path, **arguments: Any) -> list[int | str]:
    """Return the label of each record, or what is wrong with it."""
    pipeline = reader_pipeline(path=str(path), features={"label": FEATURES["label"]}, **arguments)
    size = pipeline.epoch_size("reader")
    assert isinstance(size, int)
    found: list[int | str] = []
    for _ in range(size):
        try:
            found.append(int(pipeline.run()[0].at(0)[0]))
        except SampleError as error:
            found.append(f"{error.source}: {error.message}")
    return found


def test_damage_makes_bad_samples(tmp_path: Path) -> None:
    path = write_tfrecords(tmp_path / "a.rec", examples(0, 6))
    index_path = str(path.with_suffix(".idx"))
    (index,) = open_indices([str(path)], FORMAT)
    data = path.read_bytes()
    place = index.offsets[2]
    for offset, with_index, without in (
        (place + 3, "must begin with its length", "must have a record at byte"),
        (place + 9, "must begin with its length", "must have a record at byte"),
        (place + 30, "must have the checksum", "must have the checksum"),
        (index.offsets[3] - 1, "must have the checksum", "must have the checksum"),
    ):
        path.write_bytes(data[:offset] + bytes([data[offset] ^ 4]) + data[offset + 1 :])
        for arguments, message in (({"index_path": index_path}, with_index), ({}, without)):
            found = outcomes(path, **arguments)
            assert [*found[:2], *found[3:]] == [0, 1, 3, 4, 5]
            assert str(found[2]).startswith(f"{path} at index {place}: ")
            assert message in str(found[2])
    path.write_bytes(data[:-5])
    assert outcomes(path)[:5] == [0, 1, 2, 3, 4]
    assert "must have a record at byte" in str(outcomes(path)[5])
    assert "It is cut off" in str(outcomes(path, index_path=index_path)[5])
    # A stretch of zeros over several records is one bad sample.
    path.write_bytes(
        data[: index.offsets[1]]
        + bytes(index.offsets[3] - index.offsets[1] + 5)
        + data[index.offsets[3] + 5 :]
    )
    found = outcomes(path)
    assert [found[0], *found[2:]] == [0, 4, 5]


@pytest.mark.parametrize(
    "message",
    [
        b"\x0a",  # a field without its size
        b"\x0a\x05abc",
        b"\x0b",  # a group
        b"\x02",  # field 0
        field(1, b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        field(1, field(1, field(1, b"label") + field(2, field(3, field(1, b"\x80"))))),
        field(1, field(1, field(1, b"label") + field(2, field(3, b"\x08" + b"\x80" * 11)))),
    ],
)
def test_damaged_messages(message: bytes, tmp_path: Path) -> None:
    path = write_tfrecords(tmp_path / "a.rec", [message])
    (found,) = outcomes(path)
    assert "message of Protocol Buffers" in str(found)


def test_floats_of_a_wrong_size(tmp_path: Path) -> None:
    message = field(1, field(1, field(1, b"f") + field(2, field(2, field(1, b"abc")))))
    with pytest.raises(SampleError, match="Protocol Buffers"):
        one(tmp_path, {"f": VarLenFeature(float32)}, message)


def test_other_fields_are_skipped(tmp_path: Path) -> None:
    known = field(1, field(1, field(1, b"x") + field(2, field(3, b"\x08\x05"))))
    others = (
        b"\x98\x06\x01" + field(7, b"abc") + b"\x4d" + struct.pack("<I", 1) + b"\x51" + bytes(8)
    )
    assert one(tmp_path, {"x": FixedLenFeature([1], int64)}, others + known + others) == [[5]]


def test_serialized(tmp_path: Path) -> None:
    pipeline = reader_pipeline(3, **two_files(tmp_path))
    document = pipeline.serialize()
    again = Pipeline.deserialize(document)
    for ours, theirs in zip(pipeline.run(), again.run(), strict=True):
        assert [ours.at(i).tolist() for i in range(3)] == [theirs.at(i).tolist() for i in range(3)]
    for old, new in ((b'"fixed"', b'"other"'), (b'"features"', b'"sequence_features"')):
        assert old in document
        with pytest.raises((SerializationError, ArgumentTypeError, ArgumentValueError)):
            Pipeline.deserialize(document.replace(old, new)).build()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: FixedLenFeature([3], 7, 0), ArgumentValueError),
        (lambda: FixedLenFeature(3, int64, 0), ArgumentTypeError),
        (lambda: FixedLenFeature("3", int64, 0), ArgumentTypeError),
        (lambda: FixedLenFeature([-1], int64, 0), ArgumentValueError),
        (lambda: FixedLenFeature([1] * 9, int64, 0), ArgumentValueError),
        (lambda: FixedLenFeature([2.5], int64, 0), ArgumentValueError),
        (lambda: FixedLenFeature([1], int64, 1.5), ArgumentTypeError),
        (lambda: FixedLenFeature([1], int64, 2**63), ArgumentTypeError),
        (lambda: FixedLenFeature([1], float32, "x"), ArgumentTypeError),
        (lambda: FixedLenFeature([], string, 3), ArgumentTypeError),
        (lambda: FixedLenFeature([2], string, ""), ArgumentValueError),
        (lambda: VarLenFeature(string, ""), ArgumentValueError),
        (lambda: VarLenFeature(), ArgumentTypeError),
        (lambda: VarLenFeature([1], int64, 0, 0), ArgumentTypeError),
        (lambda: FixedLenSequenceFeature([], string), ArgumentValueError),
    ],
)
def test_wrong_features(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="must"):
        call()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"path": []}, ArgumentValueError, "at least 1 entry"),
        ({"path": "/none"}, ArgumentValueError, "'/none': No such file"),
        ({"index_path": "/none"}, ArgumentValueError, "'/none': No such file"),
        ({"index_path": ["a", "b"]}, ArgumentTypeError, "each of the 1 files"),
        ({"features": {}}, ArgumentValueError, "at least one feature"),
        ({"features": [1]}, ArgumentTypeError, "must be a dict of names and features"),
        ({"features": {"a": 3}}, ArgumentTypeError, "results of tfrecord"),
        ({"features": {3: FEATURES["label"]}}, ArgumentTypeError, "results of tfrecord"),
        ({"features": None}, ArgumentTypeError, "'features' must be given"),
        ({"sequence_features": FEATURES}, ArgumentTypeError, "tfrecord.FixedLenSequenceFeature"),
        (
            {"sequence_features": {"label": FixedLenSequenceFeature([], int64)}},
            ArgumentValueError,
            r"different names \(got \['label'\] twice",
        ),
        ({"num_shards": 9}, ArgumentValueError, "num_shards"),
    ],
)
def test_wrong_arguments(
    arguments: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = write_tfrecords(tmp_path / "a.rec", examples(0, 3))
    with pytest.raises(error, match=message) as caught:
        reader_pipeline(**{"path": str(path), "features": FEATURES, **arguments}).build()
    assert "fn.readers.tfrecord at" in str(caught.value)


@pytest.mark.parametrize("text", ["0\n", "x 5\n", "0 5 5\n", "-1 5\n", f"0 {10**20}\n"])
def test_damaged_index_files(text: str, tmp_path: Path) -> None:
    path = write_tfrecords(tmp_path / "a.rec", examples(0, 3))
    path.with_suffix(".idx").write_text(text)
    with pytest.raises(ArgumentValueError, match="line 1 of .* must be the offset and the size"):
        outcomes(path, index_path=str(path.with_suffix(".idx")))


def test_empty_files(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    path.write_bytes(b"")
    with pytest.raises(ArgumentValueError, match="at least one record"):
        outcomes(path)
    assert tfrecord.int64 != tfrecord.string
