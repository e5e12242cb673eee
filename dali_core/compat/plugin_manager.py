"""Libraries of operators for NVIDIA DALI, which this library cannot load."""

from __future__ import annotations

from typing import NoReturn

from dali_core.errors import CompatibilityError


def load_library(library_path: str, global_symbols: bool = False) -> NoReturn:
    """Refuse to load a library of operators, which calls NVIDIA DALI's own C++.

    Raises
    ------
    CompatibilityError
        Always.
    """
    raise _refused("load_library", library_path)


def load_directory(plugin_dir_path: str, global_symbols: bool = False) -> NoReturn:
    """Refuse to load the libraries of operators in a folder.

    Raises
    ------
    CompatibilityError
        Always.
    """
    raise _refused("load_directory", plugin_dir_path)


def _refused(function: str, path: str) -> CompatibilityError:
    return CompatibilityError(
        f"plugin_manager.{function}: operators must be those of dali_core (got {path!r}, compiled "
        "for NVIDIA DALI). Write the operator as fn.python_function, or add it to this library, as "
        "its documentation describes."
    )
