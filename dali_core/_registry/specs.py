"""All operators there are: every module below `dali_core.operators` that has a `SPEC`.

A program uses few of them, so a description is imported when it is looked up. Some operators have
former names as well. Those of other packages are found when they are asked for.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dali_core import operators
from dali_core._registry.packages import Packages
from dali_core._spec import OpSpec
from dali_core.errors import OperatorPackageError
from dali_core.operators.former_names import FORMER_DEFAULTS, FORMER_NAMES
from dali_core.operators.internal_operators import (
    FORMER_IDENTITIES,
    INTERNAL_GROUPS,
    OPERATORS_OF_ROLES,
)

_found: dict[str, OpSpec] = {}


@cache
def _own_paths() -> frozenset[str]:
    """Return the paths of the folders below `dali_core.operators`: of operators and of groups."""
    return frozenset(path for folder in operators.__path__ for path in _packages_in(folder, ""))


@cache
def public_paths() -> tuple[str, ...]:
    """Return the names that `fn` may have, without importing any operator.

    Some are groups of others, and some are of operators that only have a role.
    """
    return tuple(
        path
        for path in sorted({*_own_paths(), *FORMER_NAMES})
        if path.partition(".")[0] not in INTERNAL_GROUPS
    )


def find_own(name: str) -> OpSpec | None:
    """Import the description of an operator of this library.

    Parameters
    ----------
    name : str
        The path of its folder, or a former name of it.

    Returns
    -------
    OpSpec, optional
        The same for all calls; None if there is none.

    Raises
    ------
    RuntimeError
        If the operator's name differs from its folder.
    """
    if name not in _found:
        spec = _formerly(name) if name in FORMER_NAMES else _imported(name)
        if spec is None:
            return None
        # Of threads that come at the same time, all get the first one's.
        return _found.setdefault(name, spec)
    return _found[name]


def spec_of_role(role: str) -> OpSpec:
    """Import the description of the operator that expressions use for something."""
    return _own(OPERATORS_OF_ROLES[role])


def _own(name: str) -> OpSpec:
    spec = find_own(name)
    if spec is None:
        raise KeyError(name)
    return spec


def _imported(name: str) -> OpSpec | None:
    if name not in _own_paths():
        return None
    module = importlib.import_module(f"{operators.__name__}.{name}")
    spec: OpSpec | None = getattr(module, "SPEC", None)
    if spec is not None and spec.name != name:
        raise RuntimeError(
            f"{module.__name__}: SPEC.name must be {name!r}, the path of its folder "
            f"(got {spec.name!r}). Rename one of them."
        )
    return spec


def _formerly(name: str) -> OpSpec:
    return _own(FORMER_NAMES[name]).formerly(name, **FORMER_DEFAULTS.get(name, {}))


@cache
def all_specs() -> dict[str, OpSpec]:
    """Return the descriptions of all operators that `fn` has.

    Returns
    -------
    dict of str to OpSpec
        By name, sorted.
    """
    return {name: spec for name, spec in known_specs().items() if not spec.is_internal}


@cache
def known_specs() -> dict[str, OpSpec]:
    """Import the descriptions of all operators, with those that only expressions use."""
    found = ((name, find_own(name)) for name in sorted({*_own_paths(), *FORMER_NAMES}))
    return {name: spec for name, spec in found if spec is not None}


def identity(spec: OpSpec) -> str:
    """Return the name by which documents refer to an operator; see `specs_by_identity`."""
    called_so = packages().specs.get(spec.name) or find_own(spec.name)
    return spec.name if called_so is None or called_so is spec else spec.native.name


@cache
def specs_by_identity() -> dict[str, OpSpec]:
    """Find all descriptions that a graph may have nodes of.

    Returns
    -------
    dict of str to OpSpec
        Operators by their names; those that are only used by other operators by the name of their
        native code.
    """
    used = {name: spec for path in _own_paths() for name, spec in _used_by(path).items()}
    return {**used, **known_specs()}


def _used_by(path: str) -> dict[str, OpSpec]:
    """Return descriptions that an operator has for its own use, by their identities."""
    others = vars(importlib.import_module(f"{operators.__name__}.{path}")).items()
    return {
        identity(value): value
        for name, value in others
        if name != "SPEC" and isinstance(value, OpSpec)
    }


def _find_by_identity(identity: str) -> OpSpec | None:
    identity = FORMER_IDENTITIES.get(identity, identity)
    found = find_own(identity)
    if found is None and (path := identity.rpartition(".")[0]) in _own_paths():
        # What an operator has for its own use is called after it.
        found = _used_by(path).get(identity)
    return found


@cache
def packages() -> Packages:
    """Return the operators of other packages."""
    return Packages(lambda name: _find_by_identity(name) is not None)


def find_spec(identity: str) -> OpSpec | None:
    """Find the operator that a document refers to, also among those of installed packages.

    Raises
    ------
    OperatorPackageError
        If it is not in this library, and a package cannot be loaded that may have it.
    """
    found = _find_by_identity(identity) or packages().specs.get(identity)
    if found is None:
        try:
            packages().load_installed()
        except OperatorPackageError:
            # The others are there nevertheless.
            if identity not in packages().specs:
                raise
    return found or packages().specs.get(identity)


def _packages_in(folder: str, prefix: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    for name in names:
        below = Path(folder, name)
        if (below / "__init__.py").is_file():
            yield prefix + name
            yield from _packages_in(str(below), f"{prefix}{name}.")
