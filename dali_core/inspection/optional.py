"""Packages of the extra `report`, which need not be installed."""

from __future__ import annotations

import importlib
from types import ModuleType

from dali_core._extras import install_command
from dali_core.errors import MissingModuleError


def require(module: str, package: str) -> ModuleType:
    """Import a module of an optional package.

    Raises
    ------
    MissingModuleError
        If it is not installed; the message names the extra.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingModuleError(
            f"Pictures of samples need {package} (got: {error}). Run {install_command('report')}."
        ) from error
