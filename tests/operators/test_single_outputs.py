"""A call with one output returns the node itself, never a list of it; below `fn` and `ops`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, ops, tfrecord
from dali_core._registry.specs import all_specs
from dali_core.testing.examples import class_of, function_of
from tests.operators.readers.database_files import (
    INT32,
    STRING,
    datums,
    tensor,
    tensors,
    write_database,
)
from tests.operators.readers.record_files import examples, write_tfrecords
from tests.operators.readers.tar_files import sample_entries, write_tar
from tests.operators.suite import Example, all_examples, sources

Arguments = Mapping[str, Any]


def caffe(folder: Path) -> dict[str, Any]:
    return {"path": str(write_database(folder / "caffe", datums(3)))}


def caffe2(folder: Path) -> dict[str, Any]:
    entry = tensors(tensor(STRING, b"image"), tensor(INT32, [1]))
    return {"path": str(write_database(folder / "caffe2", [(b"a", entry)]))}


def archive(folder: Path) -> dict[str, Any]:
    return {"paths": str(write_tar(folder / "a.tar", sample_entries(0, 3)))}


def records(folder: Path) -> dict[str, Any]:
    label = tfrecord.FixedLenFeature([1], tfrecord.int64, -1)
    path = write_tfrecords(folder / "a.rec", examples(0, 3))
    return {"path": str(path), "features": {"label": label}}


SINGLE: list[tuple[str, Callable[[Path], dict[str, Any]], Arguments]] = [
    ("readers.webdataset", archive, {"ext": "cls"}),
    ("readers.webdataset", archive, {"ext": ["cls"]}),
    ("readers.caffe", caffe, {"label_available": False}),
    ("readers.caffe", caffe, {"image_available": False}),
    ("readers.caffe2", caffe2, {"label_type": 4}),
    ("readers.tfrecord", records, {}),
    ("readers.python", lambda folder: {"source": [(np.arange(3),)] * 3}, {"num_outputs": 1}),
]
"""Calls with one output of operators that may have several."""


def check(outputs: Any) -> None:
    """Check what a call has returned."""
    if isinstance(outputs, dict):
        assert all(isinstance(value, DataNode) for value in outputs.values())
    elif isinstance(outputs, (list, tuple)):
        assert len(outputs) > 1
        assert all(isinstance(value, DataNode) for value in outputs)
    else:
        assert outputs is None or isinstance(outputs, DataNode)


@pytest.mark.parametrize(
    ("operator", "example"),
    [pytest.param(*pair, id=f"{pair[0]}-{pair[1].name}") for pair in all_examples()],
)
def test_examples_of_all_operators(
    operator: str, example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = example.arguments_in(tmp_path)
    with Pipeline(2, 1, None):
        check(function_of(operator)(*sources(example), **arguments))
        check(class_of(operator)(**arguments)(*sources(example)))


@pytest.mark.parametrize(("operator", "make", "arguments"), SINGLE)
def test_one_output_of_several(
    operator: str,
    make: Callable[[Path], dict[str, Any]],
    arguments: Arguments,
    tmp_path: Path,
) -> None:
    given = {**make(tmp_path), **arguments}
    with Pipeline(1, 1, None) as pipeline:
        outputs = function_of(operator)(**given)
        check(outputs)
        check(class_of(operator)(**given)())
        pipeline.set_outputs(*outputs.values() if isinstance(outputs, dict) else [outputs])
    assert len(pipeline.run()) == 1


def test_a_source_that_counts_its_outputs_returns_a_list() -> None:
    data = [[np.zeros(2)]]
    with Pipeline(1, 1, None):
        (node,) = fn.external_source(source=data, num_outputs=1, cycle=True)
        assert isinstance(node, DataNode)
        (node,) = ops.ExternalSource(source=data, num_outputs=1, cycle=True)()
        assert isinstance(node, DataNode)
    listing = {name for name, spec in all_specs().items() if spec.lists_one_output}
    assert listing == {"external_source"}
