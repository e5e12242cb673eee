"""`fn.readers.caffe2`: images, all types of labels, other tensors and boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.readers.database_files import (
    BYTE,
    FLOAT,
    INT32,
    INT64,
    STRING,
    tensor,
    tensors,
    write_database,
)
from tests.operators.suite import Example, list_of

IMAGE = tensor(STRING, b"image")


def entries(folder: Path) -> dict[str, Any]:
    values = [
        (
            b"%02d" % i,
            tensors(tensor(STRING, bytes(i)), tensor(INT32, [i]), tensor(FLOAT, [0.5] * i)),
        )
        for i in range(9)
    ]
    return {"path": str(write_database(folder / "db", values)), "additional_inputs": 1}


EXAMPLES = [Example("entries", (), entries)]


def read(path: Path, *protos: bytes, **arguments: Any) -> list[Any]:
    """Return types and values of the outputs for one entry."""
    folder = path / "db"
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    write_database(folder, [(b"key", tensors(*protos))])
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(*list_of(fn.readers.caffe2(path=str(folder), **arguments)))
    return [(output.dtype.name, output.at(0).tolist()) for output in pipeline.run()]


def test_types_of_labels(tmp_path: Path) -> None:
    image = ("UINT8", list(b"image"))
    assert read(tmp_path, IMAGE, tensor(INT32, [-4])) == [image, ("INT32", [-4])]
    assert read(tmp_path, IMAGE, tensor(FLOAT, [0.5])) == [image, ("FLOAT", [0.5])]
    found = read(tmp_path, IMAGE, tensor(INT32, [1, 3]), label_type=1, num_labels=5)
    assert found == [image, ("INT32", [0, 1, 0, 1, 0]), ("INT32", [1, 3])]
    found = read(tmp_path, IMAGE, tensor(FLOAT, [0.5, 2]), label_type=2)
    assert found == [image, ("FLOAT", [0.5, 2.0])]
    weights = tensor(FLOAT, [0.5, 2])
    found = read(tmp_path, IMAGE, tensor(INT32, [1, 3]), weights, label_type=3, num_labels=5)
    assert found == [image, ("FLOAT", [0, 0.5, 0, 2, 0]), ("FLOAT", [0.5, 2])]
    assert read(tmp_path, IMAGE, label_type=4) == [image]


def test_other_tensors(tmp_path: Path) -> None:
    pixels = tensor(BYTE, bytes(range(12)), (2, 2, 3))
    (_, image), *others = read(
        tmp_path,
        pixels,
        *(tensor(INT32, [1]), tensor(FLOAT, [0.5, 1, 2, 3], (2, 2)), tensor(INT64, [2**40])),
        tensor(INT32, [1, 2, 3, 4]),
        additional_inputs=2,
        bbox=True,
    )
    assert image == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]
    assert others == [
        *(("INT32", [1]), ("FLOAT", [0.5, 1, 2, 3]), ("INT64", [2**40])),
        ("INT32", [1, 2, 3, 4]),
    ]
    assert read(tmp_path, tensor(INT32, [7]), image_available=False) == [("INT32", [7])]


@pytest.mark.parametrize(
    ("protos", "arguments", "message"),
    [
        ([], {}, "a tensor for the image (got 0 tensors)"),
        ([IMAGE], {}, "a tensor for the label (got 1 tensors)"),
        ([IMAGE, tensor(INT32, [1, 2])], {}, "one label (got 2 numbers)"),
        ([IMAGE, tensor(INT64, [1])], {}, "a label of type FLOAT or INT32"),
        ([tensor(FLOAT, [1]), tensor(INT32, [1])], {}, "an image of type STRING or BYTE"),
        ([tensor(BYTE, b"abc", (1, 1)), tensor(INT32, [1])], {}, "as its three extents say"),
        ([tensor(BYTE, b"abc", (2, 2, 2)), tensor(INT32, [1])], {}, "as its three extents say"),
        ([tensor(BYTE, b"abc", (3, -1, -1)), tensor(INT32, [1])], {}, "as its three extents say"),
        (
            [IMAGE, tensor(INT32, [5])],
            {"label_type": 1, "num_labels": 5},
            "labels below num_labels",
        ),
        ([IMAGE, tensor(INT32, [-1])], {"label_type": 1}, "labels below num_labels"),
        ([IMAGE, tensor(FLOAT, [0])], {"label_type": 1}, "numbers of labels of type INT32"),
        ([IMAGE, tensor(INT32, [0])], {"label_type": 3}, "a tensor for the weights"),
        ([IMAGE, tensor(INT32, [0]), tensor(FLOAT, [])], {"label_type": 3}, "a weight of type"),
        ([IMAGE, tensor(INT32, [0])], {"additional_inputs": 1}, "an additional input"),
        ([IMAGE, tensor(INT32, [0]), IMAGE], {"additional_inputs": 1}, "INT64 (got another type"),
        ([IMAGE, tensor(INT32, [0]), tensor(INT32, [1])], {"bbox": True}, "a box of four INT32"),
    ],
)
def test_mismatched_protos_are_bad_samples(
    protos: list[bytes], arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(SampleError) as caught:
        read(tmp_path, *protos, **arguments)
    assert message in caught.value.message
    assert caught.value.source == f"{tmp_path}/db at key key"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label_type": 5}, "must be from 0 to 4"),
        ({"num_labels": 0}, "must be at least 1|must be from 1"),
        ({"additional_inputs": -1}, "must be from 0"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        read(tmp_path, IMAGE, tensor(INT32, [1]), **arguments)
