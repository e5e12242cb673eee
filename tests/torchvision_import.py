"""Import of torchvision beside builds of PyTorch that its native operators are not made for."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

_kept: list[Any] = []
_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def import_torchvision() -> Any:
    """Import torchvision, or skip the test where it is not installed.

    Its wheels on the index of Python packages are made for builds of PyTorch with CUDA. Beside a
    build for the CPU its native operators are missing, and the import fails where it describes two
    of them; transforms and data sets need none.
    """
    torch = pytest.importorskip("torch", reason="not available: PyTorch")
    try:
        return pytest.importorskip("torchvision", reason="not available: torchvision")
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        library.define(f"{name}{_SCHEMA}")
    _kept.append(library)  # its operators are gone with it
    return importlib.import_module("torchvision")
