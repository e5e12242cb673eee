"""Functions of PyTorch in a pipeline."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of tensors, so that it can be called with arrays, or lists of them."""

    @functools.wraps(function)
    def call(*arrays: Any) -> Any:
        return function(*map(_tensors, arrays))

    return call


def _tensors(arrays: Any) -> Any:
    if isinstance(arrays, list):
        return [_tensors(array) for array in arrays]
    # Others may read the same memory.
    return torch.tensor(arrays)
