"""All operators there are: every module below `dali_core.operators` that has a `SPEC`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from dali_core import operators
from dali_core._spec import OpSpec


@cache
def all_specs() -> dict[str, OpSpec]:
    """Import all operators' descriptions.

    Returns
    -------
    dict of str to OpSpec
        By name, sorted.

    Raises
    ------
    RuntimeError
        If an operator's name differs from its folder.
    """
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
    return specs


def identity(spec: OpSpec) -> str:
    """Give the name by which documents refer to an operator; see `specs_by_identity`."""
    is_public = specs_by_identity().get(spec.name) is spec
    return spec.name if is_public else spec.registered_name


@cache
def specs_by_identity() -> dict[str, OpSpec]:
    """Find all descriptions that a graph may have nodes of.

    Returns
    -------
    dict of str to OpSpec
        Operators by their names; those that are only used by other operators by the name of their
        native code.
    """
    specs: dict[str, OpSpec] = {}
    others: dict[str, OpSpec] = {}
    for path in sorted(_package_paths(list(operators.__path__), "")):
        module = importlib.import_module(f"{operators.__name__}.{path}")
        for name, value in vars(module).items():
            if name == "SPEC":
                specs[value.name] = value
            elif isinstance(value, OpSpec):
                others[value.registered_name] = value
    return {**others, **specs}


def _package_paths(folders: list[str], prefix: str) -> Iterator[str]:
    for module in pkgutil.iter_modules(folders):
        if module.ispkg:
            yield prefix + module.name
            below = [f"{folder}/{module.name}" for folder in folders]
            yield from _package_paths(below, f"{prefix}{module.name}.")
