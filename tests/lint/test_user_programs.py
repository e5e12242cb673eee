"""A type checker accepts valid programs of users and rejects invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

RIGHT = """
from pathlib import Path

import numpy

from dali_core import DataNode, Pipeline, fn, ops, pipeline_def, types
from dali_core.fn import readers
from dali_core.fn.readers import file
from dali_core.tensors import TensorCPU, TensorListCPU


@pipeline_def(batch_size=4, num_threads=1)
def photos(root: Path) -> tuple[DataNode, ...]:
    files, labels = fn.readers.file(file_root=root, random_shuffle=True, name="reader")
    others, _ = readers.file(files=["a.jpg"])
    same, _ = file(file_list="list.txt")
    images = fn.cast(files, dtype=types.FLOAT)
    images = fn.cast(images, dtype=numpy.float32)
    images = fn.flip(images, horizontal=labels, vertical=numpy.int32(1))
    images = fn.crop(images, crop=(1, 2))
    images = fn.crop_mirror_normalize(images, mean=numpy.array([1.0, 2.0]), std=[1, 2.5], scale=2)
    single = fn.external_source(lambda: [numpy.zeros(1)], batch=True)
    several = fn.external_source(source=lambda: [numpy.zeros(1)], num_outputs=2)
    added = fn.python_function(*several, function=lambda x, y: x + y)
    cast = ops.Cast(dtype=types.FLOAT)
    resized: DataNode = fn.resize(images, size=[3, 4])
    with_extents: list[DataNode] = fn.resize(images, size=[3, 4], save_attrs=True)
    images = fn.crop(resized, crop=with_extents[1])
    return images, others, same, cast(single), added, ops.readers.File(files="a.jpg")()[0]


@pipeline_def
def sized(size: int, *, seed: int = 1) -> DataNode:
    return fn.random.uniform(shape=[size])


class Loaders:
    @pipeline_def(enable_conditionals=True)
    def method(self, size: int) -> DataNode:
        return fn.random.uniform(shape=[size])


made: list[Pipeline] = [
    photos(Path("photos"), batch_size=3),
    photos(root=Path("photos"), num_threads=2, py_num_workers=3, debug=False),
    sized(3, seed=3, enable_conditionals=True),
    Loaders().method(3),
]
name: str = photos.__name__


pipeline: Pipeline = photos(Path("photos"))
batch: TensorListCPU
for batch in pipeline.run():
    sample: TensorCPU = batch[0]
    extents: list[int] = sample.shape()
    address: int = batch.as_tensor().data_ptr()
    numpy.asarray(sample)
    numpy.from_dlpack(sample)
    memoryview(sample)
    total: float = batch.at(0).sum() + batch.as_array().sum()
    kind: types.DALIDataType = batch.dtype
"""

HEADER = [
    "from dali_core import DataNode, Pipeline, fn, ops, pipeline_def, types",
    "from dali_core.tensors import TensorCPU, TensorListCPU",
    "@pipeline_def(batch_size=4)",
    "def photos(root: str, size: int = 3) -> DataNode:",
    "    return fn.random.uniform(shape=[size])",
    "def wrong(node: DataNode, pipeline: Pipeline) -> None:",
]

WRONG = [
    ("fn.readers.file(file_root=3)", "arg-type"),
    ("fn.readers.file(node)", "call-arg"),
    ("fn.cast(node)", "call-arg"),
    ("fn.cast(node, dtype='float')", "arg-type"),
    ("fn.cast(node, dtype=types.FLOAT, dtpe=1)", "call-arg"),
    ("fn.cast({3}, dtype=types.FLOAT)", "arg-type"),
    ("fn.flip(node, horizontal='yes')", "arg-type"),
    ("fn.nothing(node)", "attr-defined"),
    ("fn.readers.nothing(node)", "attr-defined"),
    ("fn.external_source(num_outputs=2).name", "attr-defined"),
    ("ops.Cast(dtyp=types.FLOAT)", "call-arg"),
    ("ops.Cast(dtype=types.FLOAT)(node, node)", "call-arg"),
    ("pipeline.run().at(0)", "attr-defined"),
    ("len(pipeline.run()[0].shape)", "arg-type"),
    ("TensorCPU()", "call-overload"),
    ("TensorListCPU([1], contiguous=1.5)", "call-overload"),
    ("TensorCPU(1).set_layout(3)", "arg-type"),
    ("TensorCPU(1).reinterpret(3)", "arg-type"),
    ("types.to_numpy_type('uint8')", "arg-type"),
    ("types.TensorLayout(3)", "arg-type"),
    ("photos()", "call-overload"),
    ("photos(3)", "call-overload"),
    ("photos('a', sise=3)", "call-overload"),
    ("photos('a', size='3')", "call-overload"),
    ("photos('a', batch_size='3')", "call-overload"),
    ("photos('a', size=3, seed=1, num_threads='3')", "call-overload"),
    ("photos('a').at(0)", "attr-defined"),
    ("pipeline_def(batchsize=3)", "call-overload"),
    ("pipeline_def(batch_size='3')", "call-overload"),
    ("fn.resize(node, size=[3], save_attrs=True).name", "attr-defined"),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def _check(program: str, folder: Path, cache: Path) -> tuple[list[str], int]:
    path = folder / "program.py"
    path.write_text(program, "utf-8")
    output, errors, status = api.run(
        ["--strict", "--hide-error-context", "--cache-dir", str(cache), str(path)]
    )
    assert errors == ""
    return output.splitlines(), status


def test_a_right_program_passes(tmp_path: Path, cache: Path) -> None:
    assert _check(RIGHT, tmp_path, cache) == (["Success: no issues found in 1 source file"], 0)


def test_types_of_calls(tmp_path: Path, cache: Path) -> None:
    program = """
from dali_core import DataNode, fn, pipeline_def

@pipeline_def(batch_size=4)
def photos(root: str, size: int = 3) -> DataNode:
    image = fn.random.uniform(shape=[size])
    reveal_type(fn.resize(image, size=[3]))
    reveal_type(fn.random_bbox_crop(image))
    return image

reveal_type(photos("a"))
reveal_type(photos(root="a", seed=3))
"""
    output, _ = _check(program, tmp_path, cache)
    revealed = [line.rpartition("is ")[2] for line in output if "Revealed" in line]
    assert revealed == [
        '"dali_core._graph.node.DataNode"',
        '"list[dali_core._graph.node.DataNode]"',
        *['"dali_core.pipeline._pipeline.Pipeline"'] * 2,
    ]


def test_wrong_calls_are_found(tmp_path: Path, cache: Path) -> None:
    lines = [f"    {call}" for call, _ in WRONG]
    output, status = _check("\n".join([*HEADER, *lines, ""]), tmp_path, cache)
    assert status == 1
    for number, (call, code) in enumerate(WRONG, start=len(HEADER) + 1):
        found = [line for line in output if f"program.py:{number}: error" in line]
        assert any(line.endswith(f"[{code}]") for line in found), (call, found)
