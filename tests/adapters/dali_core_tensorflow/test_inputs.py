"""Datasets of TensorFlow, and generators, as inputs of pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from dali_core import DataNode, fn, pipeline_def
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    PipelineStateError,
    UnknownInputError,
)
from tests.adapters.dali_core_tensorflow.pipelines import lists, source_pipeline

tf = pytest.importorskip("tensorflow", reason="not available: TensorFlow")

from dali_core.plugin.tf.experimental import DALIDatasetWithInputs, Input  # noqa: E402


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def add(**options: Any) -> DataNode:
    """Add two inputs."""
    return fn.external_source(name="a", **options) + fn.external_source(name="b")


def tens() -> Iterator[Any]:
    for number in range(10):
        yield numpy.int64(10 * number)


def make(a: Any, b: Any, **options: Any) -> Any:
    return DALIDatasetWithInputs(add(), tf.int64, input_datasets={"a": a, "b": b}, **options)


def test_samples_until_the_first_input_ends() -> None:
    dataset = make(tf.data.Dataset.range(5), tens)
    for _ in range(2):
        # The fifth sample does not fill a batch.
        assert lists(dataset) == [[0, 11], [22, 33]]
    assert lists(make(tf.data.Dataset.range(5), tens, batch_size=5)) == [[0, 11, 22, 33, 44]]


def test_batches() -> None:
    batches = tf.data.Dataset.range(6).batch(2)
    for batch in (True, None):
        assert lists(make(Input(batches, batch=batch), tens)) == [[0, 11], [22, 33], [44, 55]]


def test_samples_of_different_shapes_with_a_layout() -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def resized() -> DataNode:
        return fn.resize(fn.external_source(name="image"), size=[4, 5])

    def images() -> Iterator[Any]:
        for height in (3, 7):
            yield numpy.full((height, 6, 3), height, numpy.uint8)

    dataset = tf.data.Dataset.from_generator(
        images, output_signature=tf.TensorSpec((None, 6, 3), tf.uint8)
    )
    for inputs in (dataset, Input(dataset, layout="HWC"), Input(images, layout="HWC")):
        given = DALIDatasetWithInputs(
            resized(), tf.uint8, (2, 4, 5, 3), input_datasets={"image": inputs}
        )
        ((batch,),) = given
        assert batch[:, 0, 0, 0].numpy().tolist() == [3, 7]


def test_datasets_of_pipelines_are_inputs_of_pipelines() -> None:
    first = make(tf.data.Dataset.range(6), tens).unbatch().map(lambda x: x)
    assert lists(make(first, tens)) == [[0, 21], [42, 63], [84, 105]]


def test_pipelines_with_sources_need_no_inputs() -> None:
    pipeline = source_pipeline([numpy.ones((2, 1), numpy.float32)])
    assert lists(DALIDatasetWithInputs(pipeline, tf.float32)) == [[1, 1]]


def test_missing_input_dataset_is_named() -> None:
    dataset = DALIDatasetWithInputs(add(), tf.int64, input_datasets={"a": tens})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"must have an input.*test_inputs\.py"
    ):
        next(iter(dataset))


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ({"a": tens, "c": tens}, UnknownInputError, "'c'.*There are: 'a', 'b'"),
        ({"a": [1, 2]}, ArgumentTypeError, r"tf\.data\.Dataset, or a function.*\[1, 2\]"),
        ({1: tens}, ArgumentTypeError, r"names must be str \(got 1\)"),
        ([tens], ArgumentTypeError, r"must map names.*got list"),
        (
            {"a": tf.data.Dataset.from_tensors((1, 2))},
            ArgumentTypeError,
            "elements of dataset must be single tensors",
        ),
    ],
)
def test_wrong_inputs(inputs: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        DALIDatasetWithInputs(add(), tf.int64, input_datasets=inputs)


def test_inputs_exclude_epochs_graphs_and_python_code() -> None:
    with pytest.raises(ArgumentConflictError, match=r"got size=4"):
        make(tens, tens, size=4)
    with tf.Graph().as_default(), pytest.raises(PipelineStateError, match="in eager mode"):
        make(tens, tens)
    pipeline = source_pipeline(tens)
    with pytest.raises(ArgumentConflictError, match="must not call Python code"):
        DALIDatasetWithInputs(pipeline, tf.float32, input_datasets={"a": tens})
