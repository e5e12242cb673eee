"""Builds the native modules. Everything static is in pyproject.toml; the rest is in `building/`."""

from __future__ import annotations

import platform

from setuptools import Extension, setup

from building import toolchain
from building.command import BuildWithNinja
from building.extensions import find_codecs, find_modules

if platform.python_implementation() != "CPython":
    raise SystemExit("dali_core needs CPython.")

setup(
    ext_modules=[
        Extension(module.name, [str(module.cython)])
        for module in find_modules(
            with_cuda=toolchain.cuda_headers() is not None, codecs=find_codecs()
        )
    ],
    cmdclass={"build_ext": BuildWithNinja},
)
