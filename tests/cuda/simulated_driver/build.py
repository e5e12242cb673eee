"""Builds the simulated driver: ``python -m tests.cuda.simulated_driver.build [--sanitize]``.

Everything goes to ``build/simulated_driver`` (with AddressSanitizer to
``build/simulated_driver-asan``). The compiler reports the headers of a source, and only changed
sources are compiled again; a lock serializes processes.
"""

from __future__ import annotations

import argparse
import fcntl
import functools
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from building.toolchain import is_gcc
from tests.cuda.simulated_driver.kernel_source import find_kernels, for_host

HERE = Path(__file__).resolve().parent
DEVICE = "device.hpp"
ROOT = HERE.parents[2]
KERNELS = tuple(ROOT / "dali_core" / room for room in ("kernels", "operators", "_cuda"))
TEST_KERNELS = HERE.parent / "kernels"
BUILD = ROOT / "build"
SONAME = "libcuda.so.1"
INCLUDES = [f"-I{ROOT}", f"-I{ROOT / 'dali_core' / 'include'}"]
COMMON = ["-std=c++17", "-fPIC", "-pthread", "-fvisibility=hidden"]
# As on the device: no contraction. More optimisation takes longer than all that it speeds up.
FOR_KERNELS = ["-O1", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w"]
FOR_DRIVER = ["-O1", "-Wall", "-Wextra", "-Werror"]
# With AddressSanitizer, optimising takes longer than it saves, and removes what is to be seen.
SANITIZE = ["-fsanitize=address", "-g1", "-fno-omit-frame-pointer", "-O0"]


def compiler() -> list[str]:
    """Return the command of the C++ compiler."""
    return shlex.split(os.environ.get("CXX", "g++"))


def headers() -> Path | None:
    """Return the folder with ``cuda.h``, if its package is installed."""
    for package in ("nvidia.cuda_runtime", "nvidia.cu13"):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for location in found.submodule_search_locations or () if found else ():
            if Path(location, "include", "cuda.h").exists():
                return Path(location, "include")
    return None


@functools.cache
def sanitizer_runtime() -> str:
    """Return the library to preload in programs without AddressSanitizer; empty if missing."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text("int probe() { return 1; }\n")
        command = [*compiler(), "-shared", "-fPIC", "-fsanitize=address", str(source)]
        command += ["-o", str(Path(folder, "probe.so"))]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return ""
    # The sanitizer looks up functions that throw before they are loaded.
    return " ".join(_library("libasan.so") + _library("libstdc++.so"))


def _library(name: str) -> list[str]:
    query = [*compiler(), f"-print-file-name={name}"]
    found = Path(subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip())
    return [str(found.resolve())] if found.is_absolute() else []


def missing(*, sanitize: bool = False) -> str:
    """Return the missing requirements of a build; empty if there are none."""
    if sys.platform != "linux":
        return "not available: Linux, whose driver is simulated"
    for program in (compiler()[0], "objcopy"):
        if shutil.which(program) is None:
            return f"not available: {program}, to compile for the host"
    if headers() is None:
        return "not available: cuda.h (package nvidia-cuda-runtime-cu12)"
    if sanitize and not sanitizer_runtime():
        return "not available: the runtime of AddressSanitizer"
    return ""


@functools.cache
def build_once(*, sanitize: bool = False, kernels: tuple[Path, ...] = ()) -> Path:
    """Like :func:`build`, but check for changes only once in this process."""
    return build(sanitize=sanitize, kernels=kernels)


def build(
    *, sanitize: bool = False, kernels: Iterable[Path] = (), into: Path | None = None
) -> Path:
    """Compile changed sources.

    Parameters
    ----------
    sanitize : bool
        Whether to build with AddressSanitizer.
    kernels : paths
        Folders with further ``.cu`` files.
    into : path, optional
        Where to put the driver with further kernels. By default, a separate folder next to that of
        the driver without them.

    Returns
    -------
    path
        The folder of ``libcuda.so.1``.
    """
    common = BUILD / ("simulated_driver-asan" if sanitize else "simulated_driver")
    further = sorted(path.resolve() for path in kernels)
    apart = BUILD / f"{common.name}-{_digest(repr(further))}"
    folder = (into or apart) if further else common
    for path in (common, folder):
        path.mkdir(parents=True, exist_ok=True)
    with (BUILD / "simulated_driver.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        flags = SANITIZE if sanitize else []
        objects = _compile_all([*KERNELS, TEST_KERNELS], flags, common)
        objects |= _compile_all(further, flags, folder)
        _link(objects | _compile_driver(), flags, folder / SONAME)
    return folder


def _compile_driver() -> set[Path]:
    # The driver's own code is the same with AddressSanitizer, which instruments only kernels.
    include = headers()
    if include is None:
        raise FileNotFoundError("cuda.h is needed (not found). Install nvidia-cuda-runtime-cu12.")
    folder = BUILD / "simulated_driver"
    folder.mkdir(exist_ok=True)
    _write_if_new(folder / "error_names.inc", _error_names((include / "cuda.h").read_text("utf-8")))
    flags = [*COMMON, *FOR_DRIVER, f"-I{HERE}", f"-I{folder}", "-isystem", str(include)]
    return _compile_each(HERE.glob("*.cpp"), flags, folder)


def _compile_all(kernels: Iterable[Path], sanitize: list[str], folder: Path) -> set[Path]:
    flags = [*COMMON, *FOR_KERNELS, *sanitize, *INCLUDES, f"-I{HERE}"]
    _precompile(flags, folder)
    sources = {path.resolve() for root in kernels for path in root.glob("**/*.cu")}
    return _compile_each(sources, flags, folder)


def _compile_each(sources: Iterable[Path], flags: list[str], folder: Path) -> set[Path]:
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(_compile, source, flags, folder) for source in sources]
        return {job.result() for job in jobs}


def _precompile(flags: list[str], folder: Path) -> None:
    # Compilers that use no such file, or not this one, take the header, which is found by `-I`.
    target = folder / f"{DEVICE}.gch"
    command = [*compiler(), *flags, "-x", "c++-header"]
    if not is_gcc() or _is_current(target, HERE / DEVICE, command):
        return
    unfinished = target.with_suffix(".new")
    outputs = ["-MMD", "-MF", f"{target}.d", "-o", str(unfinished)]
    _run([*command, str(HERE / DEVICE), *outputs])
    unfinished.replace(target)
    _write_if_new(target.with_suffix(".command"), shlex.join(command))


def _link(objects: set[Path], sanitize: list[str], library: Path) -> None:
    inputs = library.with_name("objects")
    made = library.stat().st_mtime_ns if library.exists() else 0
    if not _write_if_new(inputs, "\n".join(f'"{path}"' for path in sorted(objects))) and all(
        target.stat().st_mtime_ns <= made for target in objects
    ):
        return
    # Running processes keep their file.
    unfinished = library.with_suffix(".new")
    link = [*compiler(), "-shared", "-pthread", f"-Wl,-soname,{SONAME}", *sanitize]
    _run([*link, f"@{inputs}", "-o", str(unfinished)])
    unfinished.replace(library)


def _compile(source: Path, flags: list[str], folder: Path) -> Path:
    """Compile a file of the driver or of kernels unless that is done; return the object file."""
    target = folder / f"{source.name}-{_digest(str(source))}.o"
    command = [*compiler(), *flags]
    if _is_current(target, source, command):
        return target
    text, inputs = source, ["-iquote", str(source.parent)]
    if source.suffix == ".cu":
        text = _for_host(source, [*command, *inputs], folder)
        inputs += ["-iquote", str(folder), "-include", DEVICE]
    unfinished = target.with_suffix(".new.o")
    outputs = ["-MMD", "-MF", f"{target}.d", "-o", str(unfinished)]
    _run([*command, *inputs, "-c", str(text), *outputs])
    if source.suffix == ".cu":
        _separate(unfinished)
    unfinished.replace(target)
    _write_if_new(target.with_suffix(".command"), shlex.join(command))
    return target


def _separate(compiled: Path) -> None:
    """Make a file's functions local, since others may have the same names, as in modules."""
    joined = compiled.with_suffix(".joined")
    options = ["-r", "-nostdlib", "-Wl,--force-group-allocation"]
    _run([*compiler(), *options, str(compiled), "-o", str(joined)])
    _run(["objcopy", "--localize-hidden", str(joined), str(compiled)])
    joined.unlink()


def _for_host(source: Path, command: list[str], folder: Path) -> Path:
    """Write the C++ source for a file of kernels, and return its path."""
    text = for_host(source.read_text("utf-8"))
    target = folder / f"{source.stem}-{_digest(str(source))}.cpp"
    body = f'#line 1 "{source}"\n{text}\n'
    target.write_text(body)
    kernels = find_kernels(_without_system_headers(_run([*command, "-E", str(target)])))
    target.write_text(body + "".join(f"{kernel.registration}\n" for kernel in kernels))
    return target


def _without_system_headers(preprocessed: str) -> str:
    parts = re.split(r'^(# \d+ "[^"\n]*".*)$', preprocessed, flags=re.MULTILINE)
    # The flag 3 in the line before a part is for system headers.
    return parts[0] + "".join(
        part
        for line, part in zip(parts[1::2], parts[2::2], strict=True)
        if "3" not in line.rpartition('"')[2].split()
    )


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")
    return done.stdout


def _error_names(header: str) -> str:
    names = re.findall(r"^\s*(CUDA_(?:SUCCESS|ERROR_\w+))\s*=", header, re.MULTILINE)
    return "".join(f"SIMULATED_ERROR({name})\n" for name in names)


def _is_current(target: Path, source: Path, command: list[str]) -> bool:
    command_file = target.with_suffix(".command")
    dependencies = Path(f"{target}.d")
    if not (target.exists() and command_file.exists() and dependencies.exists()):
        return False
    if command_file.read_text() != shlex.join(command):
        return False
    text = dependencies.read_text().replace("\\\n", " ").partition(": ")[2]
    paths = [source, *map(Path, shlex.split(text))]
    if source.suffix == ".cu":
        paths += (HERE / "build.py", HERE / "kernel_source.py")
        # It stands for its headers, which the compiler does not list then.
        paths += target.parent.glob(f"{DEVICE}.gch")
    made = target.stat().st_mtime_ns
    return all(path.exists() and path.stat().st_mtime_ns <= made for path in paths)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _write_if_new(path: Path, text: str) -> bool:
    if path.exists() and path.read_text() == text:
        return False
    path.write_text(text)
    return True


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sanitize", action="store_true", help="with AddressSanitizer")
    parser.add_argument("kernels", nargs="*", type=Path, help="folders with further .cu files")
    arguments = parser.parse_args()
    if lacks := missing(sanitize=arguments.sanitize):
        raise SystemExit(lacks)
    print(build(sanitize=arguments.sanitize, kernels=arguments.kernels) / SONAME)


if __name__ == "__main__":
    main()
