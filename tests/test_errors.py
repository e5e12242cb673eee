"""Errors are typed, name operator, line, sample and file, and leave the pipeline usable."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, errors, fn, ops, pipeline_def, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    GraphError,
    PipelineStateError,
    SampleError,
)
from tests.folders import make_folders
from tests.generated_images import encode, photo_like
from tests.hanging import HANG_SECONDS
from tests.operators.decoders.decoding import has_libjpeg

HERE = re.escape(__file__)


def line_of(error: BaseException) -> int:
    """Return the line of this file that the message names."""
    found = re.search(rf"{HERE}:(\d+)", str(error))
    assert found, error
    return int(found[1])


def line_with(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {text}"))


def test_all_errors_are_of_one_family() -> None:
    classes = [
        value
        for value in vars(errors).values()
        if isinstance(value, type)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
    ]
    assert len(classes) > 10
    for error in classes:
        assert issubclass(error, DaliCoreError)
        if error is not DaliCoreError:
            assert issubclass(
                error, (TypeError, ValueError, RuntimeError, BufferError, ImportError)
            )
            assert error.__doc__


def test_sample_errors_survive_pickling() -> None:
    error = SampleError(
        "must be.",
        operator="a.b",
        location="x.py:1",
        epoch=2,
        iteration=3,
        sample=4,
        source="f",
        failures=[errors.BadSample("a.b", "x.py:1", 2, 3, 4, "f", "must be.")],
    )
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert str(error) == "fn.a.b, at x.py:1, epoch 2, iteration 3, sample 4, file 'f': must be."
    assert vars(again) == vars(error)


def test_only_files_are_called_files() -> None:
    for source in ("index 3", "index 3;index 14", "video 2 of those that were fed"):
        assert SampleError("must be.", sample=1, source=source).where.endswith(f"1, {source}")
        assert str(errors.BadSample("", "", 0, 0, 1, source, "")) == f"sample 1, {source}"
    for source in ("a/index 3", "index", "index 3.png", "index 3;a.png"):
        assert SampleError("must be.", source=source).where.endswith(f"file {source!r}")


# Making pipelines


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"batch_size": "2"}, ArgumentTypeError, r"batch_size must be a positive int \(got '2'"),
        ({"batch_size": 2.0}, ArgumentTypeError, "batch_size must be a positive int"),
        ({"batch_size": True}, ArgumentTypeError, "batch_size must be a positive int"),
        ({"batch_size": 0}, ArgumentValueError, r"batch_size must be positive \(got 0\)"),
        ({"batch_size": 2**40}, ArgumentValueError, "batch_size"),
        ({"num_threads": 0}, ArgumentValueError, "num_threads must be positive"),
        ({"num_threads": "2"}, ArgumentTypeError, "num_threads must be a positive int"),
        ({"prefetch_queue_depth": 0}, ArgumentValueError, "prefetch_queue_depth must be positive"),
        ({"prefetch_queue_depth": [2]}, ArgumentTypeError, "prefetch_queue_depth"),
        ({"prefetch_queue_depth": {"cpu_size": 1}}, ArgumentValueError, "'cpu_size' and"),
        (
            {"prefetch_queue_depth": {"cpu_size": 0, "gpu_size": 1}},
            ArgumentValueError,
            "prefetch_queue_depth must be positive",
        ),
        ({"seed": 1.5}, ArgumentTypeError, "seed must be an int"),
        ({"device_id": "gpu"}, ArgumentTypeError, "device_id must be an int or None"),
    ],
)
def test_wrong_pipeline_arguments(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Pipeline(**{"batch_size": 1, "num_threads": 1, "device_id": None, **arguments})


def test_the_line_of_a_wrong_pipeline_argument() -> None:
    with pytest.raises(ArgumentValueError) as caught:
        Pipeline(0, 1)  # the wrong pipeline
    assert line_of(caught.value) == line_with("the wrong pipeline")


# Defining graphs


def define(function: Callable[[], Any]) -> Any:
    with Pipeline(1, 1, None):
        return function()


def source() -> Any:
    return fn.external_source(lambda: [np.zeros(1)])


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (
            lambda: fn.readers.file(file_rot="x"),
            ArgumentTypeError,
            "unknown argument 'file_rot'. Did you mean 'file_root'?",
        ),
        (lambda: fn.flip(source(), zzz=1), ArgumentTypeError, "'zzz'. It takes: .*horizontal"),
        (
            lambda: fn.flip(source(), horizontal="yes"),
            ArgumentTypeError,
            "argument 'horizontal' must be int .got 'yes', a str",
        ),
        (
            lambda: fn.readers.file(file_root=source()),
            ArgumentTypeError,
            "'file_root' must be the same for all samples",
        ),
        (lambda: fn.readers.file(file_root=3), ArgumentTypeError, "'file_root' must be str"),
        (lambda: fn.flip(), ArgumentTypeError, "1 inputs must be passed .got 0"),
        (lambda: fn.flip("image"), ArgumentTypeError, "input 0 must be a DataNode.*str"),
        (lambda: fn.water(source(), device="gpu"), ArgumentValueError, "must be one of 'cpu'"),
        (lambda: fn.python_function(source()), ArgumentTypeError, "'function' must be given"),
        (lambda: bool(source()), GraphError, "has no truth value"),
        (lambda: tuple(source()), GraphError, "cannot be unpacked"),
        (lambda: fn.water(source().gpu()), GraphError, "must be on the host"),
        (lambda: ops.Flip(horizontl=1), ArgumentTypeError, "Did you mean 'horizontal'"),
        (lambda: ops.Flip(vertical=1)(source(), vertical=1), ArgumentTypeError, "got both"),
    ],
)
def test_wrong_operator_calls(
    function: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        define(function)
    assert line_of(caught.value) > 0
    assert Pipeline.current() is None


def test_names_must_be_unique(tmp_path: Path) -> None:
    make_folders(tmp_path)

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def twice() -> Any:
        first, _ = fn.readers.file(file_root=tmp_path, name="reader")
        second, _ = fn.readers.file(file_root=tmp_path, name="reader")  # the second of that name
        return first, second

    with pytest.raises(GraphError, match="must be unique in the pipeline .got 'reader' again") as e:
        twice()
    assert line_of(e.value) == line_with("the second of that name")


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (lambda node: [node], r"output 0 must be a DataNode \(got a list\). Unpack it"),
        (lambda node: (node, "3"), r"output 1 must be a DataNode \(got a str\)"),
        (lambda node: (node, None), "output 1 must be a DataNode"),
    ],
)
def test_wrong_outputs(outputs: Callable[[Any], Any], message: str) -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def wrong() -> Any:
        return outputs(source())

    with pytest.raises(ArgumentTypeError, match=message):
        wrong()


def test_nested_outputs_of_define_graph() -> None:
    class Nested(Pipeline):
        def define_graph(self) -> Any:
            return [source(), [source()]]

    with pytest.raises(ArgumentTypeError, match="output 1 must be a DataNode"):
        Nested(1, 1, None).build()


def test_pipelines_without_outputs() -> None:
    with pytest.raises(GraphError, match="has no outputs. Override define_graph"):
        Pipeline(1, 1, None).build()
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs()
    with pytest.raises(GraphError, match="must have an output"):
        pipeline.build()


def test_pipelines_without_a_batch_size() -> None:
    for left_out in ({}, {"batch_size": None}, {"batch_size": -1}):
        with Pipeline(**left_out) as pipeline:
            pipeline.set_outputs(source())
        with pytest.raises(ArgumentValueError, match=r"errors.py:\d+: batch_size must be given"):
            pipeline.build()


def test_values_of_another_pipeline_that_is_built() -> None:
    with Pipeline(1, 1, None) as other:  # the first pipeline
        foreign = source()
        other.set_outputs(foreign)
    other.build()
    first = rf"made at {HERE}:{line_with('the first pipeline')}, which is built"
    with Pipeline(1, 1, None) as pipeline:  # the second pipeline
        second = rf"made at {HERE}:{line_with('the second pipeline')} cannot use it"
        for use, what in (
            (lambda: fn.flip(foreign), "input 0"),
            (lambda: fn.flip(source(), horizontal=foreign), "argument 'horizontal'"),
            (lambda: pipeline.set_outputs(foreign + 1), "input 0"),
            (lambda: pipeline.set_outputs(foreign), "output 0"),
            (lambda: pipeline.add_sink(foreign), "edge of add_sink"),
        ):
            with pytest.raises(GraphError, match=f"{what} must be of one pipeline only") as caught:
                use()
            assert re.search(first, str(caught.value))
            assert re.search(second, str(caught.value))
            assert "Call the operator again" in str(caught.value)


def test_outputs_are_chosen_before_building() -> None:
    with Pipeline(1, 1, None) as pipeline:
        node = source()
        pipeline.set_outputs(node)
    pipeline.build()
    with pytest.raises(PipelineStateError, match="before the pipeline is built"):
        pipeline.set_outputs(node)


# Building


def test_missing_and_empty_folders(tmp_path: Path) -> None:
    for root, message in ((tmp_path / "none", "No such file"), (tmp_path, "found 0 folders")):
        with Pipeline(1, 1, None) as pipeline:
            pipeline.set_outputs(*fn.readers.file(file_root=root))  # the reader of nothing
        with pytest.raises(ArgumentValueError, match=message) as caught:
            pipeline.build()
        assert line_of(caught.value) == line_with("the reader of nothing")


def test_native_code_validates_arguments() -> None:
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(fn.random.uniform(range=[1.0, -1.0]))  # refused when built
    with pytest.raises(ArgumentValueError, match="range must end above its start") as caught:
        pipeline.build()
    assert line_of(caught.value) == line_with("refused when built")


READS_WITHOUT_PERMISSION = """
import os, sys
from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
files, closed = sys.argv[1:]
with Pipeline(1, 1, None, prefetch_queue_depth=1) as pipeline:
    pipeline.set_outputs(*fn.readers.file(file_root=files))
