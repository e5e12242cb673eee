"""Finders for `nvidia.dali` and for what is below it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from dali_core._runtime.workers.first_steps import forget_first, run_first
from dali_core.compat._names import add_names
from dali_core.compat._places import ELSEWHERE
from dali_core.errors import CompatibilityError, MissingModuleError

_REFERENCE = "nvidia.dali"
_OURS = "dali_core"
_TOP = "dali_core.compat.dali"
_NAMESPACE = "nvidia"

# Public here, and no part of the reference's interface.
_OWN = {"adapters", "compat", "errors", "operator_packages", "readers", "scaffold", "testing"}


def install() -> None:
    """Have `import nvidia.dali`, and what is below it, give the modules of this library.

    Below the first they are the very same modules, and so are classes and functions: it does not
    matter by which name a program knows them. `nvidia.dali.__version__` is that of NVIDIA DALI.
    Nothing is imported before the program asks for it. Calling it again does nothing.

    Raises
    ------
    CompatibilityError
        If NVIDIA DALI was imported already.
    """
    if any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        return
    imported = sys.modules.get(_REFERENCE)
    if imported is not None:
        raise CompatibilityError(
            "dali_core.compat.install: must be called before NVIDIA DALI is imported (it was, from "
            f"{getattr(imported, '__file__', None)}). Call it first, or start the program with "
            "python -m dali_core.compat."
        )
    sys.meta_path.insert(0, _AliasFinder())
    run_first(install)
    # Other packages of this namespace, such as those of CUDA, come first.
    sys.meta_path.append(_NamespaceFinder())


def uninstall() -> None:
    """Have `import nvidia.dali` give NVIDIA DALI again. What was imported stays as it is."""
    for finder in [*sys.meta_path]:
        if isinstance(finder, (_AliasFinder, _NamespaceFinder)):
            sys.meta_path.remove(finder)
        if isinstance(finder, _AliasFinder):
            forget_first(install)
    for name, module in [*sys.modules.items()]:
        is_alias = name == _REFERENCE or name.startswith(f"{_REFERENCE}.")
        if is_alias and getattr(module.__spec__, "name", _OURS).partition(".")[0] == _OURS:
            del sys.modules[name]
    top = sys.modules.get(_TOP)
    namespace = sys.modules.get(_NAMESPACE)
    if namespace is None:
        return
    if top is not None and getattr(namespace, "dali", None) is top:
        del namespace.dali
    if isinstance(getattr(namespace.__spec__, "loader", None), _NamespaceLoader):
        del sys.modules[_NAMESPACE]


class _AliasFinder(MetaPathFinder):
    """Finds `nvidia.dali` and what is below it."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Describe the module, if it is one of these."""
        if fullname == _REFERENCE:
            return ModuleSpec(fullname, _AliasLoader(_TOP), is_package=True)
        if not fullname.startswith(f"{_REFERENCE}."):
            return None
        below = fullname.removeprefix(f"{_REFERENCE}.")
        ours = ELSEWHERE.get(below, f"{_OURS}.{below}")
        is_private = any(part.startswith("_") for part in below.split("."))
        if below.split(".")[0] in _OWN or (is_private and below not in ELSEWHERE):
            raise _missing(fullname)
        return ModuleSpec(fullname, _AliasLoader(ours), is_package=True)


class _AliasLoader(Loader):
    """Loads a module of this library under another name."""

    def __init__(self, ours: str) -> None:
        self._ours = ours

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make a module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the real module in the place of the new one."""
        try:
            ours = importlib.import_module(self._ours)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{self._ours}.".startswith(f"{error.name}."):
                raise
            raise _missing(module.__name__) from None
        name = module.__name__
        sys.modules[name] = ours
        add_names(ours)
        # Modules without files, such as those of operators, are found here only.
        if hasattr(ours, "__path__") or self._ours == _TOP:
            return
        for existing, inner in [*sys.modules.items()]:
            if existing.startswith(f"{self._ours}."):
                sys.modules[name + existing.removeprefix(self._ours)] = inner


class _NamespaceFinder(MetaPathFinder):
    """Finds `nvidia` where nothing else of that name is installed."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Describe an empty package."""
        if fullname != _NAMESPACE:
            return None
        return ModuleSpec(fullname, _NamespaceLoader(), is_package=True)


class _NamespaceLoader(Loader):
    """Makes an empty package."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


def _missing(name: str) -> MissingModuleError:
    return MissingModuleError(
        f"{name}: dali_core must have a module of this name (it has none). Its documentation says "
        "what it has of NVIDIA DALI.",
        name=name,
    )
