"""Stubs of the operators of another package, for a module of that package.

Type checkers see the functions of `fn` in stubs of this library, to which other packages can add
nothing. So a package has a module ``fn`` with its own functions, and a stub for it.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from dali_core._readers.python_reader import Format, python_reader
from dali_core._registry.packages import OperatorPackage
from dali_core._stubs.operators import function_stubs
from dali_core.errors import ArgumentValueError


def package_stubs(name: str) -> dict[Path, str]:
    """Write the stub ``fn.pyi`` of a package.

    Parameters
    ----------
    name : str
        Name of a module that can be imported and has an `OperatorPackage`, or formats of its own.

    Returns
    -------
    dict of Path to str
        Content of the file.

    Raises
    ------
    ArgumentValueError
        If it has none.
    """
    module = importlib.import_module(name)
    found = [value for value in vars(module).values() if isinstance(value, OperatorPackage)]
    found += [OperatorPackage(python_reader(form())[1:]) for form in _formats(module)]
    if not found or module.__file__ is None:
        raise ArgumentValueError(
            "_stubs: --package must be a module with an OperatorPackage or a Format (got "
            f"{name!r}, which has none). Name the module of the entry point."
        )
    specs = [
        replace(spec, name=spec.name.rpartition(".")[2])
        for package in found
        for spec in package.specs
    ]
    return {Path(module.__file__).with_name("fn.pyi"): function_stubs(specs)[""]}


def _formats(module: ModuleType) -> list[type[Format]]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Format)
        and value.__module__ == module.__name__
    ]