with Pipeline(1, 1, None) as cannot_be_built:
    cannot_be_built.set_outputs(*fn.readers.file(file_root=closed))
print(pipeline.run()[0].at(0).tobytes())
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    pipeline.run()
except SampleError as error:
    print(error.source, error.message)
print(pipeline.run()[0].at(0).tobytes())
try:
    cannot_be_built.build()
except ArgumentValueError as error:
    print(error)
"""


def test_files_and_folders_without_permission() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        files, closed = root / "files", root / "closed"
        make_folders(files, (1, 1))
        (files / "class_1" / "000.jpg").chmod(0)
        closed.mkdir(mode=0)
        command = [sys.executable, "-c", READS_WITHOUT_PERMISSION, str(files), str(closed)]
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
        )
        closed.chmod(0o700)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == lines[2] == "b'0/0'"
    assert lines[1].startswith("class_1/000.jpg the file must be readable")
    assert "Permission denied" in lines[1]
    assert "file_root must be a folder that can be listed" in lines[3]
    assert "Permission denied" in lines[3]


# Running


def decoding(root: Path, batch_size: int = 1) -> Pipeline:
    with Pipeline(batch_size, 2, None, prefetch_queue_depth=2) as pipeline:
        data, labels = fn.readers.file(file_root=root)  # the reader
        images = fn.decoders.image(data)  # the decoder
        pipeline.set_outputs(images, labels)
    return pipeline


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Three classes of two JPEG files."""
    for number in range(6):
        folder = tmp_path / f"class_{number // 2}"
        folder.mkdir(exist_ok=True)
        content = encode(photo_like(16, 24, seed=number), "JPEG")
        (folder / f"{number}.jpg").write_bytes(content)
    return tmp_path


