"""Nodes of torchdata that read data sets: `Reader`, `DictMapper` and `ToTorch`."""

from __future__ import annotations

try:
    from dali_core_pytorch.nodes import DictMapper as DictMapper
    from dali_core_pytorch.nodes import Reader as Reader
    from dali_core_pytorch.nodes import ToTorch as ToTorch
except ModuleNotFoundError as error:
    raise ImportError(
        f"dali_core.dynamic.pytorch.nodes: PyTorch and torchdata must be installed (got: {error}). "
        "Run pip install torch torchdata."
    ) from error
