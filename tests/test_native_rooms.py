"""Dependencies in C++ and CUDA: by what is included, and by what objects are linked for."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dali_core"
OBJECTS = ROOT / "build" / "objects"
UNITS = ROOT / "build" / "units"
NATIVE = (".cpp", ".hpp", ".h", ".cu", ".pyx", ".pxd")
SOURCES = sorted(path for path in PACKAGE.rglob("*") if path.suffix in NATIVE)
# Include paths, after the folder of the including file.
FOLDERS = (ROOT, PACKAGE / "include", PACKAGE / "_runtime" / "engine", PACKAGE / "_cuda")

# Allowed dependencies of each folder. Each operator is a folder of its own.
KNOWN = {
    "include": set(),
    "kernels": {"include"},
    "native_io": {"include", "kernels"},
    "operators": {"include", "kernels", "native_io"},
    "_runtime/engine": {"include", "kernels", "native_io"},
    "_runtime/fusion": {"include", "kernels", "native_io", "_runtime/engine"},
    "_runtime": {"include", "kernels", "native_io", "_runtime/engine", "_runtime/fusion"},
    "_cuda": {"include", "kernels", "_runtime", "_runtime/engine", "_runtime/fusion"},
}


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    if parts[0] == "operators":
        return "/".join(parts[:-1])
    return "/".join(parts[:2]) if "/".join(parts[:2]) in KNOWN else parts[0]


def _may_know(user: Path, used: Path) -> bool:
    own, other = _room(user), _room(used)
    known = KNOWN[own.partition("/")[0] if own.startswith("operators") else own]
    return other == own or other in known


def _included(path: Path) -> Iterator[Path]:
    """Find the files of the library that a file includes or cimports."""
    text = path.read_text("utf-8")
    if path.suffix in (".pyx", ".pxd"):
        modules = re.findall(r"^\s*from (dali_core\S*) cimport (\w+)", text, re.MULTILINE)
        for module, name in modules:
            for dotted in (module, f"{module}.{name}"):
                declared = ROOT.joinpath(*dotted.split(".")).with_suffix(".pxd")
                if declared.exists():
                    yield declared
    pattern = r'^\s*#\s*(?:include|define \w+_SOURCE) "(.+?)"|cdef extern from "(.+?)"'
    for groups in re.findall(pattern, text, re.MULTILINE):
        name = "".join(groups)
        found = [folder / name for folder in (path.parent, *FOLDERS) if (folder / name).exists()]
        if found:
            yield found[0]


def test_includes_point_one_way() -> None:
    wrong = [
        f"{_name(path)} includes {_name(header)}"
        for path in SOURCES
        for header in _included(path)
        if not _may_know(path, header)
    ]
    assert wrong == []


def test_families_of_kernels_depend_on_each_other_one_way() -> None:
    users: dict[str, set[str]] = {}
    for path in SOURCES:
        if _room(path) in ("kernels", "native_io"):
            rooms = {_name(header.parent) for header in _included(path)} - {_name(path.parent)}
            users.setdefault(_name(path.parent), set()).update(rooms)
    # Raises an error that names a circle.
    order = list(TopologicalSorter(users).static_order())
    assert set(users) <= set(order)


def test_operators_are_one_source_each() -> None:
    native: dict[str, list[str]] = {}
    for path in SOURCES:
        folder = _name(path.parent)
        # The program that decodes videos is no operator.
        if folder.startswith("operators/") and path.parent.name != "native_worker":
            native.setdefault(folder, []).append(path.name)
    assert [files for files in native.values() if len(files) != 1 or ".cpp" not in files[0]] == []


def _compiled_in(target: Path) -> list[Path]:
    """Return the sources of an object: one, or those of a unit."""
    source = ROOT.joinpath(*target.relative_to(OBJECTS).parts[1:]).with_suffix(".cpp")
    if not source.is_relative_to(UNITS):
        return [source]
    text = source.read_text("utf-8") if source.exists() else ""
    return [ROOT / name for name in re.findall(r'#include "(.+)"', text)]


def _objects() -> dict[Path, list[Path]]:
    """Find what was compiled to which object, the last one if there are several of a source."""
    built: dict[Path, Path] = {}
    for target in sorted(OBJECTS.rglob("*.o"), key=lambda path: path.stat().st_mtime_ns):
        built |= dict.fromkeys(_compiled_in(target), target)
    sources = [path for path in SOURCES if path.suffix == ".cpp"]
    missing = [_name(path) for path in sources if path not in built]
    # The program that decodes videos is not built everywhere.
    missing = [name for name in missing if "native_worker" not in name]
    assert missing == [], "install the library in place: pip install --no-build-isolation -e ."
    found: dict[Path, list[Path]] = {}
    for source in sources:
        if source in built:
            found.setdefault(built[source], []).append(source)
    return found


def _symbols(objects: list[Path], *options: str) -> dict[Path, set[str]]:
    command = ["nm", "--print-file-name", *options, *map(str, objects)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[Path, set[str]] = {}
    for line in printed.splitlines():
        file, _, rest = line.partition(":")
        kind, symbol = rest.split(maxsplit=2)[-2:]
        # Weak definitions are of headers: everyone has one.
        if kind in "TDBRU":
            found.setdefault(Path(file), set()).add(symbol)
    return found


def test_objects_are_linked_one_way() -> None:
    sources = _objects()
    targets = list(sources)
    assert len(targets) < sum(map(len, sources.values())), "operators are compiled several at once"
    definer = {
        symbol: target
        for target, symbols in _symbols(targets, "--defined-only", "--extern-only").items()
        for symbol in symbols
    }
    used = _symbols(targets, "--undefined-only")
    assert len(definer) > 500
    assert sum(map(len, used.values())) > 4000
    wrong = {
        f"{_name(user)} needs {symbol} of {_name(other)}"
        for target, symbols in used.items()
        for symbol in symbols
        if symbol in definer and definer[symbol] != target
        for user in sources[target]
        for other in sources[definer[symbol]]
        if not _may_know(user, other)
    }
    assert wrong == set()
