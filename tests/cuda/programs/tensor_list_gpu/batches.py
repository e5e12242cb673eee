"""Batches."""

import numpy

import tests.cuda.programs.tensor_gpu.tensors  # noqa: F401
from dali_core.tensors import TensorListCPU
from tests.cuda.simulated_driver import control

sizes = ((5, 7), (3, 2), (4, 9))
images = [numpy.arange(h * w * 3, dtype="uint8").reshape(h, w, 3) for h, w in sizes]
equal = numpy.arange(24, dtype="float32").reshape(4, 2, 3)


def same_list(batch, expected):
    on_host = batch.as_cpu()
    assert isinstance(on_host, TensorListCPU)
    assert len(on_host) == len(expected)
    for got, wanted in zip(on_host, expected):
        numpy.testing.assert_array_equal(numpy.asarray(got), wanted, strict=True)


def kernels():
    return control.counts().get("kernel", 0)
