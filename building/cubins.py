"""Compiles device code at build time, with compilers from the package index.

``python -m building.cubins SOURCE FOLDER`` compiles one ``.cu`` file: to PTX, from which a cubin
for each architecture is assembled, and drivers will make one for those to come. All are compressed,
since they are most of the library: a process reads a few of them.
``python -m building.cubins --list FOLDER`` writes the list of kernels. Neither a toolkit, a driver
nor a host compiler is needed.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
from pathlib import Path

from building.cuda_compilers import Compilers, CubinError, find_compilers

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
    """List all headers that a source includes, directly or not; NVRTC does not report them."""
    found: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        current = waiting.pop()
        for quote, name in _INCLUDE.findall(current.read_text(encoding="utf-8")):
            folders = [root / folder for folder in HEADERS]
            if quote == '"':
                folders.insert(0, current.parent)
            header = next((folder / name for folder in folders if (folder / name).is_file()), None)
            # Headers that are not found are built into NVRTC, or it reports them as missing.
            if header and header not in found:
                found[header] = None
                waiting.append(header)
    return sorted(found)


def outputs(stem: str) -> list[str]:
    """Name the files that a source is compiled to."""
    return [*(f"{stem}.sm_{number}.cubin.gz" for number in ARCHITECTURES), f"{stem}.ptx.gz"]


def compile_module(root: Path, source: Path, compilers: Compilers, folder: Path) -> None:
    """Write the PTX and the cubins of one source into a folder."""
    name = str(source.relative_to(root))
    options = [f"--gpu-architecture=compute_{PTX_ARCHITECTURE}", *OPTIONS]
    options += [f"--include-path={root / path}" for path in HEADERS]
    options.append(f"--include-path={source.parent}")
    with tempfile.TemporaryDirectory() as place:
        ptx = Path(place, f"{source.stem}.ptx")
        ptx.write_bytes(compilers.compile(name, source.read_bytes(), options))
        cubins = [ptx.with_name(f"{ptx.stem}.sm_{number}.cubin") for number in ARCHITECTURES]
        for architecture, cubin in zip(ARCHITECTURES, cubins, strict=True):
            compilers.assemble(ptx, architecture, cubin)
        for file in (ptx, *cubins):
            # The same input makes the same bytes.
            compressed = gzip.compress(file.read_bytes(), 6, mtime=0)
            (folder / f"{file.name}.gz").write_bytes(compressed)


def list_kernels(folder: Path) -> dict[str, str]:
    """Return the stem of the module that has a kernel, by the kernel's name."""
    kernels: dict[str, str] = {}
    for file in sorted(folder.glob("*.ptx.gz")):
        stem = _stem_of(file)
        names = _KERNEL.findall(gzip.decompress(file.read_bytes()).decode("ascii"))
        if not names:
            raise CubinError(f'{stem}.cu: there must be a kernel, extern "C" __global__.')
        for name in names:
            if name.startswith("_Z"):
                raise CubinError(f'{stem}.cu: kernels must be extern "C" (got {name}).')
            other = kernels.setdefault(name, stem)
            if other != stem:
                raise CubinError(f"{stem}.cu: {name} is the name of a kernel in {other}.cu, too.")
    return kernels


def _stem_of(ptx: Path) -> str:
    return ptx.name.removesuffix(".ptx.gz")


def main(arguments: list[str]) -> int:
    """Run from the command line; the current folder is the project's."""
    try:
        if arguments[0] == "--list":
            folder = Path(arguments[1])
            stems = {source.stem for source in find_sources(Path.cwd())}
            for table in folder.glob("*.ptx.gz"):
                if _stem_of(table) not in stems:  # of a source that has another name now
                    table.unlink()
            text = json.dumps(list_kernels(folder), indent=1, sort_keys=True)
            (folder / KERNELS).write_text(f"{text}\n", encoding="utf-8")
            return 0
        root, source, folder = Path.cwd(), Path.cwd() / arguments[0], Path(arguments[1])
        compilers = find_compilers()
        if compilers is None:
            raise CubinError(f"{arguments[0]}: device code needs NVRTC and ptxas.")
        compile_module(root, source, compilers, folder)
        made = " ".join(str(folder / name) for name in outputs(source.stem))
        read = " ".join(str(path.relative_to(root)) for path in find_headers(root, source))
        (folder / f"{source.stem}.d").write_text(f"{made}: {read}\n", encoding="utf-8")
    except CubinError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
