"""Builds the native modules: Cython over the engine and the operators' C++.

Everything static is in pyproject.toml. What is found here, by pattern: one Cython module for each
``_runtime/*.pyx``, with the engine and all operators linked into the executor; and, where CUDA's
packages are installed, one for each ``_cuda/*.pyx``. ``build_cubins.py``
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
CUDA = PACKAGE / "_cuda"


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
    include = _include_folder("nvidia.nvimgcodec")
    if include is None:
        return [], []
    shim = CODECS / "nvimgcodec_shim"
    return [include, str(shim)], [("DALI_CORE_HAVE_NVIMGCODEC", "1")]


def _include_folder(package: str) -> str | None:
    """Folder with the headers of one of NVIDIA's packages, if that is installed."""
    try:
        found = importlib.util.find_spec(package) if sys.platform == "linux" else None
    except ModuleNotFoundError:
        return None
    places = list(found.submodule_search_locations or ()) if found else []
    folders = [Path(place, "include") for place in places]
    return next((str(folder) for folder in folders if folder.is_dir()), None)


def _cuda() -> list[str] | None:
    """Include folders to build for GPUs, or None if that is not possible or not wanted.

    ``DALI_CORE_WITH_CUDA=0`` builds without, ``=1`` insists on it. Only headers are needed.
    """
    wanted = os.environ.get("DALI_CORE_WITH_CUDA", "")
    if wanted == "0":
        return None
    is_supported = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    bindings = _is_installed("cuda.bindings.cydriver")
    headers = [_include_folder(f"nvidia.{part}") for part in ("cuda_runtime", "cuda_profiler_api")]
    if is_supported and bindings and None not in headers:
        return [folder for folder in headers if folder]
    if wanted == "1":
        raise SystemExit(
            "setup.py: DALI_CORE_WITH_CUDA=1 needs Linux on x86_64 or aarch64, and the packages "
            "cuda-bindings, nvidia-cuda-runtime-cu12 and nvidia-cuda-profiler-api-cu12 of version "
            "12.9 (not all found). Install them, or leave the variable out to do without."
        )
    return None


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


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
    headers = _cuda()
    for module in sorted(CUDA.glob("*.pyx")) if headers is not None else ():
        folders = (PACKAGE / "include", RUNTIME / "engine", CUDA, *headers)
        extensions.append(
            Extension(
                f"dali_core._cuda.{module.stem}",
                [str(module)],
                language="c++",
                include_dirs=[*(str(folder) for folder in folders), "."],
                extra_compile_args=_flags(),
                extra_link_args=_link_flags(),
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
        # What an earlier build with CUDA has left would be packed as well.
        built = {self.get_ext_filename(extension.name) for extension in self.extensions}
        for module in Path(self.build_lib).glob("dali_core/_cuda/*.so"):
            if str(module.relative_to(self.build_lib)) not in built:
                module.unlink()
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
