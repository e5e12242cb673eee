"""Compilation of other packages' operators: headers and arguments of the compiler."""

from __future__ import annotations

import re
from pathlib import Path

from dali_core._runtime.native_code import operator_abi

_PACKAGE = Path(__file__).parent


def get_include_dir() -> str:
    """Return the folder of the headers, ``dali_core/operator_library.hpp`` among them."""
    return str(_PACKAGE / "include")


get_include = get_include_dir


def get_lib_dir() -> str:
    """Return the folder of the package; libraries of operators link with nothing in it."""
    return str(_PACKAGE)


def get_include_flags() -> list[str]:
    """Return the compiler's arguments for the headers."""
    return [f"-I{get_include_dir()}"]


def get_compile_flags() -> list[str]:
    """Return the compiler's arguments: headers, language, and the library's own choices.

    Contraction of floating-point operations would make results depend on the processor.
    """
    chosen = re.search(r"_GLIBCXX_USE_CXX11_ABI=\d", operator_abi())
    flags = ["-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off"]
    return [*get_include_flags(), *flags, *([f"-D{chosen[0]}"] if chosen else [])]


def get_link_flags() -> list[str]:
    """Return the linker's arguments: none, since libraries of operators bring what they need."""
    return []
