"""Iterators for PaddlePaddle: structure of batches, memory, copies, training, wrong arguments."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import AdapterError, ArgumentTypeError, ArgumentValueError
from dali_core.tensors import TensorCPU

paddle = pytest.importorskip("paddle", reason="not available: PaddlePaddle")

from dali_core.plugin.paddle import (  # noqa: E402
    DALIClassificationIterator,
    DALIGenericIterator,
    LastBatchPolicy,
    feed_ndarray,
)

RAGGED = [[numpy.array([1, 2], numpy.int32), numpy.array([3], numpy.int32)]]


def source_pipeline(*sources: Any, batch_size: int = 2) -> Pipeline:
    pipeline = Pipeline(batch_size=batch_size, num_threads=1, device_id=None)
    with pipeline:
        outputs = [fn.external_source(source=one, batch=True, cycle="raise") for one in sources]
        pipeline.set_outputs(*outputs)
    return pipeline


class TestBatches:
    def test_a_dictionary_for_each_pipeline(self) -> None:
        sources = [numpy.full((2, 3), 1, numpy.float32)], [numpy.full((2,), 2, numpy.int64)]
        for output_map in (["data", "label"], [("data", 0), "label"]):
            (batch,) = DALIGenericIterator(source_pipeline(*sources), output_map)
            assert list(batch[0]) == ["data", "label"]
            assert isinstance(batch[0]["data"], paddle.Tensor)
            assert batch[0]["data"].dtype == paddle.float32
            assert batch[0]["data"].numpy().tolist() == [[1] * 3] * 2
            assert batch[0]["label"].numpy().tolist() == [2, 2]

    def test_classification_names_the_outputs(self) -> None:
        sources = [numpy.zeros((2, 3), numpy.float32)], [numpy.zeros((2, 1), numpy.int64)]
        (batch,) = DALIClassificationIterator([source_pipeline(*sources)])
        assert list(batch[0]) == ["data", "label"]

    def test_ragged_batches(self) -> None:
        with pytest.raises(AdapterError, match=r"output 'x': .*\(2,\), \(1,\).*output_types"):
            DALIGenericIterator(source_pipeline(RAGGED), ["x"])
        (batch,) = DALIGenericIterator(source_pipeline(RAGGED), ["x"], output_types=["list"])
        assert [item.numpy().tolist() for item in batch[0]["x"]] == [[1, 2], [3]]

    def test_tensors_may_be_changed_in_place(self) -> None:
        batches = [numpy.full((2, 1), number, numpy.float32) for number in range(6)]
        iterator = DALIGenericIterator(source_pipeline(batches), ["x"])
        held = [batch[0]["x"].scale_(10.0) for batch in iterator]
        assert [tensor[0].item() for tensor in held] == [0, 10, 20, 30, 40, 50]
        assert [batch[0, 0] for batch in batches] == [0, 1, 2, 3, 4, 5]

    def test_static_programs(self) -> None:
        batches = [numpy.arange(4, dtype=numpy.float32).reshape(4, 1)]
        paddle.enable_static()
        try:
            program = paddle.static.Program()
            with paddle.static.program_guard(program):
                doubled = paddle.static.data("x", [None, 1], "float32") * 2
            executor = paddle.static.Executor(paddle.CPUPlace())
            iterator = DALIGenericIterator(
                source_pipeline(batches, batch_size=4),
                ["x"],
                size=3,
                last_batch_policy=LastBatchPolicy.PARTIAL,
            )
            given = [executor.run(program, feed=batch, fetch_list=[doubled]) for batch in iterator]
        finally:
            paddle.disable_static()
        assert [array.ravel().tolist() for (array,) in given] == [[0, 2, 4]]


class TestFeed:
    def test_to_an_address(self) -> None:
        data = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        (batch,) = source_pipeline([data]).run()
        for source, expected in ((batch, data), (batch[1], data[1])):
            for pointer in (int, ctypes.c_void_p):
                tensor = paddle.zeros(expected.shape)
                address = pointer(tensor.data_ptr())
                assert feed_ndarray(source, address) is address
                assert tensor.numpy().tolist() == expected.tolist()

    def test_to_a_tensor(self) -> None:
        for dtype in ("uint8", "int64", "float16", "bool"):
            data = numpy.array([[1, 0], [1, 1]]).astype(dtype)
            tensor = paddle.zeros([2, 2], dtype)
            assert feed_ndarray(TensorCPU(data), tensor) is tensor
            assert tensor.numpy().tolist() == data.tolist()

    @pytest.mark.parametrize(
        ("source", "destination", "error", "message"),
        [
            (numpy.zeros(2), 0, ArgumentTypeError, "dali_tensor must be .*got ndarray"),
            (TensorCPU(numpy.zeros(2)), [], ArgumentTypeError, "an address or a paddle.Tensor"),
            (TensorCPU(numpy.zeros(2)), "float32 2", ArgumentValueError, "the dtype of"),
            (TensorCPU(numpy.zeros(2)), "float64 3", ArgumentValueError, r"\(2,\) \(got \(3,\)\)"),
        ],
    )
    def test_mismatched_feed_destinations_raise(
        self, source: Any, destination: Any, error: type[Exception], message: str
    ) -> None:
        if isinstance(destination, str):
            dtype, extent = destination.split()
            destination = paddle.zeros([int(extent)], dtype)
        with pytest.raises(error, match=message):
            feed_ndarray(source, destination)


class TestWrongArguments:
    @pytest.mark.parametrize(
        ("output_map", "error", "message"),
        [
            ("x", ArgumentTypeError, "must be a list of names"),
            (["x", "x"], ArgumentValueError, "distinct names"),
            (["x", "y"], ArgumentValueError, "name every output"),
            ([("x", 1)], ArgumentValueError, r"level of detail \(LoD\) of 'x' must be 0"),
            ([("x", 0, 0)], ArgumentTypeError, "must be a list of names"),
        ],
    )
    def test_names(self, output_map: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            DALIGenericIterator(source_pipeline([numpy.zeros((2, 1))]), output_map)

    def test_parameters_are_those_of_the_reference(self) -> None:
        common = [
            *("size", "reader_name", "auto_reset", "fill_last_batch", "dynamic_shape"),
            *("last_batch_padded", "last_batch_policy", "prepare_first_batch"),
        ]
        assert [*inspect.signature(DALIClassificationIterator).parameters] == ["pipelines", *common]
        assert [*inspect.signature(DALIGenericIterator).parameters] == [
            *("pipelines", "output_map"),
            *common,
            "output_types",
        ]
        assert [*inspect.signature(feed_ndarray).parameters] == [
            *("dali_tensor", "ptr", "cuda_stream"),
        ]


def test_training() -> None:
    def batches() -> Iterator[Any]:
        for number in range(8):
            yield numpy.full((4, 1), number % 2, numpy.float32)

    iterator = DALIClassificationIterator(
        source_pipeline(batches, batches, batch_size=4), auto_reset=True
    )
    network = paddle.nn.Linear(1, 1, bias_attr=False)
    network.weight.set_value(numpy.zeros((1, 1), numpy.float32))
    optimizer = paddle.optimizer.SGD(0.1, parameters=network.parameters())
    losses: list[list[float]] = []
    for _ in range(2):
        losses.append([])
        for (batch,) in iterator:
            loss = ((network(batch["data"]) - batch["label"]) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses[-1].append(loss.item())
    assert [len(epoch) for epoch in losses] == [8, 8]
    assert sum(losses[1]) < sum(losses[0])
