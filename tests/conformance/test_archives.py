"""Readers of archives and files of records read what NVIDIA DALI reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from dali_core.__main__ import main
from dali_core.testing.examples import list_of
from tests.conformance.comparing import reference
from tests.operators.readers.database_files import (
    BYTE,
    FLOAT,
    INT32,
    STRING,
    datums,
    tensor,
    tensors,
    write_database,
)
from tests.operators.readers.record_files import (
    example,
    examples,
    images,
    write_recordio,
    write_tfrecords,
)
from tests.operators.readers.tar_files import UNUSUAL, sample_entries, write_tar

pytestmark = pytest.mark.filterwarnings("ignore:Some samples have several files:UserWarning")


def read(library: Any, reader: str, batch_size: int = 2, **arguments: Any) -> list[Any]:
    """Return description, types, sources and samples of two epochs."""
    if "dtypes" in arguments:
        arguments["dtypes"] = [getattr(library.types, name) for name in arguments["dtypes"]]
    pipeline = library.Pipeline(batch_size, 1, None)
    with pipeline:
        outputs = getattr(library.fn.readers, reader)(name="reader", **arguments)
        if isinstance(outputs, dict):
            outputs = list(outputs.values())
        outputs = list_of(outputs)
        pipeline.set_outputs(*outputs)
    pipeline.build()
    found: list[Any] = [pipeline.reader_meta("reader"), pipeline.epoch_size("reader")]
    for _ in range(2 * -(-found[1] // batch_size)):
        batch = pipeline.run()
        found.append([(out.dtype.name, out.layout()) for out in batch])
        found += [[np.array(out.at(i)).tolist() for i in range(len(out))] for out in batch]
    return found


def check(reader: str, **arguments: Any) -> None:
    expected = read(reference, reader, **arguments)
    assert read(dali_core, reader, **arguments) == expected


def check_both_refuse(reader: str, **arguments: Any) -> None:
    for library in (dali_core, reference):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            read(library, reader, **arguments)


def script(name: str, *paths: Path) -> None:
    """Run a script of the reference."""
    program = Path(sys.executable).with_name(name)
    subprocess.run([program, *paths], check=True, capture_output=True)


@pytest.fixture
def archives(tmp_path: Path) -> list[str]:
    return [
        str(write_tar(tmp_path / f"{i}.tar", sample_entries(7 * i, count)))
        for i, count in enumerate((5, 3))
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"ext": "cls"},
        {"ext": ["png;cls", "jpg"]},
        {"ext": ["jpg", "jpg", "none"]},
        {"ext": ["JPG", "Cls"], "case_sensitive_extensions": False},
        {"dtypes": ["INT8", "UINT8"]},
        {"num_shards": 3, "shard_id": 1, "pad_last_batch": True},
        {"num_shards": 2, "shard_id": 1, "stick_to_shard": True, "batch_size": 3},
        {"missing_component_behavior": "error"},
        {"missing_component_behavior": "empty", "lazy_init": True, "dont_use_mmap": True},
        {"prefetch_queue_depth": 3, "read_ahead": True, "initial_fill": 7, "seed": 5},
        {"tensor_init_bytes": 10, "skip_cached_images": False},
    ],
)
def test_webdataset(arguments: dict[str, Any], archives: list[str]) -> None:
    check("webdataset", **{"paths": archives, "ext": ["jpg", "cls"], **arguments})


def test_numbers_in_archives(tmp_path: Path) -> None:
    files = [(f"{i}.{name}", bytes(range(8 * i))) for i in range(4) for name in ("a", "b")]
    path = str(write_tar(tmp_path / "a.tar", files))
    names = ["UINT16", "INT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT", "FLOAT64"]
    for pair in zip(names[::2], names[1::2], strict=True):
        check("webdataset", paths=path, ext=["a", "b"], dtypes=pair)
    check_both_refuse("webdataset", paths=path, ext=["a", "b"], dtypes=["BOOL", "INT8"])


@pytest.mark.parametrize("behavior", ["", "skip", "Empty"])
def test_unusual_archives(behavior: str, tmp_path: Path) -> None:
    # Without an index, the reference counts a sample of hidden files below the top, too.
    path = tmp_path / "a.tar"
    write_tar(path, UNUSUAL)
    for ext in (["left.jpg;jpg", "cls"], ["jpg"], ["nothing;JPG"]):
        arguments = {"paths": str(path), "ext": ext, "missing_component_behavior": behavior}
        if behavior != "skip" or ext[-1] != "cls":
            check("webdataset", **arguments)


@pytest.mark.parametrize("rest", [bytes(1024), bytes(1124), bytes(1024) + b"x" * 700, bytes(512)])
def test_ends_of_archives(rest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    entries = sample_entries(1, 2)
    size = sum(512 + -(-len(data) // 512) * 512 for _, data in entries)
    path.write_bytes(write_tar(path, entries).read_bytes()[:size] + rest)
    check("webdataset", paths=str(path), ext=["jpg", "cls"])


@pytest.mark.filterwarnings("ignore:.*What follows the end is not read:UserWarning")
def test_joined_archives(tmp_path: Path) -> None:
    parts = [write_tar(tmp_path / f"{i}.tar", sample_entries(3 * i, 3)) for i in range(2)]
    path = tmp_path / "joined.tar"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    check("webdataset", paths=str(path), ext=["jpg", "cls"])


@pytest.mark.parametrize("is_unusual", [False, True])
def test_index_files_of_archives(is_unusual: bool, tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", UNUSUAL if is_unusual else sample_entries(0, 5))
    theirs = tmp_path / "theirs.idx"
    script("wds2idx", path, theirs)
    assert main(["index", "wds", str(path)]) == 0
    ours = tmp_path / "a.idx"
    assert ours.read_text() == theirs.read_text()
    for index in (ours, theirs):
        arguments = {"paths": str(path), "ext": ["left.jpg;jpg;JPG", "cls"]}
        check("webdataset", **arguments, index_paths=str(index))


@pytest.mark.parametrize(
    "arguments",
    [
        {"paths": []},
        {"ext": []},
        {"paths": "/none.tar"},
        {"index_paths": ["/none"]},
        {"index_paths": ["/none", "/none"]},
        {"dtypes": ["UINT8"]},
        {"dtypes": ["UINT8", "INT64"]},
        {"missing_component_behavior": "maybe"},
        {"missing_component_behavior": "error", "ext": ["jpg", "png"]},
        {"missing_component_behavior": "skip", "ext": ["jpg", "png"]},
        {"num_shards": 9},
    ],
)
def test_wrong_arguments_of_webdataset(arguments: dict[str, Any], archives: list[str]) -> None:
    check_both_refuse("webdataset", **{"paths": archives, "ext": ["jpg", "cls"], **arguments})


def record_features(library: Any, names: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Return features by name: of a fixed shape, or of any number of values."""
    if library is reference:
        import nvidia.dali.tfrecord as module
    else:
        import dali_core.tfrecord as module  # type: ignore[no-redef]
    made = {}
    for name, (shape, kind, default) in names.items():
        dtype = getattr(module, kind)
        if shape is None:
            made[name] = module.VarLenFeature(dtype, default)
        elif isinstance(shape, tuple):
            made[name] = module.VarLenFeature(list(shape), dtype, default)
        else:
            made[name] = module.FixedLenFeature(shape, dtype, default)
    return made


