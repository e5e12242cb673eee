"""Which compiled modules there are, and what each is made from; everything is found by pattern."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from building import toolchain

PACKAGE = Path("dali_core")
INCLUDE = PACKAGE / "include"
KERNELS = PACKAGE / "kernels"
RUNTIME = PACKAGE / "_runtime"
CUDA = PACKAGE / "_cuda"
DECODERS = (KERNELS / "image_decoding", KERNELS / "jpeg", PACKAGE / "operators" / "decoders")
CUBINS = CUDA / "cubins"
VIDEO_WORKER = PACKAGE / "operators" / "video" / "native_worker"
VIDEO_PROGRAM = VIDEO_WORKER / "dali_core_video_worker"
# Folders of headers that everything is compiled with.
INCLUDES = (INCLUDE, RUNTIME / "engine", Path())

# Packages whose headers are used.
NVIMGCODEC = "nvidia-nvimgcodec-cu12"
CUDA_RUNTIME = "nvidia-cuda-runtime-cu12"
CUDA_PROFILER = "nvidia-cuda-profiler-api-cu12"


@dataclass(frozen=True)
class Module:
    """A compiled module of Python: one Cython source, and C++ that is linked with it."""

    name: str
    cython: Path
    native: tuple[Path, ...] = ()
    libraries: tuple[str, ...] = ()
    uses_cuda: bool = False  # whether it is compiled with the headers of CUDA


@dataclass(frozen=True)
class Codecs:
    """What the decoders are compiled with, beside what everything is."""

    flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    headers: dict[str, Path] = field(default_factory=dict)  # folders of headers, by package


def find_codecs() -> Codecs:
    """Find the codecs' headers and libraries."""
    flags, libraries = toolchain.libjpeg()
    headers = toolchain.nvimgcodec_headers()
    if headers is None:
        return Codecs(tuple(flags), tuple(libraries))
    # Its headers name a few types of CUDA, which is not needed: a header of ours declares them.
    flags += ["-DDALI_CORE_HAVE_NVIMGCODEC=1", f"-I{DECODERS[0] / 'nvimgcodec_shim'}"]
    return Codecs(tuple(flags), tuple(libraries), {NVIMGCODEC: headers})


def vocabulary_sources() -> list[Path]:
    """List what defines the shared C++ types; every module links what it uses of them."""
    return sorted(INCLUDE.glob("**/*.cpp"))


def native_sources() -> list[Path]:
    """List the C++ of kernels, of the engine and of all operators."""
    folders = (KERNELS, RUNTIME / "engine", RUNTIME / "fusion", PACKAGE / "operators")
    sources = (source for folder in folders for source in folder.glob("**/*.cpp"))
    return sorted(source for source in sources if source.parent != VIDEO_WORKER)


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
            modules.append(Module(name, source, tuple(native_sources()), libraries=libraries))
        else:
            modules.append(Module(name, source))
    if with_cuda:
        for source in sorted(CUDA.glob("*.pyx")):
            name = f"dali_core._cuda.{source.stem}"
            modules.append(Module(name, source, uses_cuda=True))
    return modules
