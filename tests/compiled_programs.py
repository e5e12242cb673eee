"""Compiles programs that tests run, in ``build/test_programs``.

Ninja compiles a source once for each set of flags, for all programs, and again only if it has
changed. A lock serializes processes, since each compiles on all processors.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "dali_core"
KERNELS = CORE / "kernels"
NATIVE_IO = CORE / "native_io"
ENGINE = CORE / "_runtime" / "engine"
# One source, or several that are compiled at once.
Source = Path | tuple[Path, ...]
# What most programs are linked with.
VOCABULARY: tuple[Source, ...] = (tuple(sorted((CORE / "include").glob("**/*.cpp"))),)
WHOLE_ENGINE: tuple[Source, ...] = (*VOCABULARY, tuple(sorted(ENGINE.glob("*.cpp"))))
INCLUDES = [f"-I{path}" for path in (ROOT, CORE / "include", ENGINE, ROOT / "tests" / "engine")]
BUILD = ROOT / "build" / "test_programs"
# Most sources of the library begin with these headers.
PRECOMPILED = ENGINE / "precompiled.hpp"
SANITIZERS = "address,undefined"
# Not part of "undefined".
OVERFLOW = ",float-cast-overflow"


def compiler() -> list[str]:
    """Return the command of the C++ compiler."""
    return shlex.split(os.environ.get("CXX", "g++"))


@functools.cache
def can_compile(*flags: str) -> bool:
    """Whether a program can be compiled and linked with some flags."""
    if shutil.which(compiler()[0]) is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text("int main() {}\n")
        command = [*compiler(), *flags, str(source), "-o", str(Path(folder, "probe"))]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def require_compiler(*flags: str) -> None:
    """Skip the test if no program can be compiled with some flags."""
    import pytest

    if not can_compile(*flags):
        with_flags = f" with {' '.join(flags)}" if flags else ""
        pytest.skip(f"not available: a C++ compiler{with_flags}")


def operator_flags(*, sanitize: bool) -> list[str]:
    """Return the flags for operators: as in the library, without optimisation, with sanitizers."""
    flags = ["-std=c++17", "-g1", "-Wall", "-Wextra", "-Werror", "-pthread", "-ffp-contract=off"]
    flags += ["-fno-omit-frame-pointer", *INCLUDES]
    # Optimising code instrumented by UBSan takes longer than all tests.
    flags.append("-O0" if sanitize else "-O1")
    if sanitize:
        flags += [f"-fsanitize={SANITIZERS}{OVERFLOW}", "-fno-sanitize-recover=all"]
    return flags


def build_program(name: str, sources: Iterable[Source], flags: Sequence[str]) -> Path:
    """Compile and link the changed parts of a program whose sources have the same flags."""
    return link_program(name, dict.fromkeys(sources, flags), flags)


def link_program(
    name: str, flags_of: Mapping[Source, Sequence[str]], link_flags: Sequence[str]
) -> Path:
    """Compile and link the changed parts of a program.

    Parameters
    ----------
    name : str
        Name of its file.
    flags_of : mapping
        Compiler flags of each source.
    link_flags : sequence of str
        Flags of linking.

    Returns
    -------
    path
        The program.
    """
    # A package that is only installed for builds.
    import ninja
    from ninja.ninja_syntax import Writer

    from building.toolchain import is_gcc
    from building.units import write_unit

    command = shlex.join(compiler())
    text = io.StringIO()
    writer = Writer(text, width=1_000_000)
    writer.variable("builddir", str(BUILD))
    writer.rule(
        "compile",
        f"{command} $flags -c $in -o $out -MMD -MF $out.d",
        description="C++ $in",
        deps="gcc",
        depfile="$out.d",
    )
    writer.rule(
        "precompile",
        f"{command} $flags -x c++-header $in -o $out -MMD -MF $out.d",
        description="headers $in",
        deps="gcc",
        depfile="$out.d",
    )
    writer.rule("link", f"{command} $in -o $out $flags", description="link $out")
    objects = []
    precompiled = set()
    num_sources = Counter(
        shlex.join(flags) for given, flags in flags_of.items() if isinstance(given, Path)
    )
    for given, flags in flags_of.items():
        joined = shlex.join(flags)
        if isinstance(given, tuple):
            source = BUILD / "units" / f"{given[0].stem}_{_name_of(*map(str, given))}.cpp"
            write_unit(source, given)
        else:
            source = given
        header = BUILD / _name_of(command, joined) / PRECOMPILED.name
        target = f"{header}.gch"
        # A unit reads headers once, and all programs share what it is compiled to.
        uses_header = is_gcc() and given == source and source.is_relative_to(ROOT)
        uses_header = uses_header and num_sources[joined] > 3
        if uses_header and target not in precompiled:
            precompiled.add(target)
            writer.build(target, "precompile", str(PRECOMPILED), variables={"flags": joined})
        compiling = f"{joined} -include {shlex.quote(str(header))}" if uses_header else joined
        place = BUILD / _name_of(command, compiling, str(source.parent))
        objects.append(str(place / f"{source.stem}.o"))
        writer.build(
            objects[-1],
            "compile",
            str(source),
            implicit=target if uses_header else None,
            variables={"flags": compiling},
        )
    linking = shlex.join(link_flags)
    program = BUILD / f"{name}-{_name_of(command, linking, *sorted(objects))}"
    writer.build(str(program), "link", objects, variables={"flags": linking})
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = program.with_suffix(".ninja")
        file.write_text(text.getvalue())
        build = [str(Path(ninja.BIN_DIR, "ninja")), "-f", str(file)]
        build += ["-j", str(len(os.sched_getaffinity(0)))]
        done = subprocess.run(
            build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    sys.stdout.write(done.stdout)
    if done.returncode != 0:
        raise AssertionError(f"{name} must compile:\n{done.stdout[-8000:]}")
    return program


def _name_of(*parts: str) -> str:
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:12]
