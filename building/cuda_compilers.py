"""The compilers of device code, which are packages: NVRTC makes PTX, and ptxas cubins of it.

NVRTC makes cubins, too, with the same instructions, but compiles the source again for each of them,
which takes longer than the rest. nvJitLink assembles kernels as parts of a larger program, and uses
more registers.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

VERSION = "12.9"
NVRTC = "nvidia-cuda-nvrtc-cu12"
PTXAS = "nvidia-cuda-nvcc-cu12"
_FILES = {NVRTC: ("nvidia.cuda_nvrtc", "lib"), PTXAS: ("nvidia.cuda_nvcc", "bin/ptxas")}


class CubinError(Exception):
    """Device code cannot be compiled."""


@dataclass(frozen=True)
class Compilers:
    """The folder of NVRTC's libraries, and the program ptxas."""

    nvrtc: Path
    ptxas: Path

    def compile(self, name: str, text: bytes, options: list[str]) -> bytes:
        """Compile a source to PTX. Warnings are errors."""
        # It would not find the first one.
        for file in ("libnvrtc-builtins.so.12.9", "libnvrtc.so.12"):
            library = ctypes.CDLL(str(self.nvrtc / file), mode=ctypes.RTLD_GLOBAL)
        library.nvrtcGetErrorString.restype = ctypes.c_char_p

        def call(function: str, *arguments: object) -> None:
            status = getattr(library, function)(*arguments)
            if status != 0:
                reason = library.nvrtcGetErrorString(status).decode()
                raise CubinError(f"{name}: {function} says {reason}.")

        def read(what: str) -> bytes:
            size = ctypes.c_size_t()
            call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
            content = ctypes.create_string_buffer(size.value)
            call(f"nvrtcGet{what}", program, content)
            return content.raw.rstrip(b"\0")

        encoded = [option.encode() for option in options]
        arguments = (ctypes.c_char_p * len(encoded))(*encoded)
        program = ctypes.c_void_p()
        call("nvrtcCreateProgram", ctypes.byref(program), text, name.encode(), 0, None, None)
        try:
            status = library.nvrtcCompileProgram(program, len(encoded), arguments)
            log = read("ProgramLog").decode(errors="replace").strip()
            if status != 0 or log:
                reason = library.nvrtcGetErrorString(status).decode()
                raise CubinError(f"{name}: {reason}\n{log}")
            return read("PTX")
        finally:
            library.nvrtcDestroyProgram(ctypes.byref(program))

    def assemble(self, ptx: Path, architecture: int, cubin: Path) -> None:
        """Make the cubin of PTX for one architecture. Warnings are errors."""
        command = [str(self.ptxas), f"-arch=sm_{architecture}", str(ptx), "-o", str(cubin)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = (done.stdout + done.stderr).strip()
        if done.returncode != 0 or log:
            raise CubinError(f"{ptx.name} for sm_{architecture}: ptxas says\n{log}")


def find_compilers() -> Compilers | None:
    """Find the installed compilers; None if the library is to be without device code.

    ``DALI_CORE_WITH_CUDA=0`` asks for that, ``=1`` makes the lack of one an error.
    """
    wanted = os.environ.get("DALI_CORE_WITH_CUDA", "")
    if wanted == "0":
        return None
    found = []
    for package, (module, file) in _FILES.items():
        try:
            version = importlib.metadata.version(package)
            (folder,) = importlib.util.find_spec(module).submodule_search_locations  # type: ignore[union-attr,misc]
        except ModuleNotFoundError:
            version = "none"
        if not version.startswith(f"{VERSION}."):
            lack = f"device code needs the package {package} {VERSION}.* (installed: {version})."
            if wanted == "1":
                raise CubinError(
                    f"DALI_CORE_WITH_CUDA=1: {lack} Install it, or leave the variable out to do "
                    "without."
                )
            print(f"Building without CUDA: {lack}")
            return None
        found.append(Path(folder, file))
    return Compilers(*found)
