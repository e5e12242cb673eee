"""Functions of PyTorch as operators."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import ArgumentTypeError, SampleError
from dali_core.testing.examples import list_of

torch = pytest.importorskip("torch", reason="not available: PyTorch")

from dali_core_pytorch.function import on_tensors  # noqa: E402

from dali_core.plugin.pytorch import TorchPythonFunction  # noqa: E402
from dali_core.plugin.pytorch.fn import torch_python_function  # noqa: E402
from dali_core.plugin.pytorch.torch_utils import to_torch_tensor  # noqa: E402

SAMPLES = [np.float32([1, 2]), np.float32([3])]


def run(define: Any) -> Any:
    with Pipeline(2, 1, None) as pipeline:
        outputs = define(fn.external_source(lambda: SAMPLES))
        pipeline.set_outputs(*list_of(outputs))
    return pipeline.run()


def doubled(tensor: Any) -> Any:
    assert isinstance(tensor, torch.Tensor)
    tensor *= 2  # it is the function's own
    return tensor


@pytest.mark.parametrize(
    "define",
    [
        lambda data: torch_python_function(data, function=doubled),
        lambda data: TorchPythonFunction(doubled)(data),
        lambda data: TorchPythonFunction(
            lambda batch: [doubled(tensor) for tensor in batch], batch_processing=True
        )(data),
    ],
)
def test_a_function_gets_tensors_of_its_own(define: Any) -> None:
    changed, unchanged = run(lambda data: [define(data), data])
    assert [changed.at(i).tolist() for i in range(2)] == [[2, 4], [6]]
    assert [unchanged.at(i).tolist() for i in range(2)] == [[1, 2], [3]]


def test_several_outputs() -> None:
    shapes, means = run(
        lambda data: TorchPythonFunction(
            lambda tensor: (torch.tensor(tensor.shape), tensor.mean(0, keepdim=True)), num_outputs=2
        )(data)
    )
    assert (shapes.dtype, means.dtype) == (types.INT64, types.FLOAT)
    assert [shapes.at(0).tolist(), means.at(0).tolist()] == [[2], [1.5]]


def test_errors_name_the_line_of_the_program() -> None:
    with pytest.raises(SampleError, match=f"{re.escape(__file__)}:.*no such function"):
        run(lambda data: torch_python_function(data, function=failing))
    with pytest.raises(ArgumentTypeError, match=re.escape(__file__)):
        TorchPythonFunction(doubled, no_such=1)


def failing(_: Any) -> Any:
    raise NameError("no such function")


def test_to_torch_tensor() -> None:
    (batch,) = run(lambda data: fn.pad(data))
    shared, copied = to_torch_tensor(batch, False), to_torch_tensor(batch, True)
    assert shared.tolist() == copied.tolist() == [[1, 2], [3, 0]]
    assert shared.data_ptr() == to_torch_tensor(batch, False).data_ptr() != copied.data_ptr()


def test_zero_copy() -> None:
    array = np.zeros((2, 3), np.float32)
    assert on_tensors(lambda tensor: tensor)(array).data_ptr() == array.ctypes.data
    (tensor,) = on_tensors(lambda tensors: tensors)([array])
    assert tensor.data_ptr() == array.ctypes.data
