"""How to compile operators for NVIDIA DALI, which this library cannot load."""

from __future__ import annotations

from typing import NoReturn

from dali_core.errors import CompatibilityError


def get_include_dir() -> NoReturn:
    """Refuse to name the folder of NVIDIA DALI's headers."""
    raise _refused("get_include_dir")


def get_lib_dir() -> NoReturn:
    """Refuse to name the folder of NVIDIA DALI's libraries."""
    raise _refused("get_lib_dir")


def get_include_flags() -> NoReturn:
    """Refuse to give the compiler's arguments for headers."""
    raise _refused("get_include_flags")


def get_compile_flags() -> NoReturn:
    """Refuse to give the compiler's arguments."""
    raise _refused("get_compile_flags")


def get_link_flags() -> NoReturn:
    """Refuse to give the linker's arguments."""
    raise _refused("get_link_flags")


def _refused(function: str) -> CompatibilityError:
    return CompatibilityError(
        f"sysconfig.{function}: NVIDIA DALI's headers must be installed (dali_core has none of "
        "them). Write the operator as fn.python_function, or add it to this library, as its "
        "documentation describes."
    )