ALL_FEATURES = {
    "image": ([], "string", ""),
    "label": ([1], "int64", -1),
    "floats": ([2], "float32", 0.0),
    "many": (None, "int64", 0),
}


def check_tfrecord(features: dict[str, tuple[Any, ...]], **arguments: Any) -> None:
    theirs, ours = (
        read(library, "tfrecord", features=record_features(library, features), **arguments)
        for library in (reference, dali_core)
    )
    assert ours == theirs


@pytest.fixture
def record_files(tmp_path: Path) -> dict[str, Any]:
    paths = [write_tfrecords(tmp_path / f"{i}.rec", examples(9 * i, 4 + i)) for i in range(2)]
    return {
        "path": [str(path) for path in paths],
        "index_path": [str(path.with_suffix(".idx")) for path in paths],
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"features": ALL_FEATURES},
        {"features": {"label": ([], "int64", -1)}},
        {"features": {"floats": ((2,), "float32", 0.0), "image": ([], "string", "")}},
        {"features": {"floats": ([1, 2, 1], "float32", 0.0)}},
        {"num_shards": 3, "shard_id": 1, "pad_last_batch": True},
        {"num_shards": 2, "shard_id": 1, "stick_to_shard": True, "batch_size": 3},
        {"lazy_init": True, "dont_use_mmap": True, "prefetch_queue_depth": 2},
        {"read_ahead": True, "initial_fill": 7, "seed": 5, "tensor_init_bytes": 10},
        {"skip_cached_images": False},
        {"use_o_direct": True, "dont_use_mmap": True},
    ],
)
def test_tfrecord(arguments: dict[str, Any], record_files: dict[str, Any]) -> None:
    check_tfrecord(**{"features": ALL_FEATURES, **record_files, **arguments})


