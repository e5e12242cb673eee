"""PyTorch and Pillow, which are imported at their first use."""

from __future__ import annotations

import sys
from typing import Any

from dali_core._extras import install_command


def torch() -> Any:
    """Import PyTorch.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    found = sys.modules.get("torch")
    if found is None:
        try:
            import torch as found
        except ModuleNotFoundError as error:
            raise ImportError(
                f"dali_core.torchvision: PyTorch must be installed (got: {error}). Run "
                f"{install_command('pytorch')}."
            ) from error
    return found


def pillow() -> Any:
    """Import the module `Image` of Pillow.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise ImportError(
            f"dali_core.torchvision: Pillow must be installed (got: {error}). Run pip install "
            "pillow."
        ) from error
    return Image


def is_pillow(value: Any) -> bool:
    """Return whether a value is an image of Pillow, without importing it."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def is_torch(value: Any) -> bool:
    """Return whether a value is a tensor of PyTorch, without importing it."""
    module = sys.modules.get("torch")
    return module is not None and isinstance(value, module.Tensor)
