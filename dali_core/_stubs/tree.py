"""The list of all stubs, by path."""

from __future__ import annotations

from pathlib import Path

from dali_core._registry.specs import all_specs
from dali_core._stubs.compiled import compiled_stub
from dali_core._stubs.factory import factory_stub
from dali_core._stubs.imperative import imperative_stubs
from dali_core._stubs.operators import class_stubs, function_stubs

# Folders with compiled modules.
COMPILED = ("_cuda", "_runtime")


def all_stubs(package: Path) -> dict[Path, str]:
    """Write all stubs.

    Parameters
    ----------
    package : Path
        Folder of the package, with its Cython sources.

    Returns
    -------
    dict of Path to str
        Content of each file.
    """
    specs = list(all_specs().values())
    compiled = [path for folder in COMPILED for path in sorted(package.glob(f"{folder}/*.pyx"))]
    stubs = {path: compiled_stub(path) for path in compiled}
    result = {path.with_suffix(".pyi"): text for path, text in stubs.items()}
    result[package / "pipeline" / "_factory.pyi"] = factory_stub()
    # A stub package takes precedence over the module beside it, and has a module for each group.
    for module, texts in (
        ("fn", function_stubs(specs)),
        ("ops", class_stubs(specs)),
        ("dynamic", imperative_stubs(specs, package)),
    ):
        for group, text in texts.items():
            is_package = not group or any(other.startswith(f"{group}.") for other in texts)
            path = package.joinpath(module, *filter(None, group.split(".")))
            result[path / "__init__.pyi" if is_package else path.with_suffix(".pyi")] = text
    return result
