"""Compiled modules and their sources, which are found by pattern."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path

from building import toolchain

PACKAGE = Path("dali_core")
INCLUDE = PACKAGE / "include"
KERNELS = PACKAGE / "kernels"
NATIVE_IO = PACKAGE / "native_io"
RUNTIME = PACKAGE / "_runtime"
CUDA = PACKAGE / "_cuda"
OPERATORS = PACKAGE / "operators"
# Folders that are compiled with the headers of libjpeg-turbo, and with those of nvImageCodec.
WITH_LIBJPEG = (NATIVE_IO / "libjpeg",)
WITH_NVIMGCODEC = (NATIVE_IO / "image_decoding", OPERATORS / "decoders")
CUBINS = CUDA / "cubins"
VIDEO_WORKER = OPERATORS / "video" / "native_worker"
VIDEO_PROGRAM = VIDEO_WORKER / "dali_core_video_worker"
# Folders of headers that everything is compiled with.
INCLUDES = (INCLUDE, RUNTIME / "engine", Path())

# So many that a changed operator is compiled in seconds.
NUM_OPERATOR_UNITS = 27

# Packages whose headers are used.
NVIMGCODEC = "nvidia-nvimgcodec-cu12"
CUDA_RUNTIME = "nvidia-cuda-runtime-cu12"
CUDA_PROFILER = "nvidia-cuda-profiler-api-cu12"


@dataclass(frozen=True)
class Unit:
    """C++ that is compiled at once: most of the time goes into what sources have in common."""

    name: str
    sources: tuple[Path, ...]


@dataclass(frozen=True)
class Module:
    """A compiled module of Python: one Cython source, and C++ that is linked with it."""

    name: str
    cython: Path
    native: tuple[Unit, ...] = ()
    libraries: tuple[str, ...] = ()
    uses_cuda: bool = False  # whether it is compiled with the headers of CUDA


@dataclass(frozen=True)
class Codecs:
    """Compiler flags, libraries and headers of the decoders, besides those of all sources."""

    flags: dict[Path, tuple[str, ...]]  # of the sources in a folder
    libraries: tuple[str, ...] = ()
    headers: dict[str, Path] = field(default_factory=dict)  # folders of headers, by package

    def flags_of(self, source: Path) -> list[str] | None:
        """Return further flags of a source, or None for one that has nothing to do with codecs."""
        for folder, flags in self.flags.items():
            if source.is_relative_to(folder):
                return list(flags)
        return None


def find_codecs() -> Codecs:
    """Find the codecs' headers and libraries."""
    libjpeg, libraries = toolchain.libjpeg()
    flags = dict.fromkeys(WITH_LIBJPEG, tuple(libjpeg))
    flags |= dict.fromkeys(WITH_NVIMGCODEC, ())
    headers = toolchain.nvimgcodec_headers()
    if headers is None:
        return Codecs(flags, tuple(libraries))
    # Its headers name a few types of CUDA, which is not needed: a header of ours declares them.
    shim = WITH_NVIMGCODEC[0] / "nvimgcodec_shim"
    nvimgcodec = ("-DDALI_CORE_HAVE_NVIMGCODEC=1", f"-I{shim}")
    flags |= dict.fromkeys(WITH_NVIMGCODEC, nvimgcodec)
    return Codecs(flags, tuple(libraries), {NVIMGCODEC: headers})


def vocabulary_sources() -> list[Path]:
    """List what defines the shared C++ types; every module links what it uses of them."""
    return sorted(INCLUDE.glob("**/*.cpp"))


def native_units() -> list[Unit]:
    """List the C++ of kernels, of the engine and of all operators, as it is compiled."""
    units: dict[str, list[Path]] = {}
    for folder in (KERNELS, NATIVE_IO, RUNTIME / "engine", RUNTIME / "fusion", OPERATORS):
        for source in sorted(folder.glob("**/*.cpp")):
            if source.parent != VIDEO_WORKER:
                units.setdefault(_unit_of(source), []).append(source)
    return [Unit(name, tuple(sources)) for name, sources in units.items()]


def _unit_of(source: Path) -> str:
    """Name what a source is compiled with: kernels take long by themselves, and remain alone."""
    for folder in (*WITH_NVIMGCODEC, RUNTIME / "engine", RUNTIME / "fusion"):
        if source.is_relative_to(folder):
            return folder.as_posix()
    if source.is_relative_to(OPERATORS):
        # One more operator leaves the others where they are.
        return f"{OPERATORS}_{zlib.crc32(source.as_posix().encode()) % NUM_OPERATOR_UNITS}"
    return source.with_suffix("").as_posix()


def video_worker_sources() -> list[Path]:
    """List the C++ of the program that decodes videos."""
    return sorted(VIDEO_WORKER.glob("*.cpp"))


def find_modules(*, with_cuda: bool, codecs: Codecs) -> list[Module]:
    """List all modules. The engine and all operators are linked into the executor."""
    modules = []
    for source in sorted(RUNTIME.glob("*.pyx")):
        name = f"dali_core._runtime.{source.stem}"
        if source.stem == "executor":
            libraries = (*codecs.libraries, "-ldl", "-lpthread")
            modules.append(Module(name, source, tuple(native_units()), libraries=libraries))
        else:
            modules.append(Module(name, source))
    if with_cuda:
        for source in sorted(CUDA.glob("*.pyx")):
            name = f"dali_core._cuda.{source.stem}"
            modules.append(Module(name, source, uses_cuda=True))
    return modules
