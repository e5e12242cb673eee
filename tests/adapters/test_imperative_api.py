"""Tensors and batches of the imperative API as tensors of PyTorch, and the other way round."""

from __future__ import annotations

import numpy as np
import pytest

import dali_core.dynamic as dd

torch = pytest.importorskip("torch", reason="not available: PyTorch")


def test_torch_tensors_share_memory() -> None:
    source = torch.arange(4, dtype=torch.int16)
    tensor = dd.as_tensor(source)
    source[0] = 9
    assert tensor[0].item() == 9
    assert tensor.torch().data_ptr() == source.data_ptr()
    assert dd.as_tensor(source[::2]).shape == (2,)
    with pytest.raises(RuntimeError, match="detach"):
        dd.as_tensor(torch.ones(2, requires_grad=True))
    batch = dd.resize(dd.as_batch([np.zeros((4, 4, 3), np.uint8)] * 2), size=(2, 2))
    assert batch.torch(copy=False).shape == (2, 2, 2, 3)
    with pytest.raises(ValueError, match="apart"):
        dd.as_batch([np.zeros(2), np.zeros(2)]).torch(copy=False)


def test_results_keep_their_memory() -> None:
    images = dd.as_batch([np.full((4, 4, 3), number, np.uint8) for number in range(3)])
    first = dd.flip(images).torch()
    expected = first.clone()
    for _ in range(20):
        (dd.flip(images) + 1).torch()
    assert torch.equal(first, expected)
    assert dd.as_batch([[1, 2], [3]]).torch(pad=True).tolist() == [[1, 2], [3, 0]]
    with pytest.raises(ValueError, match="one shape"):
        dd.as_batch([[1, 2], [3]]).torch()
