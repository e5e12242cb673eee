"""Loads operators from shared libraries that no installed package registers.

Beside the library is a Python file of the same name with the descriptions of its operators: all
`OpSpec` objects in it. ``libdali_solarize.py`` describes those of ``libdali_solarize.so``. What
packages that pip installs do instead: see `dali_core.operator_packages`.
"""

from __future__ import annotations

import runpy
from pathlib import Path

from dali_core._registry.packages import OperatorPackage
from dali_core._registry.specs import packages
from dali_core._spec import OpSpec
from dali_core.errors import OperatorPackageError


def load_library(library_path: str, global_symbols: bool = False) -> None:
    """Add the operators of a shared library to `fn` and `ops`. Twice does no harm.

    Parameters
    ----------
    library_path : str
        The library, compiled with `dali_core.sysconfig.get_compile_flags`. It must be trusted: its
        code runs in this process, and so does that of the Python file beside it.
    global_symbols : bool
        Whether libraries that are loaded later may use its symbols.

    Raises
    ------
    OperatorPackageError
        If it cannot be loaded, or was compiled for another version of this library, another
        library or NVIDIA DALI; or if its operators have no descriptions.
    """
    where = f"plugin_manager.load_library({library_path!r})"
    path = Path(library_path)
    if not path.is_file():
        raise OperatorPackageError(
            f"{where}: library_path must be an existing file (got {library_path!r}). Build it."
        )
    description = path.with_suffix(".py")
    if not description.is_file():
        raise OperatorPackageError(
            f"{where}: a file with the descriptions of its operators must be beside the library "
            f"(there is no {description.name}). Write one; libraries for NVIDIA DALI cannot be "
            "used."
        )
    if packages().has(str(path.resolve())):
        return
    names = runpy.run_path(str(description), run_name=path.stem)
    specs = [value for value in names.values() if isinstance(value, OpSpec)]
    if not specs:
        raise OperatorPackageError(
            f"{where}: {description.name} must describe an operator (it has no OpSpec). Add one."
        )
    packages().add(str(path.resolve()), OperatorPackage(specs, path), share_symbols=global_symbols)


def load_directory(plugin_dir_path: str, global_symbols: bool = False) -> None:
    """Load all libraries called ``libdali_*.so`` in a folder and below it, in their order.

    Parameters
    ----------
    plugin_dir_path : str
        The folder.
    global_symbols : bool
        As in `load_library`.

    Raises
    ------
    OperatorPackageError
        If there is no such folder, or a library cannot be loaded.
    """
    folder = Path(plugin_dir_path)
    if not folder.is_dir():
        raise OperatorPackageError(
            "plugin_manager.load_directory: plugin_dir_path must be a folder (got "
            f"{plugin_dir_path!r}). Pass the folder of the libraries."
        )
    for path in sorted(folder.rglob("libdali_*.so")):
        load_library(str(path), global_symbols)
