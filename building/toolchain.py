"""Toolchain detection: compiler, headers and libraries, or errors that say what to install."""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools.errors import CompileError

# Contraction would make results depend on the processor. errno and floating-point traps, which
# are unused here, would only forbid vectorisation.
_FLAGS = ("-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fPIC")
# Symbols are stripped in any case; leaving them out saves time.
_FLAGS += ("-g0", "-fvisibility=hidden", "-DNDEBUG", "-Wall", "-Wextra", "-Wno-unused-parameter")
# Some code is shared with device code, where loops are unrolled by pragmas.
_FLAGS += ("-Wno-unknown-pragmas",)
# Short loops that begin in the middle of a cache line take up to 1.4 times as long on some
# processors: without this, every change of a source is a lottery for all that comes after it.
ALIGN_LOOPS = "-falign-loops=64"


def compiler() -> list[str]:
    """Return the command of the C++ compiler: `CXX`, or the one that Python was built with."""
    default = sysconfig.get_config_var("CXX") or "g++"
    if not shutil.which(shlex.split(default)[0]):
        default = "g++"
    return shlex.split(os.environ.get("CXX", default))


def check_compiler() -> None:
    """Raise an error that says what to install, unless C++17 and Python's headers can be used."""
    command = compiler()
    if not command or not shutil.which(command[0]):
        raise CompileError(
            f"building dali_core needs a C++17 compiler (got {shlex.join(command)!r}, which is not "
            "there). Install one (Debian, Ubuntu: g++; Fedora: gcc-c++), or name it in CXX."
        )
    program = "#include <variant>\nstd::variant<int, float> value;\n"
    tried = _try_to_compile(program)
    if tried.returncode != 0:
        raise CompileError(
            "building dali_core needs a compiler that supports C++17 and has its standard library "
            f"(got {shlex.join(command)!r}, which says: {tried.stderr.strip()}). Install GCC 9 or "
            "Clang 10 or newer, or name one in CXX."
        )
    header = Path(python_include(), "Python.h")
    if not header.is_file():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise CompileError(
            f"building dali_core needs the headers of Python {version} (no {header}). Install them "
            f"(Debian, Ubuntu: python{version}-dev; Fedora: python{version}-devel)."
        )


def _try_to_compile(program: str) -> subprocess.CompletedProcess[str]:
    command = [*compiler(), "-std=c++17", "-x", "c++", "-fsyntax-only", "-"]
    return subprocess.run(command, input=program, capture_output=True, text=True, check=False)


@functools.cache
def is_gcc() -> bool:
    """Whether the compiler is GCC, whose precompiled headers the build uses."""
    program = "#if !defined(__GNUC__) || defined(__clang__)\n#error not GCC\n#endif\n"
    return _try_to_compile(program).returncode == 0


def python_include() -> str:
    """Return the folder of `Python.h`."""
    return sysconfig.get_path("include")


def compile_flags(level: str) -> list[str]:
    """Return the flags of every compilation; `level` is the optimisation unless CFLAGS has one."""
    given = shlex.split(os.environ.get("CFLAGS", "")) + shlex.split(os.environ.get("CXXFLAGS", ""))
    sanitizers = os.environ.get("DALI_CORE_SANITIZE")
    flags = [*_FLAGS]
    if sanitizers:
        flags += [f"-fsanitize={sanitizers}", "-g", "-O1", "-fno-omit-frame-pointer"]
    elif not any(flag.startswith("-O") for flag in given):
        flags.append(level)
    return [*flags, *given]


def cython_level() -> str:
    """Return how what Cython makes is optimised: ``DALI_CORE_OPTIMIZE_CYTHON=0`` saves time."""
    # It is called once a batch, not once an element.
    return "-O0" if os.environ.get("DALI_CORE_OPTIMIZE_CYTHON", "") == "0" else "-O1"


def link_flags() -> list[str]:
    """Return the flags of every linking."""
    sanitizers = os.environ.get("DALI_CORE_SANITIZE")
    strip = ["-Wl,-s"] if sys.platform.startswith("linux") else []
    flags = [f"-fsanitize={sanitizers}"] if sanitizers else strip
    return [*flags, *shlex.split(os.environ.get("LDFLAGS", ""))]


