"""All operators there are: every module below `dali_core.operators` that has a `SPEC`.

Some have former names as well. Those of other packages are found when they are asked for.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from dali_core import operators
from dali_core._graph.packages import Packages
from dali_core._spec import OpSpec
from dali_core.errors import OperatorPackageError
from dali_core.operators.former_names import FORMER_DEFAULTS, FORMER_NAMES


@cache
def all_specs() -> dict[str, OpSpec]:
    """Return the descriptions of all operators that `fn` has.

    Returns
    -------
    dict of str to OpSpec
        By name, sorted.

    Raises
    ------
    RuntimeError
        If an operator's name differs from its folder.
    """
    return {name: spec for name, spec in known_specs().items() if not spec.is_internal}


@cache
def known_specs() -> dict[str, OpSpec]:
    """Import the descriptions of all operators, with those that only expressions use."""
    specs = {}
    for path in sorted(_package_paths(list(operators.__path__), "")):
        module = importlib.import_module(f"{operators.__name__}.{path}")
        spec = getattr(module, "SPEC", None)
        if spec is None:
            continue
        if spec.name != path:
            raise RuntimeError(
                f"{module.__name__}: SPEC.name must be {path!r}, the path of its folder "
                f"(got {spec.name!r}). Rename one of them."
            )
        specs[path] = spec
    for former, name in FORMER_NAMES.items():
        specs[former] = specs[name].formerly(former, **FORMER_DEFAULTS.get(former, {}))
    return dict(sorted(specs.items()))


def identity(spec: OpSpec) -> str:
    """Return the name by which documents refer to an operator; see `specs_by_identity`."""
    is_public = packages().specs.get(spec.name, specs_by_identity().get(spec.name)) is spec
    return spec.name if is_public else spec.native.name


@cache
def specs_by_identity() -> dict[str, OpSpec]:
    """Find all descriptions that a graph may have nodes of.

    Returns
    -------
    dict of str to OpSpec
        Operators by their names; those that are only used by other operators by the name of their
        native code.
    """
    others: dict[str, OpSpec] = {}
    for path in sorted(_package_paths(list(operators.__path__), "")):
        module = importlib.import_module(f"{operators.__name__}.{path}")
        for name, value in vars(module).items():
            if name != "SPEC" and isinstance(value, OpSpec):
                others[value.native.name] = value
    return {**others, **known_specs()}


@cache
def packages() -> Packages:
    """Return the operators of other packages."""
    return Packages(set(specs_by_identity()))


def find_spec(identity: str) -> OpSpec | None:
    """Find the operator that a document refers to, also among those of installed packages.

    Raises
    ------
    OperatorPackageError
        If it is not in this library, and a package cannot be loaded that may have it.
    """
    found = specs_by_identity().get(identity) or packages().specs.get(identity)
    if found is None:
        try:
            packages().load_installed()
        except OperatorPackageError:
            # The others are there nevertheless.
            if identity not in packages().specs:
                raise
    return found or packages().specs.get(identity)


@cache
def spec_of_role(role: str) -> OpSpec:
    """Find the operator that expressions use for something."""
    (spec,) = (spec for spec in known_specs().values() if spec.role == role)
    return spec


def _package_paths(folders: list[str], prefix: str) -> Iterator[str]:
    for module in pkgutil.iter_modules(folders):
        if module.ispkg:
            yield prefix + module.name
            below = [f"{folder}/{module.name}" for folder in folders]
            yield from _package_paths(below, f"{prefix}{module.name}.")
