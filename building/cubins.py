"""Compiles device code at build time, with NVRTC from the package index.

``python -m building.cubins SOURCE FOLDER`` compiles one ``.cu`` file: a cubin for each
architecture, and PTX for those to come. ``python -m building.cubins --list FOLDER`` writes the list
of kernels. Neither a toolkit, a driver nor a host compiler is needed.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

VERSION = "12.9"
# From Turing to Blackwell. A cubin also runs on later architectures of the same major number, so
# that of 80 serves 86, 87 and 89; PTX of the oldest serves all others.
ARCHITECTURES = (75, 80, 90, 100, 120)
PTX_ARCHITECTURE = 75
OPTIONS = (
    "--std=c++17",
    # As the host's -ffp-contract=off: both give the same bits.
    "--fmad=false",
    # Rules that host and device share have `constexpr` functions without a mark of their own.
    "--device-as-default-execution-space",
)
SOURCES = ("dali_core/kernels", "dali_core/operators", "dali_core/_cuda")
HEADERS = ("dali_core/include", ".", "dali_core/_cuda/nvrtc_headers")
KERNELS = "kernels.json"

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
_KERNEL = re.compile(r"^\.visible \.entry (\w+)", re.MULTILINE)


class CubinError(Exception):
    """Device code cannot be compiled."""


def find_sources(root: Path) -> list[Path]:
    """List the sources of modules. A module is known by the stem of its file alone."""
    sources = sorted(path for folder in SOURCES for path in (root / folder).rglob("*.cu"))
    stems: dict[str, Path] = {}
    for source in sources:
        other = stems.setdefault(source.stem, source)
        if other != source:
            raise CubinError(f"{source}: files of device code must differ in name (see {other}).")
    return sources


def find_headers(root: Path, source: Path) -> list[Path]:
    """List all headers that a source includes, directly or not. NVRTC does not tell them."""
    found: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        current = waiting.pop()
        for quote, name in _INCLUDE.findall(current.read_text(encoding="utf-8")):
            folders = [root / folder for folder in HEADERS]
            if quote == '"':
                folders.insert(0, current.parent)
            header = next((folder / name for folder in folders if (folder / name).is_file()), None)
            # What is not there, NVRTC has itself, or it says so.
            if header and header not in found:
                found[header] = None
                waiting.append(header)
    return sorted(found)


def outputs(stem: str) -> list[str]:
    """Name the files that a source is compiled to."""
    return [*(f"{stem}.sm_{number}.cubin" for number in ARCHITECTURES), f"{stem}.ptx"]


@dataclass(frozen=True)
class Nvrtc:
    """An installed NVRTC."""

    version: str
    folder: Path

    def load(self) -> ctypes.CDLL:
        """Load the library, and first the one that it would not find."""
        for name in ("libnvrtc-builtins.so.12.9", "libnvrtc.so.12"):
            library = ctypes.CDLL(str(self.folder / name), mode=ctypes.RTLD_GLOBAL)
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        return library


def find_nvrtc() -> Nvrtc | None:
    """Find NVRTC among the installed packages; None if the library is to be without device code.

    ``DALI_CORE_WITH_CUDA=0`` asks for that, ``=1`` makes the lack of NVRTC an error.
    """
    wanted = os.environ.get("DALI_CORE_WITH_CUDA", "")
    if wanted == "0":
        return None
    package = "nvidia-cuda-nvrtc-cu12"
    try:
        version = importlib.metadata.version(package)
        (folder,) = importlib.util.find_spec("nvidia.cuda_nvrtc").submodule_search_locations  # type: ignore[union-attr,misc]
    except ModuleNotFoundError:
        version = "none"
    if version.startswith(f"{VERSION}."):
        return Nvrtc(version, Path(folder, "lib"))
    lack = f"device code needs the package {package} {VERSION}.* (installed: {version})."
    if wanted == "1":
        raise CubinError(
            f"DALI_CORE_WITH_CUDA=1: {lack} Install it, or leave the variable out to do without."
        )
    print(f"Building without CUDA: {lack}")
    return None


def compile_module(root: Path, source: Path, nvrtc: Nvrtc, folder: Path) -> None:
    """Write the cubins and the PTX of one source into a folder."""
    for architecture in ARCHITECTURES:
        cubin = compile_cubin(root, source, nvrtc, architecture)
        (folder / f"{source.stem}.sm_{architecture}.cubin").write_bytes(cubin)
    name = str(source.relative_to(root))
    target = f"compute_{PTX_ARCHITECTURE}"
    ptx = _compile(nvrtc.load(), root, name, source.read_bytes(), target)
    (folder / f"{source.stem}.ptx").write_bytes(ptx.rstrip(b"\0"))


def compile_cubin(root: Path, source: Path, nvrtc: Nvrtc, architecture: int) -> bytes:
    """Compile one source for one architecture."""
    name = str(source.relative_to(root))
    return _compile(nvrtc.load(), root, name, source.read_bytes(), f"sm_{architecture}")


def _compile(library: ctypes.CDLL, root: Path, name: str, text: bytes, architecture: str) -> bytes:
    program = ctypes.c_void_p()
    options = [f"--gpu-architecture={architecture}", *OPTIONS]
    options += [f"--include-path={root / folder}" for folder in HEADERS]
    options += [f"--include-path={(root / name).parent}"]
    encoded = [option.encode() for option in options]

    def call(function: str, *arguments: object) -> None:
        status = getattr(library, function)(*arguments)
        if status != 0:
            reason = library.nvrtcGetErrorString(status).decode()
            raise CubinError(f"{name} for {architecture}: {function} says {reason}.")

    def read(what: str) -> bytes:
        size = ctypes.c_size_t()
        call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        content = ctypes.create_string_buffer(size.value)
        call(f"nvrtcGet{what}", program, content)
        return content.raw

    call("nvrtcCreateProgram", ctypes.byref(program), text, name.encode(), 0, None, None)
    try:
        arguments = (ctypes.c_char_p * len(encoded))(*encoded)
        status = library.nvrtcCompileProgram(program, len(encoded), arguments)
        log = read("ProgramLog").rstrip(b"\0").decode(errors="replace").strip()
        # Warnings are errors.
        if status != 0 or log:
            reason = library.nvrtcGetErrorString(status).decode()
            raise CubinError(f"{name} for {architecture}: {reason}\n{log}")
        return read("CUBIN" if architecture.startswith("sm_") else "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def list_kernels(folder: Path) -> dict[str, str]:
    """Return the stem of the module that has a kernel, by the kernel's name."""
    kernels: dict[str, str] = {}
    for file in sorted(folder.glob("*.ptx")):
        names = _KERNEL.findall(file.read_text(encoding="ascii"))
        if not names:
            raise CubinError(f'{file.stem}.cu: there must be a kernel, extern "C" __global__.')
        for name in names:
            if name.startswith("_Z"):
                raise CubinError(f'{file.stem}.cu: kernels must be extern "C" (got {name}).')
            other = kernels.setdefault(name, file.stem)
            if other != file.stem:
                raise CubinError(
                    f"{file.stem}.cu: {name} is the name of a kernel in {other}.cu, too."
                )
    return kernels


def main(arguments: list[str]) -> int:
    """Run from the command line; the current folder is the project's."""
    try:
        if arguments[0] == "--list":
            folder = Path(arguments[1])
            stems = {source.stem for source in find_sources(Path.cwd())}
            for table in folder.glob("*.ptx"):
                if table.stem not in stems:  # of a source that has another name now
                    table.unlink()
            text = json.dumps(list_kernels(folder), indent=1, sort_keys=True)
            (folder / KERNELS).write_text(f"{text}\n", encoding="utf-8")
            return 0
        root, source, folder = Path.cwd(), Path.cwd() / arguments[0], Path(arguments[1])
        nvrtc = find_nvrtc()
        if nvrtc is None:
            raise CubinError(f"{arguments[0]}: device code needs NVRTC.")
        compile_module(root, source, nvrtc, folder)
        made = " ".join(str(folder / name) for name in outputs(source.stem))
        read = " ".join(str(path.relative_to(root)) for path in find_headers(root, source))
        (folder / f"{source.stem}.d").write_text(f"{made}: {read}\n", encoding="utf-8")
    except CubinError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