def libjpeg() -> tuple[list[str], list[str]]:
    """Return compiler and linker flags for libjpeg-turbo, both empty if it is not there.

    ``DALI_CORE_WITH_LIBJPEG=0`` builds without it, ``=1`` insists on it.
    """
    found = _query_pkg_config("DALI_CORE_WITH_LIBJPEG", ["libjpeg >= 1.5"])
    if found is not None:
        compiling, linking = found
        return [*compiling, "-DDALI_CORE_HAVE_LIBJPEG=1"], linking
    if os.environ.get("DALI_CORE_WITH_LIBJPEG", "") == "1":
        raise CompileError(
            "DALI_CORE_WITH_LIBJPEG=1 needs libjpeg-turbo's development files and pkg-config (not "
            "found). Install them (Debian, Ubuntu: libjpeg62-turbo-dev or libjpeg-turbo8-dev, and "
            "pkg-config), or leave the variable out to do without."
        )
    return [], []


def ffmpeg() -> tuple[list[str], list[str]] | None:
    """Return compiler and linker flags for FFmpeg's libraries, or None to build without them.

    ``DALI_CORE_WITH_FFMPEG=0`` builds without them, ``=1`` insists on them.
    """
    libraries = ["libavcodec >= 59.37", "libavformat >= 59.27", "libavutil >= 57.28"]  # of 5.1
    found = _query_pkg_config("DALI_CORE_WITH_FFMPEG", libraries)
    if found is not None:
        compiling, linking = found
        # Where the linker does not look by itself, neither does the loader.
        paths = [f"-Wl,-rpath,{flag[2:]}" for flag in linking if flag.startswith("-L")]
        return compiling, [*linking, *paths]
    if os.environ.get("DALI_CORE_WITH_FFMPEG", "") == "1":
        raise CompileError(
            "DALI_CORE_WITH_FFMPEG=1 needs the development files of FFmpeg 5.1 or newer and "
            "pkg-config (not found). Install them (Debian, Ubuntu: libavcodec-dev, "
            "libavformat-dev, libavutil-dev and pkg-config), or leave the variable out to do "
            "without."
        )
    return None


def _query_pkg_config(switch: str, packages: list[str]) -> tuple[list[str], list[str]] | None:
    """Return compiler and linker flags of packages that are all there, unless the switch is 0."""
    if os.environ.get(switch, "") == "0" or not shutil.which("pkg-config"):
        return None
    query = ["pkg-config", "--cflags", "--libs", *packages]
    found = subprocess.run(query, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        return None
    # A shell reads them again: folders are quoted, and what is in front of them stays.
    flags = [flag[:2] + shlex.quote(flag[2:]) for flag in shlex.split(found.stdout)]
    linking = [flag for flag in flags if flag.startswith(("-l", "-L"))]
    return [flag for flag in flags if flag not in linking], linking


def nvimgcodec_headers() -> Path | None:
    """Return the folder of nvImageCodec's headers, which come with its wheel, if it is there.

    The library itself is loaded at run time.
    """
    return _include_folder("nvidia.nvimgcodec")


def cuda_headers() -> list[Path] | None:
    """Return the folders of CUDA's headers, or None to build without CUDA.

    ``DALI_CORE_WITH_CUDA=0`` builds without, ``=1`` insists on it. Neither a driver nor a toolkit
    is needed.
    """
    wanted = os.environ.get("DALI_CORE_WITH_CUDA", "")
    if wanted == "0":
        return None
    is_supported = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    bindings = _find("cuda.bindings.cydriver") is not None
    headers = [_include_folder(f"nvidia.{part}") for part in ("cuda_runtime", "cuda_profiler_api")]
    found = [folder for folder in headers if folder]
    if is_supported and bindings and len(found) == len(headers):
        return found
    if wanted == "1":
        raise CompileError(
            "DALI_CORE_WITH_CUDA=1 needs Linux on x86_64 or aarch64, and the packages "
            "cuda-bindings, nvidia-cuda-runtime-cu12 and nvidia-cuda-profiler-api-cu12 of version "
            "12.9 (not all found). Install them, or leave the variable out to do without."
        )
    return None


def version_of(package: str) -> str:
    """Return the version of an installed package, or "none"."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _find(module: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None


def _include_folder(package: str) -> Path | None:
    found = _find(package) if sys.platform == "linux" else None
    places = list(found.submodule_search_locations or ()) if found else []
    return next((Path(at, "include") for at in places if Path(at, "include").is_dir()), None)
