"""Printed tensors and batches."""

from __future__ import annotations

import time

import numpy
import pytest

from dali_core.tensors import TensorCPU, TensorListCPU


def test_a_tensor() -> None:
    tensor = TensorCPU(numpy.array([[1, 2]], numpy.uint8), "HW")
    assert repr(tensor) == (
        'TensorCPU(\n    dtype=DALIDataType.UINT8,\n    layout="HW",\n    device="cpu",\n'
        "    shape=(1, 2))"
    )
    assert str(tensor) == repr(tensor).replace("(\n", "(\n    [[1 2]],\n", 1)
    assert "layout" not in repr(TensorCPU([1]))


def test_a_batch() -> None:
    batch = TensorListCPU([numpy.zeros(1), numpy.ones(2)], "W")
    assert str(batch) == (
        "TensorListCPU(\n    [[0.],\n    [1. 1.]],\n    dtype=DALIDataType.FLOAT64,\n"
        '    layout="W",\n    device="cpu",\n    num_samples=2,\n    shape=[(1,), (2,)])'
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (numpy.array(3.5), "3.5"),
        (numpy.zeros((0, 4)), "[]"),
        (numpy.float16([1.5]), "[1.5]"),
        (numpy.array([True, False]), "[ True False]"),
        (numpy.arange(5000), "[   0    1 ... 4998 4999]"),
    ],
    ids=["number", "nothing", "half", "bool", "long"],
)
def test_elements(
    data: numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]], text: str
) -> None:
    assert f"(\n    {text},\n    dtype=" in str(TensorCPU(data))


def test_an_empty_batch() -> None:
    assert str(TensorListCPU([])) == (
        'TensorListCPU(\n    [],\n    dtype=DALIDataType.NO_TYPE,\n    device="cpu",\n'
        "    num_samples=0,\n    shape=[])"
    )


def test_a_large_batch_is_short() -> None:
    batch = TensorListCPU.broadcast(numpy.zeros((512, 512, 3), numpy.uint8), 1000)
    begin = time.thread_time()
    assert len(repr(batch)) < 300
    assert len(str(batch)) < 3000
    assert time.thread_time() - begin < 5, "elements that are not shown are not looked at"
    assert "(512, 512, 3), (512, 512, 3), ..., (512, 512, 3), (512, 512, 3)]" in repr(batch)