def test_shapes_in_records(tmp_path: Path) -> None:
    path = write_tfrecords(tmp_path / "a.rec", [example({"x": list(range(12))})])
    files = {"path": str(path), "index_path": str(path.with_suffix(".idx")), "batch_size": 1}
    for shape in ([12], [3, 4], [2, 3, 2], None, (4,), (2, 3), ()):
        check_tfrecord({"x": (shape, "int64", 0)}, **files)
    for shape in ([11], [2, 3], (5,)):
        for library in (dali_core, reference):
            with pytest.raises(RuntimeError):
                read(
                    library,
                    "tfrecord",
                    features=record_features(library, {"x": (shape, "int64", 0)}),
                    **files,
                )


def test_lists_that_a_record_does_not_have(tmp_path: Path) -> None:
    # There, such a feature is one number that was never written, whatever its default, and batches
    # with it and with others fail. Here it has no values, and the dimensions of all others.
    path = write_tfrecords(tmp_path / "a.rec", [example({"x": [1, 2]}), example({"y": [1]})])
    files = {"path": str(path), "index_path": str(path.with_suffix(".idx"))}
    shapes = []
    for library in (reference, dali_core):
        features = record_features(library, {"x": (None, "int64", 7)})
        pipeline = library.Pipeline(1, 1, None)
        with pipeline:
            pipeline.set_outputs(library.fn.readers.tfrecord(features=features, **files)["x"])
        pipeline.build()
        shapes.append([np.array(pipeline.run()[0].at(0)).shape for _ in range(2)])
    assert shapes == [[(2,), ()], [(2,), (0,)]]
    found = read(dali_core, "tfrecord", features=features, **files)
    assert found[3] == [[1, 2], []]
    with pytest.raises(RuntimeError, match="dimensionality"):
        read(
            reference,
            "tfrecord",
            features=record_features(reference, {"x": (None, "int64", 7)}),
            **files,
        )


def test_index_files_of_records(tmp_path: Path) -> None:
    path = write_tfrecords(tmp_path / "a.tfrecord", examples(0, 6))
    theirs = tmp_path / "theirs.idx"
    script("tfrecord2idx", path, theirs)
    assert main(["index", "tfrecord", str(path)]) == 0
    assert (tmp_path / "a.idx").read_text() == theirs.read_text()
    for index in (tmp_path / "a.idx", theirs):
        check_tfrecord(ALL_FEATURES, path=str(path), index_path=str(index))


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": []},
        {"path": ["/none", "/none"]},
        {"index_path": ["/none", "/none"]},
        {"index_path": ["/none"]},
        {"features": {}},
        {"num_shards": 12},
    ],
)
def test_wrong_arguments_of_tfrecord(
    arguments: dict[str, Any], record_files: dict[str, Any]
) -> None:
    for library in (dali_core, reference):
        features = record_features(library, ALL_FEATURES)
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            read(library, "tfrecord", **{"features": features, **record_files, **arguments})


@pytest.mark.parametrize(
    "arguments",
    [
        ("FixedLenFeature", [1], 0),
        ("FixedLenFeature", 1, 0, 0),
        ("FixedLenFeature", [1], 7, 0),
        ("FixedLenFeature", [1], 0, 1.5),
        ("FixedLenFeature", [1], 0, "x"),
        ("FixedLenFeature", [], 1, 3),
        ("VarLenFeature", "x", 0, 0),
        ("VarLenFeature",),
    ],
)
def test_wrong_features(arguments: tuple[Any, ...]) -> None:
    import nvidia.dali.tfrecord as theirs

    import dali_core.tfrecord as ours

    name, *values = arguments
    for module in (theirs, ours):
        if module is ours and arguments == ("FixedLenFeature", [1], 0):
            continue  # a default is optional here
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            getattr(module, name)(*values)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"num_shards": 3, "shard_id": 1, "pad_last_batch": True},
        {"num_shards": 2, "shard_id": 1, "stick_to_shard": True, "batch_size": 3},
        {"lazy_init": True, "dont_use_mmap": True, "prefetch_queue_depth": 2},
        {"read_ahead": True, "initial_fill": 7, "seed": 5, "tensor_init_bytes": 10},
        {"skip_cached_images": False},
    ],
)
def test_mxnet_and_caffe(arguments: dict[str, Any], tmp_path: Path) -> None:
    path = write_recordio(tmp_path / "a.rec", images(0, 9))
    index = str(path.with_suffix(".idx"))
    check("mxnet", path=str(path), index_path=index, **arguments)
    paths = [str(write_database(tmp_path / name, datums(6))) for name in "ab"]
    check("caffe", path=paths, **arguments)
    check("caffe", path=paths[0], label_available=False, **arguments)
    check("caffe", path=paths[0], image_available=False, **arguments)
    entries = [
        (b"%d" % i, tensors(tensor(STRING, b"im" * i), tensor(INT32, [i]))) for i in range(6)
    ]
    check("caffe2", path=str(write_database(tmp_path / "c", entries)), **arguments)


