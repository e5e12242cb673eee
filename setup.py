"""Builds the native modules: Cython over the engine and the operators' C++.

Everything static is in pyproject.toml. What is found here, by pattern: one Cython module for each
``_runtime/*.pyx``; the engine and all operators are linked into the executor. ``build_cubins.py``
compiles device code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

ROOT = Path(__file__).parent.absolute()
# Isolated builds do not see the folder that they build.
sys.path.insert(0, str(ROOT))

import build_cubins  # noqa: E402

PACKAGE = Path("dali_core")
CODECS = PACKAGE / "operators" / "decoders"
RUNTIME = PACKAGE / "_runtime"


def _flags() -> list[str]:
    # Contraction would make results depend on the processor; the other two only forbid
    # vectorisation for the sake of errno and of traps that nobody looks at.
    flags = ["-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    if "-O" not in os.environ.get("CFLAGS", ""):
        flags += ["-O3"]
    # Symbols are stripped in any case; leaving them out saves time.
    flags += ["-g0", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter"]
    sanitizers = os.environ.get("DALI_CORE_SANITIZE")
    if sanitizers:
        flags += [f"-fsanitize={sanitizers}", "-g", "-O1", "-fno-omit-frame-pointer"]
    return flags


def _link_flags() -> list[str]:
    sanitizers = os.environ.get("DALI_CORE_SANITIZE")
    return (
        [f"-fsanitize={sanitizers}"]
        if sanitizers
        else ["-Wl,-s"] * sys.platform.startswith("linux")
    )


def _libjpeg() -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Compiler flags, linker flags and macros for libjpeg-turbo, all empty if it is not there.

    ``DALI_CORE_WITH_LIBJPEG=0`` builds without it, ``=1`` insists on it.
    """
    wanted = os.environ.get("DALI_CORE_WITH_LIBJPEG", "")
    absent: tuple[list[str], list[str], list[tuple[str, str]]] = ([], [], [])
    if wanted == "0":
        return absent
    if shutil.which("pkg-config"):
        query = ["pkg-config", "--cflags", "--libs", "libjpeg >= 1.5"]
        found = subprocess.run(query, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            flags = found.stdout.split()
            linker = [flag for flag in flags if flag.startswith(("-l", "-L"))]
            return (
                [flag for flag in flags if flag not in linker],
                linker,
                [("DALI_CORE_HAVE_LIBJPEG", "1")],
            )
    if wanted == "1":
        raise SystemExit(
            "setup.py: DALI_CORE_WITH_LIBJPEG=1 needs libjpeg-turbo's development files and "
            "pkg-config (not found). Install them, or leave the variable out to do without."
        )
    return absent


def _nvimgcodec() -> tuple[list[str], list[tuple[str, str]]]:
    """Include folders and macros for nvImageCodec, whose headers come with its wheel.

    The library itself is loaded at run time. The headers name a few types of CUDA, which is not
    needed to build: a small header of ours declares them.
    """
    found = importlib.util.find_spec("nvidia.nvimgcodec") if sys.platform == "linux" else None
    if found is None or not found.submodule_search_locations:
        return [], []
    include = Path(found.submodule_search_locations[0], "include")
    shim = CODECS / "nvimgcodec_shim"
    return [str(include), str(shim)], [("DALI_CORE_HAVE_NVIMGCODEC", "1")]


def _extensions() -> list[Extension]:
    jpeg_flags, jpeg_libraries, jpeg_macros = _libjpeg()
    codec_folders, codec_macros = _nvimgcodec()
    folders = (RUNTIME / "engine", RUNTIME / "fusion", PACKAGE / "operators")
    native = sorted(str(source) for folder in folders for source in folder.glob("**/*.cpp"))
    extensions = []
    for module in sorted(RUNTIME.glob("*.pyx")):
        is_executor = module.stem == "executor"
        extensions.append(
            Extension(
                f"dali_core._runtime.{module.stem}",
                [str(module), *(native if is_executor else [])],
                language="c++",
                include_dirs=[
                    str(PACKAGE / "include"),
                    str(RUNTIME / "engine"),
                    ".",
                    *(codec_folders if is_executor else []),
                ],
                define_macros=jpeg_macros + codec_macros if is_executor else [],
                extra_compile_args=_flags() + (jpeg_flags if is_executor else []),
                extra_link_args=_link_flags()
                + ([*jpeg_libraries, "-ldl", "-lpthread"] if is_executor else []),
            )
        )
    return extensions


class BuildIncremental(build_ext):
    """Compiles side by side what has changed.

    The compiler says which headers a source reads. What does not include Python's headers serves
    the builds for all versions of Python.
    """

    def run(self) -> None:
        """Compile device code, then all extensions."""
        folder = PACKAGE / "_cuda" / "cubins"
        try:
            build_cubins.build(ROOT, folder if self.inplace else Path(self.build_lib, folder))
        except build_cubins.CubinError as error:
            raise CompileError(str(error)) from error
        super().run()

    def build_extensions(self) -> None:
        """Compile and link all extensions."""
        # Which objects are current is found out for each of them; linking is quick.
        self.force = self.compiler.force = True
        compile_anyway = self.compiler.compile
        jobs = int(os.environ.get("MAX_JOBS", "0")) or os.cpu_count() or 1

        def compile_one(source, output_dir, macros, extra_postargs, **options):  # type: ignore[no-untyped-def]
            if not source.startswith("build"):
                if not source.startswith(str(CODECS)):
                    macros = []
                setting = repr((macros, extra_postargs, os.environ.get("CFLAGS")))
                digest = hashlib.sha256(setting.encode()).hexdigest()[:8]
                output_dir = str(Path("build", f"native-{sysconfig.get_platform()}-{digest}"))
            (target,) = self.compiler.object_filenames([source], output_dir=output_dir)
            headers = f"{target}.d"
            if not _is_current(target, headers):
                begin = time.time()
                postargs = [*extra_postargs, "-MMD", "-MF", headers]
                options |= {"output_dir": output_dir, "macros": macros, "extra_postargs": postargs}
                compile_anyway([source], **options)
                # What was written while the compiler was reading counts as newer.
                os.utime(target, (begin, begin))
            return target

        def compile_side_by_side(sources, depends=None, **options):  # type: ignore[no-untyped-def]
            with ThreadPoolExecutor(jobs) as pool:
                return list(pool.map(lambda source: compile_one(source, **options), sources))

        self.compiler.compile = compile_side_by_side
        super().build_extensions()


def _is_current(target: str, headers: str) -> bool:
    """Tell whether an object is newer than all that it was made from."""
    try:
        made = os.stat(target).st_mtime
        rule = Path(headers).read_text(encoding="utf-8")
        names = shlex.split(rule.replace("\\\n", " "))[1:]
        return all(os.stat(name).st_mtime < made for name in names)
    except FileNotFoundError:
        return False


if platform.python_implementation() != "CPython":
    raise SystemExit("dali_core needs CPython.")

setup(
    ext_modules=cythonize(
        _extensions(),
        build_dir="build/cython",
        compiler_directives={"language_level": 3, "embedsignature": True, "binding": True},
    ),
    cmdclass={"build_ext": BuildIncremental},
)
