"""NVIDIA GPUs through the CUDA driver: streams, memory, kernels.

Importing this package does nothing; its compiled modules need the package cuda-bindings.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from dali_core._extras import install_command
from dali_core.errors import CudaUnavailableError


def load(stem: str) -> ModuleType:
    """Import a compiled module of this package, such as ``"stream"``.

    Parameters
    ----------
    stem : str
        Name of the module in this package.

    Raises
    ------
    CudaUnavailableError
        If this build has no such modules, or what they need is not installed.
    """
    try:
        return importlib.import_module(f"{__name__}.{stem}")
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing.startswith(__name__):
            raise CudaUnavailableError(
                "CUDA: this installation must have been built with support for GPUs (it was built "
                "without). Install a build for Linux on x86_64 or aarch64, made without "
                "DALI_CORE_WITH_CUDA=0."
            ) from error
        if missing.partition(".")[0] == "cuda":
            raise CudaUnavailableError(
                f"CUDA: the package cuda-bindings must be installed (got no module {missing}). "
                f"Run: {install_command('cuda')}."
            ) from error
        raise
    except ImportError as error:
        raise CudaUnavailableError(
            "CUDA: the package cuda-bindings must be of version 12.9 or newer, but before 14 (got "
            f"an error: {error}). Run: {install_command('cuda')}."
        ) from error
