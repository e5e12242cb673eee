"""Builds the native modules. Everything static is in pyproject.toml; the rest is in `building/`."""

from __future__ import annotations

import platform
import sys

from setuptools import Extension, setup

# On a full disk, Python would keep a part of a compiled file, and fail at it ever after.
sys.dont_write_bytecode = True

from building import toolchain  # noqa: E402
from building.command import BuildWithNinja  # noqa: E402
from building.extensions import find_codecs, find_modules  # noqa: E402

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
