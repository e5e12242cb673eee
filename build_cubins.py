"""Compiles device code at build time, with NVRTC from the package index.

Each `.cu` file of the library is a module: one cubin for each architecture, and PTX for those to
come. No toolkit, driver or host compiler is needed. `setup.py` calls `build` when it has compiled
everything else; compiled modules stay in `build/cubins` until something that they were made from
changes.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

VERSION = "12.9"
# From Turing to Blackwell; PTX of the oldest serves all others.
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
PTX_ARCHITECTURE = 75
OPTIONS = (
    "--std=c++17",
    # As the host's -ffp-contract=off: both give the same bits.
    "--fmad=false",
    # Rules that host and device share have `constexpr` functions without a mark of their own.
    "--device-as-default-execution-space",
)
SOURCES = ("dali_core/operators", "dali_core/_cuda")
HEADERS = ("dali_core/include", ".", "dali_core/_cuda/nvrtc_headers")

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
_UNFINISHED = "unfinished-"
_KERNEL = re.compile(r"^\.visible \.entry (\w+)", re.MULTILINE)


class CubinError(Exception):
    """Device code cannot be compiled."""


def build(root: Path, target: Path) -> None:
    """Compile what has changed of the sources below `root`, and put all modules into `target`.

    Without NVRTC, or with `DALI_CORE_WITH_CUDA=0`, there are none. `DALI_CORE_WITH_CUDA=1` makes
    the lack of NVRTC an error.
    """
    nvrtc = find_nvrtc()
    modules: dict[Path, Path] = {}
    if nvrtc:
        cache = root / "build" / "cubins"
        cache.mkdir(parents=True, exist_ok=True)
        modules = {source: cache / digest(root, source, nvrtc) for source in find_sources(root)}
        _compile_missing(root, modules, nvrtc)
        _remove_others(cache, modules)
    _fill(target, modules)


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
            if header and (header := header.resolve()) not in found:
                found[header] = None
                waiting.append(header)
    return sorted(found)


def digest(root: Path, source: Path, nvrtc: Nvrtc) -> str:
    """Name a module by all that it is made from."""
    content = hashlib.sha256(
        repr((OPTIONS, ARCHITECTURES, PTX_ARCHITECTURE, nvrtc.version)).encode()
    )
    for path in (source, *find_headers(root, source)):
        content.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{source.stem}-{content.hexdigest()[:16]}"


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
    """Find NVRTC among the installed packages; None if the library is to be without device code."""
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
    library = nvrtc.load()
    name = str(source.relative_to(root))
    text = source.read_bytes()
    for architecture in ARCHITECTURES:
        cubin = _compile(library, root, name, text, f"sm_{architecture}")
        (folder / f"{source.stem}.sm_{architecture}.cubin").write_bytes(cubin)
    ptx = _compile(library, root, name, text, f"compute_{PTX_ARCHITECTURE}")
    (folder / f"{source.stem}.ptx").write_bytes(ptx.rstrip(b"\0"))


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


def _compile_missing(root: Path, modules: dict[Path, Path], nvrtc: Nvrtc) -> None:
    def compile_one(source: Path) -> None:
        module = modules[source]
        with tempfile.TemporaryDirectory(dir=module.parent, prefix=_UNFINISHED) as folder:
            finished = Path(folder, "finished")
            finished.mkdir()
            compile_module(root, source, nvrtc, finished)
            # Another build may have been quicker.
            if not module.is_dir():
                finished.rename(module)

    missing = [source for source, module in modules.items() if not module.is_dir()]
    with ThreadPoolExecutor(int(os.environ.get("MAX_JOBS", "0")) or os.cpu_count()) as pool:
        list(pool.map(compile_one, missing))


def _remove_others(cache: Path, modules: dict[Path, Path]) -> None:
    for folder in cache.iterdir():
        if folder not in modules.values() and not folder.name.startswith(_UNFINISHED):
            shutil.rmtree(folder)


def _fill(target: Path, modules: dict[Path, Path]) -> None:
    """Make a folder have the files of modules, and a list of kernels, but nothing else."""
    files = {
        file.name: file.read_bytes() for folder in modules.values() for file in folder.iterdir()
    }
    if modules:
        kernels = _list_kernels(files)
        files["kernels.json"] = f"{json.dumps(kernels, indent=1, sort_keys=True)}\n".encode()
        target.mkdir(parents=True, exist_ok=True)
    for file in list(target.iterdir()) if target.is_dir() else ():
        if file.name not in files:
            file.unlink()
        elif file.read_bytes() == files[file.name]:
            del files[file.name]
    for name, content in files.items():
        (target / name).write_bytes(content)


def _list_kernels(files: dict[str, bytes]) -> dict[str, str]:
    """Tell which module has a kernel, by the kernel's name."""
    kernels: dict[str, str] = {}
    for stem in (file.removesuffix(".ptx") for file in files if file.endswith(".ptx")):
        names = _KERNEL.findall(files[f"{stem}.ptx"].decode())
        if not names:
            raise CubinError(f'{stem}.cu: there must be a kernel, extern "C" __global__ void f().')
        for name in names:
            if name.startswith("_Z"):
                raise CubinError(f'{stem}.cu: kernels must be extern "C" (got {name}).')
            other = kernels.setdefault(name, stem)
            if other != stem:
                raise CubinError(f"{stem}.cu: {name} is the name of a kernel in {other}.cu, too.")
    return kernels
