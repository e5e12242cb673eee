"""Operators in packages of their own: how they are described, compiled and found.

A package describes its operators as this library does, compiles their C++ against the headers of
`dali_core.get_include`, and registers an object in the entry-point group ``dali_core.operators``::

    # pyproject.toml
    [project.entry-points."dali_core.operators"]
    my_ops = "my_ops:operators"

    # setup.py
    from dali_core.operator_packages import make_extension
    from setuptools import setup

    setup(ext_modules=[make_extension("my_ops.native", ["my_ops/native.cpp"])])

    # my_ops/__init__.py
    SOLARIZE = OpSpec(name="my.solarize", doc="Invert bright elements.", args=(...))
    operators = OperatorPackage([SOLARIZE], Path(__file__).with_name("native"))

Then `fn.my.solarize` and `ops.my.Solarize` are there wherever the package is installed.
``python -m dali_core.scaffold package my_ops my.solarize`` writes such a package, and
`dali_core.testing.OperatorSuite` tests it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dali_core import sysconfig
from dali_core._registry.packages import OperatorPackage as OperatorPackage
from dali_core._spec import REQUIRED as REQUIRED
from dali_core._spec import UNSET as UNSET
from dali_core._spec import Arg as Arg
from dali_core._spec import Native as Native
from dali_core._spec import OpSpec as OpSpec
from dali_core._spec import Range as Range

if TYPE_CHECKING:
    from setuptools import Extension

__all__ = [
    "REQUIRED",
    "UNSET",
    "Arg",
    "Native",
    "OpSpec",
    "OperatorPackage",
    "Range",
    "make_extension",
]


def make_extension(name: str, sources: Sequence[str], **options: Any) -> Extension:
    """Describe the shared library of a package to setuptools, for ``setup(ext_modules=[...])``.

    Parameters
    ----------
    name : str
        Where the library is put, such as ``"my_ops.native"``.
    sources : sequence of str
        Files in C++, one of which includes ``dali_core/operator_library.hpp``.
    **options : object
        More arguments of `setuptools.Extension`. Those of the compiler come after those that are
        needed.
    """
    from setuptools import Extension

    compile_arguments = [*sysconfig.get_compile_flags(), *options.pop("extra_compile_args", ())]
    return Extension(
        name, list(sources), language="c++", extra_compile_args=compile_arguments, **options
    )
