"""PyTorch with the imperative API: `nodes` of torchdata."""

from __future__ import annotations

from importlib import import_module


def __getattr__(name: str) -> object:
    """Import what needs PyTorch when it is asked for."""
    if name != "nodes":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.nodes")