def test_index_files_of_recordio(tmp_path: Path) -> None:
    # The reference's own script needs MXNet.
    path = write_recordio(tmp_path / "a.rec", images(0, 9))
    theirs = path.with_suffix(".idx").read_text()
    assert main(["index", "recordio", str(path)]) == 0
    assert path.with_suffix(".idx").read_text() == theirs
    check("mxnet", path=str(path), index_path=str(path.with_suffix(".idx")))


def test_kinds_of_labels_and_tensors(tmp_path: Path) -> None:
    image = tensor(STRING, b"image")
    pixels = tensor(BYTE, bytes(range(12)), (2, 2, 3))
    box = tensor(INT32, [1, 2, 3, 4])
    weights = tensor(FLOAT, [0.5, 0.25])
    several = tensor(INT32, [1, 3])
    calls: list[tuple[list[bytes], dict[str, Any]]] = [
        ([pixels, tensor(INT32, [1])], {}),
        ([image, tensor(FLOAT, [0.5])], {}),
        ([image, weights], {"label_type": 2, "num_labels": 2}),
        ([image, several], {"label_type": 2}),
        ([image], {"label_type": 4}),
        ([tensor(INT32, [7])], {"image_available": False}),
        ([image, tensor(INT32, [1]), weights, several], {"additional_inputs": 2}),
        ([image, tensor(INT32, [1]), weights, box], {"additional_inputs": 1, "bbox": True}),
        # The reference takes the other tensor for a box. Other sparse labels end it.
        (
            [image, several, weights, box],
            {"label_type": 3, "num_labels": 5, "additional_inputs": 1},
        ),
    ]
    for number, (protos, arguments) in enumerate(calls):
        folder = write_database(tmp_path / f"{number}", [(b"a", tensors(*protos))])
        check("caffe2", path=str(folder), batch_size=1, **arguments)


def test_one_output_is_in_no_list(tmp_path: Path, archives: list[str]) -> None:
    entry = tensors(tensor(STRING, b"image"), tensor(INT32, [1]))
    caffe2 = str(write_database(tmp_path / "caffe2", [(b"a", entry)]))
    caffe = str(write_database(tmp_path / "caffe", datums(3)))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("webdataset", {"paths": archives, "ext": "cls"}),
        ("webdataset", {"paths": archives, "ext": ["cls", "jpg"]}),
        ("caffe", {"path": caffe, "label_available": False}),
        ("caffe", {"path": caffe, "image_available": False}),
        ("caffe2", {"path": caffe2, "label_type": 4}),
        ("caffe2", {"path": caffe2}),
    ]
    for reader, arguments in calls:
        kinds = []
        for library in (reference, dali_core):
            with library.Pipeline(1, 1, None):
                found = getattr(library.fn.readers, reader)(**arguments)
            kinds.append(len(found) if isinstance(found, list) else type(found).__name__)
        assert kinds[0] == kinds[1], (reader, arguments)


@pytest.mark.parametrize(
    ("reader", "arguments"),
    [
        ("mxnet", {"path": []}),
        ("mxnet", {"path": ["a", "b"], "index_path": ["a", "b"]}),
        ("mxnet", {"path": "/none", "index_path": "/none"}),
        ("caffe", {"path": []}),
        ("caffe", {"path": "/none"}),
        ("caffe", {"path": "/none", "image_available": False, "label_available": False}),
        ("caffe2", {"path": []}),
        ("caffe2", {"path": "/none"}),
        ("caffe2", {"path": "/none", "label_type": 4, "image_available": False}),
    ],
)
def test_wrong_arguments_of_others(reader: str, arguments: dict[str, Any]) -> None:
    check_both_refuse(reader, **arguments)


@pytest.mark.parametrize(
    "way",
    [
        {"random_shuffle": True, "seed": 3},
        {"shuffle_after_epoch": True, "shuffle_after_epoch_seed": 2},
    ],
)
def test_shuffled_epochs_hold_the_same_samples(
    way: dict[str, Any], archives: list[str], record_files: dict[str, Any], tmp_path: Path
) -> None:
    path = write_recordio(tmp_path / "images.rec", images(0, 9))
    found = []
    for library in (reference, dali_core):
        features = record_features(library, ALL_FEATURES)
        files = {"path": str(path), "index_path": str(path.with_suffix(".idx"))}
        epochs = [
            read(library, "webdataset", 1, paths=archives, ext=["cls"], **way),
            read(library, "tfrecord", 1, features=features, **record_files, **way),
            read(library, "mxnet", 1, **files, **way),
        ]
        # Of two epochs, each sample twice.
        found.append([sorted(map(str, samples[2:])) for samples in epochs])
    assert found[0] == found[1]
