"""Feeding."""

import numpy as np
from cuda.bindings import driver

from dali_core import fn
from dali_core.tensors import TensorListGPU
from tests.cuda.programs.pipeline_streams.pipelines import made


def fed(**options):
    return made(
        lambda: [fn.external_source(name="data", device="gpu", **options)], prefetch_queue_depth=1
    )


def numbers(batch):
    assert isinstance(batch, TensorListGPU)
    return np.asarray(batch.as_cpu().as_tensor())


def overwrite(array):
    assert driver.cuMemsetD8Async(array.pointer, 7, array.num_bytes, array.stream)[0] == 0


def raised(error, action):
    try:
        action()
    except error as caught:
        return str(caught)
    raise AssertionError(f"{error.__name__} was not raised")
