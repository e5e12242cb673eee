"""Functions of PyTorch in a pipeline."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of tensors as a function of arrays, or lists of them."""

    @functools.wraps(function)
    def call(*arrays: Any) -> Any:
        return function(*map(_tensors, arrays))

    return call


def _tensors(arrays: Any) -> Any:
    if isinstance(arrays, list):
        return [_tensors(array) for array in arrays]
    # Without a copy: memory that others read was copied before.
    return torch.from_numpy(arrays)