# What libjpeg-turbo is found to have decoded in part, nvImageCodec refuses.
DAMAGED = "sound and complete" if has_libjpeg() else "The file is damaged"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: b"", "The file is empty"),
        (lambda content: content[: len(content) // 2], DAMAGED),
        (lambda content: b"this is no image at all, but text" * 10, "image"),
        (lambda content: content[:2], "image|JPEG"),
    ],
)
@pytest.mark.parametrize("batch_size", [1, 3])
def test_damaged_files(
    damage: Callable[[bytes], bytes], message: str, batch_size: int, images: Path
) -> None:
    bad = images / "class_1" / "2.jpg"
    bad.write_bytes(damage(bad.read_bytes()))
    pipeline = decoding(images, batch_size)
    for epoch in range(3):
        for first in range(0, 6, batch_size):
            if not first <= 2 < first + batch_size:
                outputs = pipeline.run()
                assert outputs[1].as_array().ravel()[0] == first // 2
                assert outputs[0].shape() == [(16, 24, 3)] * batch_size
                continue
            with pytest.raises(SampleError, match=message) as caught:
                pipeline.run()
            error = caught.value
            assert error.operator == "decoders.image"
            assert error.location == f"{__file__}:{line_with('the decoder')}"
            assert error.source == os.path.join("class_1", "2.jpg")
            assert error.sample == 2 - first
            assert (error.epoch, error.iteration) == (epoch, (6 * epoch + 2) // batch_size)
            assert str(error).startswith(f"fn.decoders.image, at {__file__}:")
            assert f"epoch {epoch}, iteration {error.iteration}, sample" in str(error)


def test_a_file_deleted_and_restored_while_running(images: Path) -> None:
    pipeline = decoding(images)
    path = images / "class_0" / "1.jpg"
    content = path.read_bytes()
    assert len(pipeline.run()[0]) == 1
    pipeline.run()  # batch 1 was started before the file went away
    path.unlink()
    for _ in range(5):
        pipeline.run()
    with pytest.raises(SampleError, match="No such file") as caught:
        pipeline.run()
    assert caught.value.operator == "readers.file"
    assert line_of(caught.value) == line_with("the reader")
    path.write_bytes(content)
    for _ in range(8):
        pipeline.run()


def test_several_failures_in_one_batch(images: Path) -> None:
    for number in (1, 4, 5):
        (images / f"class_{number // 2}" / f"{number}.jpg").write_bytes(b"")
    pipeline = decoding(images, 6)
    for _ in range(5):
        with pytest.raises(SampleError, match="2 more samples of this batch failed") as caught:
            pipeline.run()
        names = [os.path.join(f"class_{number // 2}", f"{number}.jpg") for number in (1, 4, 5)]
        assert (caught.value.sample, caught.value.source) == (1, names[0])
        assert f"failed: sample 4, file {names[1]!r}; sample 5, file {names[2]!r}.)" in str(
            caught.value
        )
        assert [bad.source for bad in caught.value.failures] == names
    assert [bad.sample for bad in pipeline.bad_samples] == [1, 4, 5] * 5


def test_functions_know_the_file(images: Path) -> None:
    def function(x: np.ndarray) -> np.ndarray:
        if x == 1:
            raise ValueError("one")
        return x

    with Pipeline(6, 2, None) as pipeline:
        _, labels = fn.readers.file(file_root=images)
        pipeline.set_outputs(fn.python_function(labels, function=function))
    for _ in range(2):
        with pytest.raises(SampleError, match="ValueError: one") as caught:
            pipeline.run()
    assert caught.value.source == os.path.join("class_1", "2.jpg")
    assert (caught.value.sample, caught.value.epoch) == (2, 1)


def test_wrong_data_for_an_operator() -> None:
    wrong = {1: np.zeros((1, 4, 3), np.uint8), 3: np.zeros((4, 1, 3), np.uint8)}

    def batches(iteration: int) -> list[np.ndarray]:
        return [wrong.get(iteration, np.zeros((4, 4, 3), np.uint8))] * 2

    with Pipeline(2, 2, None) as pipeline:
        node = fn.external_source(batches)
        pipeline.set_outputs(fn.crop(node, crop=[2, 2]))
    for iteration in range(5):
        if iteration in wrong:
            with pytest.raises(SampleError) as caught:
                pipeline.run()
            assert (caught.value.operator, caught.value.sample) == ("crop", 0)
        else:
            assert pipeline.run()[0].shape() == [(2, 2, 3)] * 2


def test_outputs_of_the_wrong_type() -> None:
    with Pipeline(1, 1, None, output_dtype=types.UINT8) as pipeline:
        pipeline.set_outputs(source())
    for _ in range(2):
        with pytest.raises(GraphError, match="must have output_dtype .*UINT8"):
            pipeline.run()
